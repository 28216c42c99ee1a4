# The tour that every example makes of its database: sourced by them, with $store set. Needs the idgen command on PATH.
set -eu
tag=example-$$
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

step() { printf '\n== %s\n' "$*"; }
draw() { idgen next --kind segment --store "$store" --tag "$tag" "$@"; }

step 'A tag is a counter in the database. It is made once, by hand: a lost one never silently starts at 1 again'
idgen segment create --store "$store" --tag "$tag"

step 'Five ids. Numbers are reserved first, the reservation is committed, then they are issued'
draw -n 5

step 'What this store protects against, and what not'
cat >"$folder/idgen.toml" <<TOML
[$tag]
kind = 'segment'
store = '$store'
TOML
idgen doctor --config "$folder/idgen.toml"

step 'Two processes at once, 100 000 ids each'
draw -n 100000 >"$folder/a" &
draw -n 100000 >"$folder/b"
wait $!
twice=$(sort "$folder/a" "$folder/b" | uniq -d | wc -l)
echo "$(cat "$folder/a" "$folder/b" | wc -l) ids, $twice issued twice"
[ "$twice" -eq 0 ]

step 'The operator decides how much is reserved at once, without a restart'
idgen segment set-step --store "$store" --tag "$tag" --step 500

step 'Ids already in use are skipped: the counter is raised above them'
idgen segment advance --store "$store" --tag "$tag" --to 100000000
draw -n 1
