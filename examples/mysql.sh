#!/bin/sh
# Segment ids from MariaDB or MySQL.
#
#   examples/mysql.sh mysql://app:secret@localhost/ids
#
# Once: CREATE DATABASE ids; CREATE USER app IDENTIFIED BY 'secret'; GRANT CREATE, SELECT, INSERT, UPDATE ON ids.* TO
# app; Later SELECT and UPDATE on ids.idgen_segment are enough. The server must sync each commit:
# innodb_flush_log_at_trx_commit = 1, and sync_binlog = 1 if it writes a binary log. The password can stand in a
# variable: mysql://app@localhost/ids?password_env=IDS_PASSWORD
store=${1:?"usage: $0 URL, for example mysql://app:secret@localhost/ids"}
. "$(dirname "$0")/tour.sh"
