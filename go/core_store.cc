//go:build cgo && !idgen_system

// All of core/src/store.
#include "../core/src/store/buffer_store.cpp"
#include "../core/src/store/file_system.cpp"
#include "../core/src/store/host_memory.cpp"
#include "../core/src/store/lock_file.cpp"
#include "../core/src/store/memory_store.cpp"
#include "../core/src/store/module_store.cpp"
#include "../core/src/store/open_store.cpp"
#include "../core/src/store/owner_locks.cpp"
#include "../core/src/store/retire.cpp"
#include "../core/src/store/shared_stores.cpp"
#include "../core/src/store/sqlite_file.cpp"
#include "../core/src/store/sqlite_store.cpp"
#include "../core/src/store/url_parameters.cpp"
