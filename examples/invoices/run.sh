#!/bin/sh
# Invoices with serial numbers: sh run.sh
#
# Needs on the PATH: idgen, and a python3 that has the package idgen. DATABASE and STORE: another database than SQLite
# files (invoices.py says how to write them). Works in ./invoices.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ -e invoices ] && [ ! -e invoices/made-by-run.sh ]; then
  echo "./invoices is in the way, and not of this script" >&2
  exit 1
fi
rm -rf invoices && mkdir invoices && cd invoices && touch made-by-run.sh
cp "$here/invoices.toml" .
store=${STORE:+--store $STORE}

say() { printf '\n== %s\n' "$*"; }

say "A tag for each series. The old program wrote 416 invoices this year: ours go on above"
year=$(date +%Y)
old=$(idgen convert --serial --from 'INV-{yyyy}-{000000}' --to 'INV-{yyyy}-{000000}-{check}' "INV-$year-000416")
for name in invoices orders; do
  # shellcheck disable=SC2086  # several words
  idgen segment create --config invoices.toml --name $name $store
done
# shellcheck disable=SC2086
idgen segment advance --config invoices.toml --name invoices $store --above "$old"

say "Four processes write 400 invoices"
python3 "$here/invoices.py" bill 400 4
python3 "$here/invoices.py" check

say "A customer reads a number out"
number=$(idgen convert --serial --from 'INV-{yyyy}-{000000}' --to 'INV-{yyyy}-{000000}-{check}' "INV-$year-000420")
python3 "$here/invoices.py" find "$number"

say "and slips"
if python3 "$here/invoices.py" find "$(echo "$number" | tr 23 32)"; then exit 1; fi
