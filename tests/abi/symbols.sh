# For checks of shared libraries, after scripts/lib.sh. Not a program.

# unversioned FILE [REGEX]: the symbols that FILE takes from other libraries without a version, but those that REGEX
# matches. What the C library of an older system lacks is such a symbol: it fails when FILE is loaded, not when it is
# linked. A weak one may be missing.
unversioned() {
  nm -D --undefined-only "$1" >"$out/wanted"
  [ -s "$out/wanted" ] || fail "nm names what $1 takes from other libraries"
  awk '$1 != "w" { print $NF }' "$out/wanted" | grep -vE "@|^(${2:-})\$" || true
}
