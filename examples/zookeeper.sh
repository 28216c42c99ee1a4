#!/bin/sh
# Segment ids from ZooKeeper.
#
#   examples/zookeeper.sh zookeeper://localhost:2181
#
# Several servers of one ensemble: zookeeper://a,b,c. The tag lies below /idgen/segment.
store=${1:?"usage: $0 URL, for example zookeeper://localhost:2181"}
. "$(dirname "$0")/tour.sh"
