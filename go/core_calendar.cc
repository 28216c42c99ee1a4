//go:build cgo && !idgen_system

// All of core/src/calendar.
#include "../core/src/calendar/calendar.cpp"
#include "../core/src/calendar/text_form.cpp"
#include "../core/src/calendar/zone.cpp"
