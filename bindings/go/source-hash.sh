#!/bin/sh
# source-hash.sh [FOLDER...]: prints a checksum of the C and C++ of these folders, by default of all that the Go package
# is compiled from. Go's build cache does not look outside the package's own folder, so it would miss a change in core/
# or in a header. It does not miss a change of a flag: docs/go.md, "Working on the core itself".
set -eu
cd "$(dirname "$0")/../.."
[ $# != 0 ] || set -- core capi bindings/go
find "$@" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print |
  LC_ALL=C sort |
  while IFS= read -r file; do printf '%s\n' "$file"; cat "$file"; done | cksum | cut -d ' ' -f 1
