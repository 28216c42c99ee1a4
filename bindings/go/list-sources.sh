#!/bin/sh
# Writes go/core_*.cc: one unit for each folder of the core, which includes the folder's sources. One unit for all would
# mix the names in unnamed namespaces of different folders. Run by go generate; a test fails if a source is missing.
set -eu
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
  } >"go/core_$name.cc"
}

rm -f go/core_*.cc
unit top "What lies above the rooms of the core." core/src/*.cpp
for room in core/src/*/; do
  room=$(basename "$room")
  unit "$room" "The room core/src/$room." core/src/"$room"/*.cpp
done
unit capi "The C border." capi/src/*.cpp
