# A service under load: what happens in spring/, gorm/ and microhttpd/ alike. Not a program: their run.sh sources it,
# after it has said
#   database=mariadb or postgres   where the service keeps its rows; schema.sql beside run.sh is what is there at first
#   environment HOST PORT          the service's environment, one KEY=VALUE a line, for a database at that address
#   build                          makes the service
#   serve PORT                     becomes the service (exec), with that environment
#
# Two processes of the service run on a real server in a temporary folder, while customers order without a pause. The
# database is killed and started again, each process is stopped and started again. In the end, each order that was
# confirmed must be in the table, and no id may be there twice. All that was started is stopped by its process id.

services=$(cd "$here/../services" && pwd)
if [ "${1:-}" = environment ]; then # run.sh environment HOST PORT: what compose.yaml must say
  environment "$2" "$3"
  exit
fi

exec 3>&2 # for gone, wherever standard error leads to
folder=$(mktemp -d)
server='' first='' second='' customers=''
trap 'stop_all; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP

say() { printf '\n== %s\n' "$*"; }

# gone WHAT: it did not work out, and what the logs say.
gone() {
  tail -n 30 "$folder"/*.log "$folder/failed" >&3 2>/dev/null || true
  printf '\n%s\n' "$1" >&3
  exit 1
}

# Neither gone nor a zombie.
alive() {
  case $(ps -o stat= -p "$1") in
    '' | Z*) return 1 ;;
  esac
}

# until_true WHAT COMMAND...: waits for at most some minutes, however busy the machine is.
until_true() {
  what=$1
  shift
  for _ in $(seq 2400); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  gone "waited in vain: $what"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# ---- The database

unprivileged=''
if [ "$(id -u)" = 0 ]; then # neither server runs as root
  unprivileged="setpriv --reuid=nobody --regid=nogroup --clear-groups"
  chown nobody "$folder"
  chmod 755 "$folder"
fi

# shellcheck disable=SC2086,SC2012  # several words; the folders' names are numbers
make_database() {
  if [ "$database" = mariadb ]; then
    $unprivileged mariadb-install-db --no-defaults --datadir="$folder/data" --tmpdir="$folder" --skip-test-db \
      --auth-root-authentication-method=normal >"$folder/install.log"
  else
    bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    $unprivileged "$bin/initdb" --pgdata="$folder/data" --username=root --auth-local=trust \
      --auth-host=scram-sha-256 >"$folder/install.log"
  fi
}

# shellcheck disable=SC2086
start_database() {
  if [ "$database" = mariadb ]; then
    $unprivileged mariadbd --no-defaults --datadir="$folder/data" --tmpdir="$folder" --socket="$folder/socket" \
      --port="$port" --bind-address=127.0.0.1 --pid-file="$folder/pid" --skip-name-resolve \
      >>"$folder/database.log" 2>&1 &
  else
    $unprivileged "$bin/postgres" -D "$folder/data" --port="$port" --listen_addresses=127.0.0.1 \
      --unix_socket_directories="$folder" >>"$folder/database.log" 2>&1 &
  fi
  server=$!
}

is_open() {
  alive "$server" || gone "the database has ended"
  sql postgres mysql "SELECT 1"
}

# Without warning, with its children, like a power switch.
kill_database() {
  kill -STOP "$server" # no more children
  children=$(pgrep -P "$server" || true)
  # shellcheck disable=SC2086  # several numbers
  kill -9 "$server" $children || true # a child may have ended by itself
  wait "$server" || true
  server='' # its number may be another process's soon
  for child in $children; do # PostgreSQL does not start while one is left
    while alive "$child"; do sleep 0.05; done
  done
}

# sql DATABASE-OF-POSTGRESQL DATABASE-OF-MARIADB TEXT: as the administrator.
sql() {
  if [ "$database" = mariadb ]; then
    mariadb --no-defaults --socket="$folder/socket" --user=root --batch --skip-column-names "$2" --execute "$3"
  else
    psql --no-psqlrc --quiet --tuples-only --no-align --field-separator="$(printf '\t')" \
      --host "$folder" --port "$port" --username root --dbname "$1" --command "$3"
  fi
}

fill_database() {
  if [ "$database" = mariadb ]; then
    sql - mysql "CREATE DATABASE shop; CREATE USER app IDENTIFIED BY 'secret'; GRANT ALL ON shop.* TO app"
    mariadb --no-defaults --socket="$folder/socket" --user=root shop <"$here/schema.sql"
  else
    sql postgres - "CREATE ROLE app LOGIN PASSWORD 'secret'"
    sql postgres - "CREATE DATABASE shop OWNER app"
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --file "$here/schema.sql" \
      "postgresql://app:secret@127.0.0.1:$port/shop"
  fi
}

# ---- The service

# start PORT LOG: its process id is $!.
start() {
  (
    # shellcheck disable=SC2046  # no value has a space
    export $(environment 127.0.0.1 "$port")
    serve "$1"
  ) >>"$folder/$2.log" 2>&1 &
}

# answers PORT PROCESS: a service that has ended never will.
answers() {
  alive "$2" || gone "the service has ended"
  python3 "$services/customers.py" ask "$1" || { sleep 0.3 && false; } # a JVM that starts needs the processor
}

# stop PROCESS: waits until it has ended; its exit status.
stop() {
  [ -n "$1" ] || return 0
  kill "$1" 2>/dev/null || true
  kill -CONT "$1" 2>/dev/null || true # if it was stopped
  wait "$1"
}

stop_all() {
  for process in $customers $first $second $server; do
    stop "$process" || true
  done
}

placed() { [ "$(wc -l <"$folder/placed")" -ge "$1" ]; }

# more COUNT: until so many orders more are confirmed.
more() { until_true "$1 orders more" placed $(($(wc -l <"$folder/placed") + $1)); }

# renew PROCESS PORT LOG: a rolling restart of one of the two. Its exit status must say that it ended in order.
renew() {
  status=0
  stop "$1" || status=$?
  [ "$status" = 0 ] || [ "$status" = 143 ] || gone "the service ended with $status"
  start "$2" "$3"
}

story() {
  say "The service is built"
  build
  say "A database: $database"
  port=$(free_port)
  make_database
  start_database
  until_true "the database opens" is_open
  fill_database

  say "Two processes of the service, and customers who order without a pause"
  first_port=$(free_port)
  start "$first_port" first
  first=$!
  second_port=$(free_port)
  start "$second_port" second
  second=$!
  until_true "the first process opens" answers "$first_port" "$first"
  until_true "the second process opens" answers "$second_port" "$second"
  : >"$folder/placed"
  (cd "$folder" && exec python3 "$services/customers.py" order "$first_port" "$second_port") &
  customers=$!
  more 300

  say "The database is killed, and started again"
  kill_database
  until_true "an order fails" test -s "$folder/failed"
  start_database
  until_true "the database opens" is_open
  more 300

  say "One process after the other is stopped, and started again"
  renew "$first" "$first_port" first
  first=$!
  until_true "the first process opens" answers "$first_port" "$first"
  more 100
  renew "$second" "$second_port" second
  second=$!
  until_true "the second process opens" answers "$second_port" "$second"
  more 100

  say "The customers go home"
  kill "$customers"
  status=0
  wait "$customers" || status=$?
  customers=''
  [ "$status" = 0 ] || gone "the customers ended with $status"
  sql shop shop "SELECT id, customer FROM orders" >"$folder/rows"
  (cd "$folder" && python3 "$services/customers.py" check first.log second.log <rows) || gone "the account is wrong"
}
