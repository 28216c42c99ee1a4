#!/bin/sh
# Segment ids from etcd.
#
#   examples/etcd.sh etcd://localhost:2379
#
# Over the JSON interface of version 3. A user and a password: etcd://app:secret@localhost:2379
store=${1:?"usage: $0 URL, for example etcd://localhost:2379"}
. "$(dirname "$0")/tour.sh"
