//go:build cgo && !idgen_system

// All of core/src/text.
#include "../core/src/text/concat.cpp"
#include "../core/src/text/digits.cpp"
#include "../core/src/text/id_text.cpp"
#include "../core/src/text/nearest.cpp"
#include "../core/src/text/pattern.cpp"
#include "../core/src/text/pattern_write.cpp"
#include "../core/src/text/status.cpp"
#include "../core/src/text/time_text.cpp"
#include "../core/src/text/url.cpp"
#include "../core/src/text/url_forms.cpp"
#include "../core/src/text/utf8.cpp"
