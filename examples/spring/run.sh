#!/bin/sh
# Orders over HTTP in Spring Boot, with Hibernate on MariaDB and ids from idgen, under load: sh run.sh
# What happens is in ../services/story.sh. Needs on the PATH: java 17, mvn, python3, mariadbd and mariadb. The jar of
# idgen must be in Maven's local repository; README.md says how it gets there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
database=mariadb

environment() {
  echo "SPRING_DATASOURCE_URL=jdbc:mariadb://$1:$2/shop"
  echo "SPRING_DATASOURCE_USERNAME=app"
  echo "SPRING_DATASOURCE_PASSWORD=secret"
}

build() { (cd "$here" && mvn -B -q package); }

# Two JVMs beside a database: without the last bit of speed they start sooner.
serve() {
  export SERVER_PORT="$1"
  # shellcheck disable=SC2086  # several words
  exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 ${JAVA_OPTS:-} -jar "$here/target/orders.jar"
}

. "$here/../services/story.sh"
story
