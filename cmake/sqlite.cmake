# ${idgen_sqlite}: SQLite, of the system, or compiled in. Then no symbol of it is visible, and it meets no other SQLite
# of the process.
if(NOT IDGEN_SQLITE_SOURCE)
  find_package(SQLite3 3.35 REQUIRED)
  set(idgen_sqlite SQLite::SQLite3)
  return()
endif()

# The Go module that carries the amalgamation calls its two files sqlite3-binding.
string(REGEX REPLACE "\\.c$" ".h" header ${IDGEN_SQLITE_SOURCE})
configure_file(${header} ${PROJECT_BINARY_DIR}/sqlite/sqlite3.h COPYONLY)
add_library(idgen_sqlite_objects OBJECT ${IDGEN_SQLITE_SOURCE})
target_compile_options(idgen_sqlite_objects PRIVATE -w $<$<CONFIG:Release>:-Os>)
# What idgen does not use is left out, as SQLite's manual recommends ("Recommended Compile-time Options").
target_compile_definitions(idgen_sqlite_objects PRIVATE SQLITE_THREADSAFE=1 SQLITE_DEFAULT_MEMSTATUS=0
  SQLITE_OMIT_LOAD_EXTENSION SQLITE_OMIT_DEPRECATED SQLITE_OMIT_SHARED_CACHE SQLITE_OMIT_PROGRESS_CALLBACK
  SQLITE_DQS=0 SQLITE_LIKE_DOESNT_MATCH_BLOBS)
set(idgen_sqlite $<BUILD_INTERFACE:idgen_sqlite_inside>)  # the archive has the objects too
add_library(idgen_sqlite_inside INTERFACE)
target_include_directories(idgen_sqlite_inside INTERFACE ${PROJECT_BINARY_DIR}/sqlite)
target_sources(idgen_sqlite_inside INTERFACE $<TARGET_OBJECTS:idgen_sqlite_objects>)
