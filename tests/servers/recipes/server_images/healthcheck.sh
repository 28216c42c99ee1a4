#!/bin/sh
# As in mariadb:10.11, of whose options these two are used: --connect is over TCP, where no one listens while the volume
# is made; --innodb_initialized is true from then on.
exec mariadb-admin --protocol=tcp --host=127.0.0.1 --user="$MARIADB_USER" --password="$MARIADB_PASSWORD" ping --silent
