"""Day two: a tag that was restored below its table, tags that move from store to store, those that end, a store that is
there later than those who draw."""

import itertools
import json
import re
import shlex
import threading
import time

import idgen
import pytest
from clients import (
    IDGEN,
    MODULES,
    SECONDS,
    clients,
    create,
    distinct,
    draw,
    ids_of,
    new_tag,
    repeating,
    run,
    segment,
    show,
    wait_until,
)
from test_faults import PATIENT

import servers

MODULE = ("--set", f"module.path={MODULES}")


class Table:
    """A table that a tag feeds."""

    def __init__(self, server):
        self.server, self.tag = server, new_tag()
        self.url = server.url()
        self.name = ("ids." if server.name == "mysql" else "public.") + "orders_" + self.tag
        server.sql(f"CREATE TABLE {self.name} (id bigint PRIMARY KEY)")
        if server.name == "postgres":
            server.sql(f"GRANT ALL ON {self.name} TO app")
        create(self.url, self.tag)

    def insert(self, count):
        drawn = draw(self.url, self.tag, count).stdout.split()
        self.server.sql(f"INSERT INTO {self.name} VALUES " + ", ".join(f"({id})" for id in drawn))
        return [int(id) for id in drawn]

    def doctor(self, *arguments, column="id"):
        where = ("--kind", "segment", "--store", self.url, "--tag", self.tag, *MODULE)
        return run([IDGEN, "doctor", *where, "--above-table", f"{self.name}.{column}", *arguments])


@pytest.fixture(params=["mysql", "postgres"])
def table(request, started):
    return Table(started(request.param))


def test_a_tag_that_was_restored_below_its_table_is_found_and_raised_as_the_message_says(table):
    assert table.doctor().returncode == 0, "an empty table is below every tag"
    table.insert(300)
    assert table.doctor().returncode == 0
    table.server.set_counter(table.tag, 120)  # the backup was made then
    before = show(table.url, table.tag)
    found = table.doctor()
    assert found.returncode == 1, found.stdout
    assert "STORE_REGRESSED" in found.stdout
    assert "180 numbers that may be in use would be issued again" in found.stdout
    assert show(table.url, table.tag) == before, "it was not opened"
    verb, *arguments = shlex.split(re.search(r"idgen segment (advance --to \d+)", found.stdout)[1])
    assert segment(table.url, table.tag, verb, *arguments).returncode == 0
    again = table.doctor("--json")
    assert again.returncode == 0, again.stdout
    assert f"the largest id of {table.name} is 300" in again.stdout
    assert min(table.insert(50)) > 300
    assert "idd" in table.doctor(column="idd").stdout, "a column that is not there"


def test_a_host_that_remembers_refuses_a_restored_store_when_it_starts(table, tmp_path):
    remembers = {"witness": tmp_path}
    drawn = draw(table.url, table.tag, 300, **remembers).stdout.split()
    table.server.set_counter(table.tag, 120)
    refused = draw(table.url, table.tag, **remembers)
    assert refused.returncode == 1
    assert "STORE_REGRESSED" in refused.stderr
    assert f"this host has had numbers up to {drawn[-1]} " in refused.stderr
    assert segment(table.url, table.tag, "advance", "--to", drawn[-1]).returncode == 0
    assert int(draw(table.url, table.tag, **remembers).stdout) > 300


def test_a_stride_hides_no_regress(table):
    """The tag's mark is an id whatever the stride, so it is compared as it stands."""
    drawn = draw(table.url, table.tag, 60, **{"segment.stride": 4, "segment.offset": 1}).stdout.split()
    table.server.sql(f"INSERT INTO {table.name} VALUES ({drawn[-1]})")
    table.server.set_counter(table.tag, int(drawn[-1]) // 2)
    found = table.doctor("--set", "segment.stride=4", "--set", "segment.offset=1")
    assert found.returncode == 1, found.stdout
    assert f"--to {drawn[-1]} " in found.stdout


FOREIGN = {  # how a tag's row is made to stand at a number, and how many above what was granted that is
    "leaf": ("UPDATE leaf_alloc SET max_id = {} WHERE biz_tag = '{}'", 1),  # Leaf's max_id is the next number
    "tinyid": ("UPDATE tiny_id_info SET max_id = {} WHERE biz_type = '{}'", 0),
    "cosid": ("UPDATE cosid SET last_max_id = {} WHERE name = 'shop.{}'", 0),
}


@pytest.mark.parametrize("schema", FOREIGN)
def test_all_tags_of_another_generator_are_imported_at_once(schema, started):
    server, database = started("mysql"), new_tag()  # a database without the rows of other tests
    server.make_database(database)
    url = server.url().replace("/ids", "/" + database)
    raise_to, above = FOREIGN[schema]
    names = sorted(new_tag() for _ in range(3))
    there = ("--namespace", "shop", "--schema", schema) if schema == "cosid" else ("--schema", schema)
    for i, name in enumerate(names):
        made = run([IDGEN, "segment", "create", "--store", url, "--tag", name, *there, *MODULE])
        assert made.returncode == 0, made.stderr
        server.sql(raise_to.format(1000 * (i + 1), name), database=database)
    everything = (IDGEN, "segment", "import", "--store", url, "--all", *MODULE)
    source = ("--from-schema", schema, *(("--from-namespace", "shop") if schema == "cosid" else ()))
    done = run([*everything, *source, "--margin", "10"])
    assert done.returncode == 0, done.stderr
    for i, name in enumerate(names):
        assert show(url, name)["max_id"] == 1000 * (i + 1) - above + 10
        assert f"tag '{name}'" in done.stdout
    tags = server.sql("SELECT tag FROM idgen_segment", database=database).split()
    assert sorted(tags) == names, "and no others"
    refused = run([*everything])
    assert refused.returncode == 2
    assert "--from-schema" in refused.stderr


def test_a_lazy_handle_waits_for_a_postgres_that_is_started_late():
    with servers.Postgres() as server:
        tag = create(server.url(), new_tag())
        server.stop()
        where = {"kind": "segment", "tag": tag, "store": server.url(), "module_path": str(MODULES), "wait_max": "0ms"}
        with idgen.lazy(**where, open_wait=SECONDS) as orders:
            drawn = []
            thread = threading.Thread(target=lambda: drawn.append(orders.next()))
            thread.start()
            with idgen.lazy(**where, open_wait=0) as hasty, pytest.raises(idgen.StoreUnavailableError):
                hasty.next()
            assert thread.is_alive()
            assert not orders.is_open
            server.start()
            thread.join(SECONDS)
            assert drawn == [1]


@pytest.mark.parametrize("kind", servers.KINDS)
def test_a_tag_is_retired_though_several_draw_from_it_without_a_pause(kind, started, tmp_path):
    url = started(kind).url()
    tag = create(url, new_tag())
    with clients(tmp_path, 4, url, tag, step=1, **PATIENT) as drawing:
        done = segment(url, tag, "retire", "--force", "--json", **PATIENT)
        assert done.returncode == 0, done.stderr
        for client in drawing:
            wait_until(lambda client=client: client.process.poll() is not None, what="it has ended")
            assert all(failure.startswith("EXHAUSTED") for failure in client.failures())
        assert max(ids_of(drawing)) <= json.loads(done.stdout)["last"]


def test_a_tag_moves_from_any_store_to_the_next_while_it_is_drawn_from(started, tmp_path):
    stores = [started(kind).url() for kind in servers.KINDS]
    tag = create(stores[0], new_tag())
    drawn, lock = [], threading.Lock()
    store = {"now": stores[0]}

    def draws():
        url = store["now"]
        try:
            with idgen.Generator(
                kind="segment", tag=tag, store=url, segment_step=7, segment_runway="0", module_path=str(MODULES)
            ) as generator:
                for _ in range(1000):
                    if store["now"] != url:
                        break
                    id = generator.next()
                    with lock:
                        drawn.append(id)
        except (idgen.ExhaustedError, idgen.TagUnknownError):
            time.sleep(0.001)  # it has moved; the new place is told in a moment

    with repeating(draws, threads=3):
        for before, after in itertools.pairwise(stores):
            size = len(drawn)
            wait_until(lambda size=size: len(drawn) > size + 300, what="ids of each store")
            moved = run([IDGEN, "segment", "move", "--from", before, "--to", after, "--tag", tag, *MODULE, "--json"])
            assert moved.returncode == 0, moved.stderr
            store["now"] = after
        size = len(drawn)
        wait_until(lambda: len(drawn) > size + 300, what="ids of the last store")
    distinct(drawn)
    for url in stores[:-1]:
        assert "EXHAUSTED" in draw(url, tag).stderr


@pytest.mark.parametrize("schema", ["leaf", "tinyid", "cosid"])
@pytest.mark.parametrize("kind", ["mysql", "postgres"])
def test_a_tag_of_another_program_is_moved_and_its_row_grants_nothing_more(kind, schema, started):
    url = started(kind).url()
    tag = new_tag()
    row = ("--tag", tag, "--set", f"segment.schema={schema}", *MODULE)
    run([IDGEN, "segment", "create", "--store", url, *row]).check_returncode()
    drawn = run([IDGEN, "next", "--kind", "segment", "--store", url, *row, "-n", "5"])
    last = int(drawn.stdout.split()[-1])
    retired = run([IDGEN, "segment", "retire", "--store", url, *row, "--force", "--json"])
    assert retired.returncode == 0, retired.stderr
    assert last <= json.loads(retired.stdout)["last"] < last + 10
    for command in (["next", "--kind", "segment"], ["segment", "retire", "--force"]):
        refused = run([IDGEN, *command, "--store", url, *row])
        assert "EXHAUSTED" in refused.stderr, refused.stderr


def test_a_row_with_a_stride_is_not_retired_for_the_others_of_its_numbers(started):
    server = started("mysql")
    tag = new_tag()
    row = ("--store", server.url(), "--tag", tag, "--set", "segment.schema=tinyid", *MODULE)
    run([IDGEN, "segment", "create", *row]).check_returncode()
    server.sql(f"UPDATE ids.tiny_id_info SET delta = 2, remainder = 1 WHERE biz_type = '{tag}'")
    refused = run([IDGEN, "segment", "retire", *row, "--force"])
    assert "UNSUPPORTED" in refused.stderr, refused.stderr
    assert "stride of 2" in refused.stderr
    # One grant was burned, as large as the row says, and never all that was left.
    assert int(run([IDGEN, "next", "--kind", "segment", *row]).stdout) < 60_000


def test_a_move_that_fails_there_has_changed_nothing_here(started):
    url = started("mysql").url()
    tag = create(url, new_tag())
    drawn = draw(url, tag, 5).stdout.split()
    failed = run(
        [IDGEN, "segment", "move", "--from", url, "--to", "postgres://app@127.0.0.1:1/ids", "--tag", tag, *MODULE]
    )
    assert failed.returncode == 75, failed.stderr
    assert int(draw(url, tag).stdout) > int(drawn[-1])


def test_a_tag_is_not_moved_to_its_own_server_by_another_name(shared):
    url = shared.url()
    other = url.replace("127.0.0.1", "localhost")
    assert other != url
    tag = create(url, new_tag())
    for _ in range(2):
        moved = run([IDGEN, "segment", "move", "--from", url, "--to", other, "--tag", tag, *MODULE])
        assert moved.returncode == 2, moved.stdout
        assert "two names of one store" in moved.stderr
        assert draw(url, tag).returncode == 0
