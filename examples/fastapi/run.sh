#!/bin/sh
# The shop on real servers: sh run.sh
#
# Needs on the PATH: PostgreSQL's and Redis's programs (Debian: postgresql, redis-server), and a python3 that has idgen
# and what requirements.txt names. Starts all of it on free ports, in a temporary folder. Eight clients place 300
# orders, and tasks each of them again. Then it looks at the rows, and stops what it started. Leaves its logs in ./shop.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
orders=300
if [ -e shop ] && [ ! -e shop/made-by-run.sh ]; then
  echo "./shop is in the way, and not of this script" >&2
  exit 1
fi
rm -rf shop && mkdir -m 755 shop && touch shop/made-by-run.sh
logs=$PWD/shop
data=$(mktemp -d)
chmod 755 "$data"
started=""
stop() {
  for process in $started; do kill "$process" 2>/dev/null || true; done
  for process in $started; do wait "$process" 2>/dev/null || true; done
  rm -rf "$data"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

say() { printf '\n== %s\n' "$*"; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Waits until a command succeeds: until NAME COMMAND...
until_ready() {
  name=$1
  shift
  for _ in $(seq 300); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  echo "$name did not start:" >&2
  cat "$logs/$name.log" >&2
  return 1
}

# PostgreSQL refuses to run as root.
if [ "$(id -u)" = 0 ]; then
  as_user="setpriv --reuid=nobody --regid=nogroup --clear-groups"
else
  as_user=""
fi

say "PostgreSQL and Redis"
programs=$(find /usr/lib/postgresql -name initdb -printf '%h\n' | sort -V | tail -n 1)
database_port=$(free_port)
broker_port=$(free_port)
mkdir "$data/postgres"
[ -z "$as_user" ] || chown nobody:nogroup "$data/postgres"
(umask 077 && head -c 18 /dev/urandom | base64 >"$data/password")
# shellcheck disable=SC2086  # several words
(cd / && $as_user "$programs/initdb" --pgdata="$data/postgres/data" --username=shop --auth-host=scram-sha-256 \
  --auth-local=trust --no-sync) >"$logs/postgres.log" 2>&1
# shellcheck disable=SC2086
(cd / && exec $as_user "$programs/postgres" -D "$data/postgres/data" -p "$database_port" -h 127.0.0.1 \
  -k "$data/postgres") >>"$logs/postgres.log" 2>&1 &
started="$started $!"
redis-server --port "$broker_port" --bind 127.0.0.1 --dir "$data" --save '' >"$logs/redis.log" 2>&1 &
started="$started $!"
until_ready postgres psql -h "$data/postgres" -p "$database_port" -U shop -d postgres -c 'SELECT 1'
until_ready redis redis-cli -p "$broker_port" ping
sql() { psql -h "$data/postgres" -p "$database_port" -U shop -d shop -qAt -c "$1"; }
psql -h "$data/postgres" -p "$database_port" -U shop -d postgres -q -c "CREATE DATABASE shop"
printf "ALTER USER shop PASSWORD '%s'\n" "$(cat "$data/password")" | # not in an argument, which all users can read
  psql -h "$data/postgres" -p "$database_port" -U shop -d shop -q -v ON_ERROR_STOP=1

# What compose.yaml sets, with these ports.
export DATABASE="postgresql+psycopg://shop@127.0.0.1:$database_port/shop"
export PASSWORD_FILE="$data/password"
export BROKER="redis://127.0.0.1:$broker_port"
export IDGEN_ORDERS_STORE="postgres://shop@127.0.0.1:$database_port/shop?password_file=$data/password"
export IDGEN_EVENTS_STORE="$IDGEN_ORDERS_STORE"

say "The tables, and the counter of the orders"
cd "$here"
export PYTHONDONTWRITEBYTECODE=1
python3 create.py

say "Two web processes, two for tasks"
port=$(free_port)
python3 -m gunicorn --bind "127.0.0.1:$port" app:app >"$logs/web.log" 2>&1 &
started="$! $started"
C_FORCE_ROOT=1 python3 -m celery --app=tasks worker --concurrency=2 --without-gossip --without-mingle \
  >"$logs/tasks.log" 2>&1 &
started="$! $started"
until_ready web python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/health')"

say "$orders orders from 8 clients, and again by tasks"
seq "$orders" | xargs -P 8 -n 25 python3 -c '
import sys, urllib.request
for number in sys.argv[2:]:
    url = f"http://127.0.0.1:{sys.argv[1]}/orders/{number}?again=true"
    urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=30).read()
' "$port"
for _ in $(seq 300); do
  [ "$(sql 'SELECT count(*) FROM orders')" = $((2 * orders)) ] && break
  sleep 0.1
done
sql "SELECT count(*) || ' orders, ' || count(DISTINCT id) || ' ids, from ' || min(id) || ' to ' || max(id) FROM orders"
sql "SELECT count(*) || ' events, ' || count(DISTINCT id) || ' ids' FROM events"
[ "$(sql 'SELECT count(*) FROM orders')" = $((2 * orders)) ]
