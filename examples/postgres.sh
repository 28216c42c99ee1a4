#!/bin/sh
# Segment ids from PostgreSQL.
#
#   examples/postgres.sh postgres://app:secret@localhost/ids
#
# Once: CREATE USER app PASSWORD 'secret'; CREATE DATABASE ids OWNER app;
# Later SELECT and UPDATE on idgen_segment are enough. Grants are committed with synchronous_commit = on, whatever the
# server's default. The password can stand in a variable: postgres://app@localhost/ids?password_env=IDS_PASSWORD
store=${1:?"usage: $0 URL, for example postgres://app:secret@localhost/ids"}
. "$(dirname "$0")/tour.sh"
