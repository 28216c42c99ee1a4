#!/bin/sh
# Orders over HTTP in Go, with GORM on PostgreSQL and ids from idgen, under load: sh run.sh
# What happens is in ../services/story.sh. Needs on the PATH: go 1.24 and a C++20 compiler, python3, psql; and the
# server of Debian's package postgresql. The first build compiles the core of idgen, which takes minutes. With SERVICE
# set to the command of a service that was built before, none is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
database=postgres

environment() { echo "DATABASE_URL=postgres://app:secret@$1:$2/shop?connect_timeout=5"; }

build() { [ -n "${SERVICE:-}" ] || (cd "$here" && go build -o orders .); }

# shellcheck disable=SC2086  # several words
serve() { PORT=$1 exec ${SERVICE:-$here/orders}; }

. "$here/../services/story.sh"
story
