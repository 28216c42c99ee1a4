#!/bin/sh
# As mariadb:10.11: the user, the database and its scripts are made when the volume is new, and never again.
set -eu
data=/var/lib/mysql
chown mysql:mysql "$data"
mkdir -p /run/mysqld && chown mysql:mysql /run/mysqld
if [ ! -e "$data/mysql" ]; then
  mariadb-install-db --user=mysql --datadir="$data" --skip-test-db
  {
    echo "CREATE DATABASE $MARIADB_DATABASE;"
    echo "CREATE USER '$MARIADB_USER'@'%' IDENTIFIED BY '$MARIADB_PASSWORD';"
    echo "GRANT ALL ON $MARIADB_DATABASE.* TO '$MARIADB_USER'@'%';"
    echo "USE $MARIADB_DATABASE;"
    for script in /docker-entrypoint-initdb.d/*.sql; do [ ! -e "$script" ] || cat "$script"; done
  } >/tmp/init.sql
  mariadbd --user=mysql --datadir="$data" --skip-networking --pid-file=/run/mysqld/first.pid &
  server=$!
  until mariadb-admin ping --silent; do sleep 0.2; done
  mariadb </tmp/init.sql
  kill "$server" && wait "$server"
fi
# Asks nobody for a client's name, as mariadb:10.11: where no one answers, a connection would wait for seconds.
exec mariadbd --user=mysql --datadir="$data" --bind-address=0.0.0.0 --skip-name-resolve --host-cache-size=0
