#!/bin/sh
# Segment ids from one SQLite file.
#
#   examples/sqlite.sh sqlite:/tmp/ids.db
#
# For one machine. Nothing to set up: the file is made here, and must lie on a local disk.
store=${1:?"usage: $0 URL, for example sqlite:/tmp/ids.db"}
. "$(dirname "$0")/tour.sh"
