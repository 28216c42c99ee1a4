//go:build cgo && !idgen_system

// All of core/src/route.
#include "../core/src/route/lookup.cpp"
#include "../core/src/route/map.cpp"
#include "../core/src/route/router.cpp"
#include "../core/src/route/table.cpp"
#include "../core/src/route/table_file.cpp"
#include "../core/src/route/table_reader.cpp"
