#!/bin/sh
# A shard is split while customers order, add books to their orders and look them up: sh run.sh
#
# Needs on the PATH: idgen, and a python3 that has the package idgen. With CLASSPATH set to the jars of idgen and of a
# JDBC driver, a server in Java runs beside the one in Python; a jar has no module for hidden ids, so name an installed
# library: JAVA_OPTS=-Didgen.native.path=/usr/local/lib/libidgen.so. SHARDS and JDBC_SHARDS: other databases than SQLite
# files (shop.py says how to write them). Leaves what it made in ./shop, the picture of the load in ./shop/load.svg.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
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

# Waits until a program has written this line; prints it.
said() { # FILE TEXT
  for _ in $(seq 600); do
    grep "$2" "$1" && return
    sleep 0.1
  done
  cat "$1" >&2
  return 1
}

customers_come() {
  : >customers.log # what it says is from the customers who come now
  # shellcheck disable=SC2086  # several words
  python3 "$here/customers.py" load $ports >customers.log 2>&1 &
  customers=$!
  started="$started $customers"
  said customers.log "the customers are here"
}

customers_leave() {
  kill "$customers"
  wait "$customers" || { cat customers.log; exit 1; }
  tail -n 1 customers.log
}

mover_starts() {
  : >mover.log
  python3 "$here/mover.py" move db1 db2 >mover.log 2>&1 &
  mover=$!
  started="$started $mover"
  said mover.log "moving orders"
}

mover_ends() {
  kill "$mover"
  wait "$mover" || { cat mover.log; exit 1; }
  tail -n 1 mover.log
}

# shellcheck disable=SC2086
all_servers_have_the_table() { python3 "$here/customers.py" wait $ports; }

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
python3 "$here/shop.py" create db0 db1 db2

say "The shop opens"
: >python.log >java.log
python3 "$here/shop.py" serve 0 >python.log 2>&1 &
started="$started $!"
ports=$(said python.log "open at port" | grep -o '[0-9]*$')
if [ -n "${CLASSPATH:-}" ]; then
  # shellcheck disable=SC2086
  java ${JAVA_OPTS:-} "$here/Shop.java" 0 >java.log 2>&1 &
  started="$started $!"
  ports="$ports $(said java.log "open at port" | grep -o '[0-9]*$')"
fi
echo "open at the ports $ports"
customers_come
sleep 5
customers_leave

say "db1 has three quarters of the ring: half of its orders are to move to a new shard"
python3 "$here/customers.py" count >load.csv
idgen shard plan routes.toml --split db1 --into db2 --load load.csv --out split.plan
idgen shard simulate routes.toml split.plan --load load.csv --svg load.svg

say "The cut-over, with customers in the shop; in the middle the mover is killed"
customers_come
mover_starts
idgen shard apply routes.toml split.plan --yes
all_servers_have_the_table
idgen shard cutover routes.toml --step 50% --every 2s --once
all_servers_have_the_table
kill -9 "$mover"
wait "$mover" || echo "the mover was killed, and is started again"
mover_starts
idgen shard cutover routes.toml --step 50% --every 2s
all_servers_have_the_table
mover_ends
customers_leave
python3 "$here/customers.py" check

say "All of it is taken back, with all changes that were made in the new shard"
customers_come
mover_starts
idgen shard cutover routes.toml --step 50% --every 2s --back
all_servers_have_the_table
mover_ends
customers_leave
python3 "$here/customers.py" check

say "And to the end: once no order is left in db1, the nodes belong to db2 alone"
customers_come
mover_starts
idgen shard cutover routes.toml --step 50% --every 2s
all_servers_have_the_table
mover_ends
idgen shard cutover routes.toml --every 2s --finish --yes
all_servers_have_the_table
customers_leave
python3 "$here/mover.py" forget
python3 "$here/customers.py" check
idgen shard show routes.toml
python3 "$here/customers.py" count >/dev/null
