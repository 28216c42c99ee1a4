"""Connections of the host's language, as a program makes them for idgen.sql.SqlStore."""

import psycopg
import pymysql

import servers


def connect_to(server, **options):
    options = {"host": servers.HOST, "port": server.port, "user": "app", "password": servers.PASSWORD, **options}
    if server.name == "mysql":
        return pymysql.connect(database="ids", ssl_disabled=True, **options)
    return psycopg.connect(dbname="ids", **options)


class Watched:
    """A connection that records what was done with it."""

    def __init__(self, connection, log):
        self.driver_connection = connection
        self.log = log

    def __getattr__(self, name):
        if name in ("commit", "rollback", "close"):
            self.log.append(name)
        return getattr(self.driver_connection, name)


class Asking(Watched):
    """One to PostgreSQL that records how durable each of its commits of a change is, and nothing else."""

    def __getattr__(self, name):
        return getattr(self.driver_connection, name)

    def commit(self):
        with self.driver_connection.cursor() as cursor:
            asked = "SELECT pg_current_xact_id_if_assigned() IS NOT NULL, current_setting('synchronous_commit')"
            has_changed, durable = cursor.execute(asked).fetchone()
        if has_changed:
            self.log.append(durable)
        self.driver_connection.commit()
