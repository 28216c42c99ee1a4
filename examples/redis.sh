#!/bin/sh
# Segment ids from Redis.
#
#   examples/redis.sh redis://:secret@localhost
#
# The server must keep what it acknowledges: appendonly yes, appendfsync always, maxmemory-policy noeviction. After a
# failover or a restart a tag grants nothing until it was raised by hand: Redis may have forgotten what it granted.
store=${1:?"usage: $0 URL, for example redis://:secret@localhost"}
. "$(dirname "$0")/tour.sh"
