"""PostgreSQL behind PgBouncer, which may hand out another session for each transaction, and one that others have set
up."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from clients import CAN_BE_RETRIED, Asked, create, draw, new_tag, wait_until
from schemas import made
from test_conformance import run_suite

import servers


class PgBouncer(servers.Server):
    """As its package installs it, except for what it needs to find the server."""

    name = "pgbouncer"
    drops_root = True  # it refuses to run as root

    def __init__(self, server, pool_mode):
        self.server, self.pool_mode = server, pool_mode
        super().__init__()

    def prepare(self):
        (self.folder / "users").write_text(f'"app" "{servers.PASSWORD}"\n')
        (self.folder / "ini").write_text(
            f"[databases]\nids = host={servers.HOST} port={self.server.port}\n"
            f"[pgbouncer]\nlisten_addr = {servers.HOST}\nlisten_port = {self.port}\nunix_socket_dir =\n"
            f"auth_type = plain\nauth_file = {self.folder}/users\npool_mode = {self.pool_mode}\n"
        )

    def command(self):
        return ["/usr/sbin/pgbouncer", self.folder / "ini"]

    def url(self):
        return self.server.url(port=self.port)


@pytest.fixture(params=["session", "transaction", "statement"], scope="module")
def pooler(request, started):
    made = PgBouncer(started("postgres"), request.param)
    yield made
    made.close()


@pytest.fixture(params=["without a pooler", "transaction"])
def either(request, started):
    if request.param == "without a pooler":
        yield started("postgres")
        return
    made = PgBouncer(started("postgres"), request.param)
    yield made
    made.close()


def test_the_store_behaves_behind_a_pooler_as_every_store_does(pooler):
    run_suite("postgres", pooler.url())


def test_each_id_comes_once_through_sessions_that_processes_share(pooler):
    tag = create(pooler.url(), new_tag())

    def ids(_):
        with Asked(pooler.url(), tag, step=7) as client:
            return client.ids(2000)

    with ThreadPoolExecutor(4) as pool:
        found = [number for part in pool.map(ids, range(4)) for number in part]
    assert len(found) == len({*found}) == 8000


@pytest.mark.parametrize("table", ["idgen_segment", "key_producer"])
def test_a_session_that_commits_asynchronously_is_overruled_behind_a_pooler(pooler, started, table, tmp_path):
    tag = create(pooler.url(), new_tag())
    row = made("postgres key_producer", started, tmp_path).create()
    row.url = pooler.url()
    user, trigger = started("postgres"), f"see_{tag}"
    user.sql("ALTER ROLE app SET synchronous_commit = off")
    user.sql(
        f"CREATE TABLE {trigger} (value text); GRANT ALL ON {trigger} TO app;"
        f"CREATE FUNCTION {trigger}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO {trigger} VALUES"
        " (current_setting('synchronous_commit') || current_setting('statement_timeout')); RETURN NEW; END $$;"
        f"CREATE TRIGGER {trigger} BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {trigger}()"
    )
    try:
        if table == row.table:
            assert row.ids(1, store_timeout="4s") == [1]
        else:
            assert draw(pooler.url(), tag, store_timeout="4s").stdout == "1\n"
        assert {*user.sql(f"SELECT value FROM {trigger}").split()} == {"on4s"}
    finally:
        user.sql(f"ALTER ROLE app RESET synchronous_commit; DROP FUNCTION {trigger} CASCADE; DROP TABLE {trigger}")


def test_what_was_given_up_is_not_executed_later(either, started):
    tag = create(either.url(), new_tag())
    server = started("postgres")
    with psycopg.connect(host=str(server.folder), port=server.port, user="root", dbname="ids") as holder:
        holder.execute("SELECT 1 FROM idgen_segment WHERE tag = %s FOR UPDATE", (tag,))
        given_up = draw(either.url(), tag, store_timeout="500ms", wait_max="1s")
        assert given_up.returncode == CAN_BE_RETRIED
        waiting = "wait_event_type = 'Lock' AND query LIKE '%idgen_segment%'"
        waiters = f"SELECT count(*) FROM pg_stat_activity WHERE {waiting}"
        wait_until(lambda: server.sql(waiters).strip() == "0", what="no session waits for the row any more")
    assert draw(either.url(), tag).stdout == "1\n"
