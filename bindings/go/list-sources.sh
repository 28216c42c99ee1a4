#!/bin/sh
# Writes go/core_*.cc, or FOLDER/core_*.cc: one unit for each folder of the core, which includes the folder's sources.
# One unit for all would mix the names in unnamed namespaces of different folders. Run by go generate.
# list-sources.sh [FOLDER]
set -eu
target=${1:-$(dirname "$0")/../../go}
target=$(cd "$target" && pwd)
cd "$(dirname "$0")/../.."

unit() { # NAME COMMENT SOURCE...
  name=$1 comment=$2
  shift 2
  {
    printf '//go:build cgo && !idgen_system\n\n// %s\n' "$comment"
    for source; do
      case $source in
        core/src/config/toml_file.cpp) ;; # needs toml++; toml_absent.cpp takes its place, and Go reads the file
        *) printf '#include "../%s"\n' "$source" ;;
      esac
    done
  } >"$target/core_$name.cc"
}

rm -f "$target"/core_*.cc
for folder in core/src/*/; do
  folder=$(basename "$folder")
  unit "$folder" "All of core/src/$folder." core/src/"$folder"/*.cpp
done
unit capi "The C border." capi/src/*.cpp
