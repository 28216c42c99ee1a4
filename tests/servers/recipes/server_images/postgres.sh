#!/bin/sh
# As postgres:15: the user, the database and its scripts are made when the volume is new, and never again.
set -eu
data=/var/lib/postgresql/data
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
chown postgres:postgres "$data"
mkdir -p /var/run/postgresql && chown postgres:postgres /var/run/postgresql
if [ ! -e "$data/PG_VERSION" ]; then
  password=$(mktemp)
  if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
    cat "$POSTGRES_PASSWORD_FILE" >"$password"
  else
    printf '%s\n' "$POSTGRES_PASSWORD" >"$password"
  fi
  chown postgres "$password"
  as_postgres initdb --pgdata="$data" --username="$POSTGRES_USER" --pwfile="$password" --auth-local=trust \
    --auth-host=scram-sha-256 --encoding=UTF8
  rm "$password"
  echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
  as_postgres pg_ctl --pgdata="$data" --options="-c listen_addresses=''" --wait start
  database=${POSTGRES_DB:-$POSTGRES_USER}
  [ "$database" = postgres ] || createdb --username="$POSTGRES_USER" --maintenance-db=postgres "$database"
  for script in /docker-entrypoint-initdb.d/*.sql; do
    [ ! -e "$script" ] ||
      psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$database" --file="$script"
  done
  as_postgres pg_ctl --pgdata="$data" --wait stop
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups postgres -D "$data" -c 'listen_addresses=*'
