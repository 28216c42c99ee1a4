# Every script here begins with `source scripts/lib.sh` (or ../../scripts/lib.sh). Not a program.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Tools that setup put into the virtual environment (Python's, and Go if the machine had none new enough) come first.
export PATH="$root/build/venv/bin:$PATH"
jobs=$(nproc)
cd "$root"
# The wheel is compiled from the same sources as the library, with the same flags and from the same units (cmake/
# units.cmake), so compiled objects are reused from here. Precompiled headers are identified by what they were made
# from, as ccache's manual requires.
export CCACHE_DIR=$root/build/ccache CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
export CC=${CC:-cc} CXX=${CXX:-c++}
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
# Go's build cache does not look outside go/: without this it would miss a change in core/. It knows only packages with
# C++ files by the flags of C++, so a Go package that is built against libidgen needs the hash of the headers too.
export CGO_CXXFLAGS="-O2 -DIDGEN_SRC_HASH=$(bindings/go/source-hash.sh)"
export CGO_CPPFLAGS="-DIDGEN_HEADERS_HASH=$(bindings/go/source-hash.sh capi/include bindings/go)"

# One line per checked fact; scripts/test counts these lines.
ok() { printf 'ok - %s\n' "$*"; }
fail() {
  printf 'not ok - %s\n' "$*" >&2
  exit 1
}

trap 'trap - EXIT; printf "\nInterrupted. What is finished is kept: run the same command to go on.\n" >&2; exit 130' INT

# quietly NAME COMMAND...: the output goes to build/log/NAME.log; its end is shown if the command fails.
quietly() {
  local log=$root/build/log/$1.log start=$SECONDS status=0
  shift
  mkdir -p "${log%/*}"
  printf '  %s ... ' "$*"
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" = 0 ]; then
    printf '%d s\n' $((SECONDS - start))
    return
  fi
  printf 'failed (exit status %d). The end of %s:\n' "$status" "${log#"$root"/}"
  tail -n 40 "$log"
  return "$status"
}

# at_least WANTED FOUND: true if the dotted version FOUND is not older.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }
