#!/bin/sh
# Prints a checksum of all C and C++ that the Go package is compiled from. Go's build cache does not look outside the
# package's own folder, so it would miss a change in core/. It does not miss a change of this flag:
#
#     CGO_CXXFLAGS="-g -O2 -DIDGEN_SRC_HASH=$(bindings/go/source-hash.sh)" go build ./...
set -eu
cd "$(dirname "$0")/../.."
find core capi bindings/go -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print |
  LC_ALL=C sort |
  while IFS= read -r file; do printf '%s\n' "$file"; cat "$file"; done | cksum | cut -d ' ' -f 1
