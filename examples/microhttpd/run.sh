#!/bin/sh
# Orders over HTTP in C, with libmicrohttpd, libpq on PostgreSQL and ids from idgen, under load: sh run.sh
# What happens is in ../services/story.sh. Needs a C compiler, pkg-config and an installed idgen that it finds
# (PKG_CONFIG_PATH), Debian's libmicrohttpd-dev, libjansson-dev and libpq-dev; and on the PATH python3 and psql, with
# the server of Debian's package postgresql. Leaves the program beside this file, where compose.yaml looks for it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$here/orders
database=postgres

environment() {
  echo "DATABASE_URL=postgresql://app:secret@$1:$2/shop?connect_timeout=5"
  echo "IDGEN_ORDERS_STORE=postgresql://app:secret@$1:$2/shop"
}

build() {
  packages="idgen libmicrohttpd libpq jansson"
  # shellcheck disable=SC2046,SC2086  # several words
  cc -std=gnu11 -O2 -Wall -Wextra -Werror "$here/orders.c" -o "$program" $(pkg-config --cflags --libs $packages) \
    -pthread -Wl,-rpath,"$(pkg-config --variable=libdir idgen)"
}

serve() { cd "$here" && PORT=$1 exec "$program"; } # beside idgen.toml

. "$here/../services/story.sh"
story
