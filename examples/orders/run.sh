#!/bin/sh
# A shard is split while customers order and look their orders up: sh run.sh [SECONDS]
#
# Needs on the PATH: idgen, and a python3 that has the package idgen. With CLASSPATH set to the jars of idgen and of a
# JDBC driver, a server in Java runs beside the one in Python; a jar has no module for hidden ids, so name an installed
# library: JAVA_OPTS=-Didgen.native.path=/usr/local/lib/libidgen.so. SHARDS and JDBC_SHARDS: other databases than SQLite
# files (shop.py says how to write them). Leaves what it made in ./shop, the picture of the load in ./shop/load.svg.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-20}
if [ -e shop ] && [ ! -e shop/made-by-run.sh ]; then
  echo "./shop is in the way, and not of this script" >&2
  exit 1
fi
rm -rf shop && mkdir shop && cd shop && touch made-by-run.sh
cp "$here/shop.toml" .
started=""
trap 'kill $started 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM HUP

say() { printf '\n== %s\n' "$*"; }

# The address that a server prints once it is open.
port_of() {
  for _ in $(seq 300); do
    sed -n 's|.*http://127.0.0.1:\([0-9]*\)/.*|\1|p' "$1" | grep . && return
    sleep 0.1
  done
  cat "$1" >&2
  return 1
}

say "Two shards, a tag for the orders, a key for their hidden numbers"
cat >routes.toml <<'END'
version = 1
bits = 16
shards = ["db0", "db1"]

[[range]]
upto = 16383
shard = "db0"

[[range]]
upto = 65535
shard = "db1"
END
idgen segment create --config shop.toml --name orders
idgen key new ids.key
idgen shard show routes.toml

say "The shop opens"
python3 "$here/shop.py" serve 0 >python.log 2>&1 &
started="$started $!"
ports=$(port_of python.log)
if [ -n "${CLASSPATH:-}" ]; then
  # shellcheck disable=SC2086  # several words
  java ${JAVA_OPTS:-} "$here/Shop.java" 0 >java.log 2>&1 &
  started="$started $!"
  ports="$ports $(port_of java.log)"
fi
echo "open at the ports $ports"
# shellcheck disable=SC2086  # several words
python3 "$here/shop.py" load 5 $ports

say "db1 has three quarters of the ring: half of its orders are to move to a new shard"
python3 "$here/shop.py" count >load.csv
idgen shard plan routes.toml --split db1 --into db2 --load load.csv --out split.plan
idgen shard simulate routes.toml split.plan --load load.csv --svg load.svg

say "The split, with customers in the shop; in the middle it is taken back for a while"
# shellcheck disable=SC2086
python3 "$here/shop.py" load "$seconds" $ports >customers.log 2>&1 &
customers=$!
python3 "$here/shop.py" move db1 db2 &
mover=$!
started="$started $customers $mover"
idgen shard apply routes.toml split.plan --yes
sleep 2 # until every process has the new table: each looks once a second
idgen shard cutover routes.toml --step 25% --every 2s --once
idgen shard cutover routes.toml --step 25% --every 2s --once
idgen shard cutover routes.toml --step 25% --every 2s --once --back
idgen shard cutover routes.toml --step 25% --every 2s
sleep 2
wait "$customers" || { cat customers.log; exit 1; }
cat customers.log

say "All rows are copied: the nodes belong to db2 alone"
sleep 2
kill "$mover" && wait "$mover"
idgen shard cutover routes.toml --every 2s --finish --yes
sleep 2
idgen shard show routes.toml
# shellcheck disable=SC2086
python3 "$here/shop.py" load 3 $ports
python3 "$here/shop.py" count >/dev/null
