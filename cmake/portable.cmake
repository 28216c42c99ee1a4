# A toolchain for packages: compiles for a C library that is older than this system's, or another one, by zig (PyPI:
# ziglang), which has the headers and stubs of all of them, and LLVM's C++ library, which is linked statically.
#
#     cmake --toolchain cmake/portable.cmake -DIDGEN_TARGET=x86_64-linux-gnu.2.17 ...
#
# IDGEN_TARGET as zig writes it: x86_64 or aarch64, linux-gnu.VERSION or linux-musl. IDGEN_ZIG: the program; without it,
# the one of the Python package.
if(NOT IDGEN_TARGET MATCHES "^(x86_64|aarch64)-linux-(gnu\\.[0-9.]+|musl)$")
  message(FATAL_ERROR "IDGEN_TARGET is '${IDGEN_TARGET}'; it is x86_64 or aarch64, then -linux-gnu.VERSION or "
    "-linux-musl, such as x86_64-linux-gnu.2.17")
endif()
set(idgen_processor ${CMAKE_MATCH_1})
if(NOT IDGEN_ZIG)
  execute_process(COMMAND python3 -c "import ziglang, os; print(os.path.join(os.path.dirname(ziglang.__file__), 'zig'))"
    OUTPUT_VARIABLE IDGEN_ZIG OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT IDGEN_ZIG)
    message(FATAL_ERROR "zig is not here: pip install ziglang, or set IDGEN_ZIG to the program")
  endif()
endif()
# CMake tries the compiler in projects of its own, which read this file too.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES IDGEN_TARGET IDGEN_ZIG)

# CMake wants programs that are one word each.
set(idgen_compilers ${CMAKE_BINARY_DIR}/compilers/${IDGEN_TARGET})
foreach(tool cc c++ ar ranlib objcopy)
  set(wrapper ${idgen_compilers}/zig-${tool})
  set(target)
  if(tool MATCHES "^c")
    set(target " -target ${IDGEN_TARGET}")
  endif()
  if(NOT EXISTS ${wrapper})
    file(WRITE ${wrapper} "#!/bin/sh\nexec '${IDGEN_ZIG}' ${tool}${target} \"$@\"\n")
    file(CHMOD ${wrapper} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
endforeach()

if(IDGEN_TARGET MATCHES musl)
  set(CMAKE_EXE_LINKER_FLAGS_INIT -dynamic)  # a static program could load no module
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${idgen_processor})
set(CMAKE_C_COMPILER ${idgen_compilers}/zig-cc)
set(CMAKE_CXX_COMPILER ${idgen_compilers}/zig-c++)
set(CMAKE_AR ${idgen_compilers}/zig-ar)
set(CMAKE_RANLIB ${idgen_compilers}/zig-ranlib)
set(CMAKE_OBJCOPY ${idgen_compilers}/zig-objcopy)
# zig compiles its C++ library for each set of options that it has not seen.
set(CMAKE_TRY_COMPILE_CONFIGURATION Release)
