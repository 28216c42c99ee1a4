"""Moving over from AUTO_INCREMENT and sequences, with the statements of `idgen segment import`, run verbatim.

Old pods, which insert without an id, run beside new pods, which insert ids of idgen. No key may occur twice."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import idgen
import psycopg
import pymysql
import pytest
from clients import IDGEN, Asked, new_tag, run, segment

import servers

DUPLICATE_KEY = (pymysql.err.IntegrityError, psycopg.errors.UniqueViolation)
EACH = 200  # rows of a new pod
GAP = 10**9


@pytest.fixture(scope="module")
def mysql():
    """A separate server: one of the ways changes a setting of the whole server."""
    server = servers.KINDS["mysql"]()
    yield server
    server.close()


@pytest.fixture
def shop(request):
    return Shop(request.getfixturevalue("mysql"))


@pytest.fixture
def sequenced_shop(started):
    return Shop(started("postgres"))


@pytest.fixture(params=["AUTO_INCREMENT", "sequence"])
def either_shop(request, started):
    return Shop(request.getfixturevalue("mysql") if request.param == "AUTO_INCREMENT" else started("postgres"))


class Shop:
    """A team's table, whose rows the database numbers, and the tag that will number them."""

    def __init__(self, server, rows=100):
        self.server = server
        self.is_mysql = server.name == "mysql"
        self.tag = new_tag()
        self.table = ("ids." if self.is_mysql else "public.") + "orders_" + self.tag
        self.sequence = self.table + "_numbers"
        self.next_number = f"nextval({self.sequence})" if self.is_mysql else f"nextval('{self.sequence}')"
        self.counter = "AUTO_INCREMENT" if self.is_mysql else f"{self.table}_id_seq"
        key = "bigint AUTO_INCREMENT" if self.is_mysql else "bigserial"
        self.run(f"CREATE TABLE {self.table} (id {key} PRIMARY KEY, pod text)")
        if not self.is_mysql:
            self.run(f"GRANT ALL ON {self.table} TO app; GRANT SELECT ON SEQUENCE {self.table}_id_seq TO app")
        with self.connect() as connection:
            for _ in range(rows):
                self.insert(connection)

    def number_by_programs(self, increment):
        if self.is_mysql and servers.GENERATION == "mysql":
            pytest.skip("MySQL has no sequences")
        if self.is_mysql:
            self.run(f"ALTER TABLE {self.table} MODIFY id bigint")
        else:
            self.run(f"ALTER TABLE {self.table} ALTER COLUMN id DROP DEFAULT; DROP SEQUENCE {self.table}_id_seq")
        self.run(f"CREATE SEQUENCE {self.sequence} INCREMENT BY {increment}" + (" NOCACHE" if self.is_mysql else ""))
        self.run(f"GRANT SELECT ON {self.sequence} TO app" + ("@'%'" if self.is_mysql else ""))

    def connect(self, *session):
        if self.is_mysql:
            made = pymysql.connect(unix_socket=str(self.server.socket), user="root", database="ids", autocommit=True)
        else:
            made = psycopg.connect(
                host=str(self.server.folder), port=self.server.port, user="root", dbname="ids", autocommit=True
            )
        for statement in session:
            made.cursor().execute(statement)
        return made

    def run(self, statement):
        with self.connect() as connection:
            cursor = connection.cursor()
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else None

    def insert(self, connection, number=None):
        columns, values = ("(pod)", "('old')") if number is None else ("(id, pod)", f"({number}, 'new')")
        connection.cursor().execute(f"INSERT INTO {self.table} {columns} VALUES {values}")

    def ids(self):
        return {pod: [row[0] for row in self.run(f"SELECT id FROM {self.table} WHERE pod = '{pod}'")] for pod in POD}

    def try_import(self, *arguments):
        return segment(
            self.server.url(), self.tag, "import", "--from-table", self.table, "--from-column", "id", *arguments
        )

    def import_ids(self, *arguments):
        """What the command prints."""
        done = self.try_import(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def advance(self, number):
        done = segment(self.server.url(), self.tag, "advance", "--to", str(number))
        assert done.returncode == 0, done.stderr

    def draws(self, **properties):
        return Asked(self.server.url(), self.tag, step=10, **properties)


POD = ("old", "new")


def statements(printed, way):
    """The statements of one of the two ways, in order."""
    part = re.split(r"(?m)^[12]\. ", printed)[way]
    found = re.findall(r"(?ms)^   ((?:SET|ALTER|SELECT) [^;]*;$|DO .*?\$idgen\$;$)", part)
    assert found, printed
    return found


class OldPods:
    """Insert without an id, all the time."""

    def __init__(self, shop, sessions=((), ())):
        self.shop = shop
        self.stopping = threading.Event()
        self.pool = ThreadPoolExecutor(len(sessions))
        self.pods = [self.pool.submit(self.insert, session) for session in sessions]

    def insert(self, session):
        rows = 0
        with self.shop.connect(*session) as connection:
            while not self.stopping.is_set() or rows < 20:
                self.shop.insert(connection)
                rows += 1
        return rows

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.rows = sum(pod.result() for pod in self.pods)  # raises what a pod met: a duplicate key


def new_pods(shop, **properties):
    """Two of them insert EACH rows; raises the error that one gets."""

    def insert(_):
        with shop.connect() as connection, shop.draws(**properties) as ids:
            for _ in range(EACH // 10):
                for number in ids.ids(10):
                    shop.insert(connection, number)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(insert, range(2)))


def test_a_margin_ends_with_the_first_id_of_idgen_because_auto_increment_is_lifted_above_it(shop):
    shop.import_ids("--margin", "100000")
    with shop.connect() as old, shop.connect() as new, shop.draws() as ids:
        first, second = ids.ids(2)
        shop.insert(new, first)
        shop.insert(old)
        assert max(shop.ids()["old"]) == second
        with pytest.raises(DUPLICATE_KEY):
            shop.insert(new, second)


def test_a_margin_ends_when_the_sequence_has_grown_into_it(sequenced_shop):
    shop = sequenced_shop
    shop.import_ids("--margin", "5")
    with shop.connect() as old, shop.connect() as new, shop.draws() as ids:
        for _ in range(10):
            shop.insert(old)
        with pytest.raises(DUPLICATE_KEY):
            shop.insert(new, ids.ids(1)[0])


def test_auto_increment_and_idgen_share_the_numbers(shop):
    try:
        with OldPods(shop):
            printed = shop.import_ids()
            for statement in statements(printed, 1):
                shop.run(statement)
        with OldPods(shop) as old:  # all connections are new
            shop.import_ids()
            new_pods(shop, **{"segment.stride": 2, "segment.offset": 0})
        assert old.rows > 20
        found = shop.ids()["new"]
        assert len(found) == 2 * EACH
        assert all(number % 2 == 0 for number in found)
    finally:
        shop.run("SET GLOBAL auto_increment_increment = 1")


def test_several_masters_and_idgen_share_the_numbers(shop):
    """As with two masters: their AUTO_INCREMENTs give 1 and 2 of every 3, idgen 0."""

    def master(offset):
        return (f"SET SESSION auto_increment_increment = 3, SESSION auto_increment_offset = {offset}",)

    with OldPods(shop, sessions=(master(1), master(2))):
        shop.import_ids()
        new_pods(shop, **{"segment.stride": 3, "segment.offset": 0})
    assert all(number % 3 == 0 for number in shop.ids()["new"])


def test_auto_increment_goes_on_far_above_idgen(shop):
    with OldPods(shop) as old:
        alter, largest = statements(shop.import_ids(), 2)
        shop.run(alter)
        shop.advance(shop.run(largest)[0][0])
        new_pods(shop)
    assert old.rows > 20
    assert max(shop.ids()["new"]) < GAP < max(shop.ids()["old"])


def test_a_sequence_and_idgen_share_the_numbers(sequenced_shop):
    shop = sequenced_shop
    with OldPods(shop) as old:
        (statement,) = statements(shop.import_ids("--margin", "100000"), 1)
        shop.run(statement)
        new_pods(shop, **{"segment.stride": 2, "segment.offset": 0})
    assert old.rows > 20
    found = shop.ids()["new"]
    assert len(found) == 2 * EACH
    assert all(number % 2 == 0 for number in found)
    assert max(shop.ids()["old"]) % 2 == 1


def test_a_sequence_goes_on_far_above_idgen(sequenced_shop):
    shop = sequenced_shop
    with OldPods(shop):
        (statement,) = statements(shop.import_ids("--margin", "100000"), 2)
        shop.run(statement)
        new_pods(shop)
    assert max(shop.ids()["new"]) < GAP < max(shop.ids()["old"])


@pytest.mark.parametrize("way", [1, 2])
def test_a_sequence_that_has_passed_the_margin_is_not_moved(sequenced_shop, way):
    shop = sequenced_shop
    (statement,) = statements(shop.import_ids(), way)
    with shop.connect() as old:
        shop.insert(old)
        with pytest.raises(psycopg.errors.RaiseException, match="run the import again, with a margin"):
            shop.run(statement)
        shop.insert(old)
    assert sorted(shop.ids()["old"])[-3:] == [100, 101, 102]


@pytest.mark.parametrize("way", [1, 2])
def test_a_table_without_rows_moves_over_as_well(started, way):
    shop = Shop(started("postgres"), rows=0)
    (statement,) = statements(shop.import_ids(), way)
    shop.run(statement)
    with shop.connect() as old:
        shop.insert(old)
    assert shop.ids()["old"] == [1 if way == 1 else GAP]


def test_a_last_import_lifts_the_tag_above_the_rows_of_both(either_shop):
    shop = either_shop
    for statement in statements(shop.import_ids(), 2):
        shop.run(statement)
    with shop.connect() as connection:
        shop.insert(connection)
    shop.import_ids()
    with shop.draws() as ids:
        assert ids.ids(1)[0] > max(shop.ids()["old"]) > GAP


def test_no_id_comes_again_that_a_deleted_row_had(either_shop):
    shop = either_shop
    shop.run(f"DELETE FROM {shop.table} WHERE id > 90")
    assert json.loads(shop.import_ids("--json"))["found"] == 100
    shop.run(f"DELETE FROM {shop.table}")
    shop.tag += "_of_an_emptied_table"
    printed = shop.import_ids()
    assert (
        f"found 100, the last number that {shop.counter} has issued for id of {shop.table}; the largest row has 0\n"
        in printed
    )
    with shop.draws() as ids:
        assert ids.ids(1) == [101]
    assert idgen.segment_max_of(shop.table, "id", store=shop.server.url()) == 100


def test_doctor_counts_the_rows_that_are_deleted(either_shop):
    shop = either_shop
    assert segment(shop.server.url(), shop.tag, "create", "--above", "95").returncode == 0
    shop.run(f"DELETE FROM {shop.table} WHERE id > 90")
    where = ("--store", shop.server.url(), "--tag", shop.tag, "--above-table", f"{shop.table}.id")
    told = run([IDGEN, "doctor", *where])
    assert told.returncode == 1
    assert f"the largest id of {shop.table} is 90, its counter ({shop.counter}) has issued up to 100" in told.stdout
    assert "5 numbers that may be in use" in told.stdout


class Application:
    """Numbers rows itself, in blocks, as the optimizers of Hibernate and EF Core's HiLo do; one value of its counter a
    block."""

    def __init__(self, shop, first_id, ids):
        self.shop, self.first_id, self.ids = shop, first_id, ids

    def start_block(self):
        value = self.shop.run(f"SELECT {self.shop.next_number}")[0][0]
        first = self.first_id(value)
        return iter(range(first, first + self.ids))

    def insert(self, block, rows):
        with self.shop.connect() as connection:
            for _ in range(rows):
                self.shop.insert(connection, next(block))


POOLED_LO = (lambda value: value, 50), ("--sequence", "{sequence}")  # EF Core's HiLo, too
POOLED = (lambda value: value - 49, 50), ("--sequence", "{sequence}")
HILO = (lambda value: (value - 1) * 50 + 1, 50), ("--sequence", "{sequence}", "--hilo", "50")
LEGACY_HILO = (lambda value: value * 50, 50), ("--sequence", "{sequence}", "--hilo", "50")


@pytest.mark.parametrize(
    "blocks", [POOLED_LO, POOLED, HILO, LEGACY_HILO], ids=["pooled-lo", "pooled", "hilo", "legacy"]
)
@pytest.mark.parametrize("server", ["postgres", "mysql"])
def test_a_program_that_holds_a_block_meets_no_id_of_idgen(request, started, server, blocks):
    (first_id, ids), arguments = blocks
    shop = Shop(started("postgres") if server == "postgres" else request.getfixturevalue("mysql"), rows=0)
    arguments = [argument.format(sequence=shop.sequence) for argument in arguments]
    shop.number_by_programs(increment=1 if "--hilo" in arguments else 50)
    request.addfinalizer(lambda: shop.run(f"DROP SEQUENCE {shop.sequence}"))
    application = Application(shop, first_id, ids)
    for _ in range(3):
        application.insert(application.start_block(), 50)
    held = application.start_block()
    application.insert(held, 3)

    refuses(shop, f"{shop.sequence.split('.')[1]}. A program (Hibernate, EF Core) may hold numbers of one of them")
    if "--hilo" in arguments:
        shop.run(f"CREATE TABLE {shop.table}_kept AS SELECT * FROM {shop.table}; ".rstrip("; "))
        for _ in range(2):  # also of a table whose rows are gone
            refuses(shop, "If a program multiplies its numbers (hilo), it holds more: say --hilo N", *arguments[:2])
            shop.run(f"DELETE FROM {shop.table}")
        shop.run(f"INSERT INTO {shop.table} SELECT * FROM {shop.table}_kept")
        refuses(shop, "--hilo is too small", *arguments[:2], "--hilo", "2")
    printed = shop.import_ids(*arguments)
    assert "If no program takes numbers of " in printed
    new_pods(shop)
    application.insert(held, 47)
    if server == "postgres":
        (statement,) = blocks_of(printed)  # the only way that is printed
        application.start_block()
        with pytest.raises(psycopg.errors.RaiseException, match="run the import again, with a margin"):
            shop.run(statement)
        shop.run(*blocks_of(shop.import_ids(*arguments, "--margin", "1000")))
        application.insert(application.start_block(), 1)
        assert max(shop.ids()["new"]) > GAP


def refuses(shop, why, *arguments):
    refused = shop.try_import(*arguments)
    assert refused.returncode == 1
    assert why in refused.stderr
    assert "Nothing was imported" in refused.stderr


def blocks_of(printed):
    return re.findall(r"(?ms)^   (DO .*?\$idgen\$;$)", printed)


def test_ids_above_the_sequence_are_asked_for_once(sequenced_shop):
    shop = sequenced_shop
    with shop.connect() as connection:
        shop.insert(connection, 5000)
    refuses(shop, "stands at 100, and the largest id is 5000")
    shop.import_ids("--hilo", "1")
    shop.import_ids()  # they may be idgen's own
    with shop.draws() as ids:
        assert ids.ids(1)[0] > 5000


def test_numbers_below_one_that_the_sequence_was_set_to_are_not_issued_again(sequenced_shop):
    shop = sequenced_shop
    shop.run(f"DELETE FROM {shop.table} WHERE id > 90; SELECT setval('{shop.table}_id_seq', 101, false)")
    printed = shop.import_ids()
    assert f"found 100, the last number that {shop.counter} has issued" in printed
    shop.run(f"SELECT setval('{shop.table}_id_seq', 300, false)")
    for way in (1, 2):
        with pytest.raises(psycopg.errors.RaiseException, match="numbers up to 299 may be in use"):
            shop.run(*statements(printed, way))


def test_a_table_of_hibernates_is_asked_for_and_read(either_shop, request):
    shop = either_shop
    shop.number_by_programs(increment=1)
    shop.run(f"DROP SEQUENCE {shop.sequence}")
    shop.run(f"CREATE TABLE {shop.sequence} (sequence_name varchar(99), next_val bigint)")
    request.addfinalizer(lambda: shop.run(f"DROP TABLE {shop.sequence}"))
    shop.run(f"INSERT INTO {shop.sequence} VALUES ('orders', 151)")
    shop.run(f"GRANT SELECT ON {shop.sequence} TO app" + ("@'%'" if shop.is_mysql else ""))
    refuses(shop, f"{shop.sequence.split('.')[1]}. A program (Hibernate, EF Core) may hold numbers of one of them")
    refuses(shop, "say --hilo N", "--sequence", shop.sequence)
    assert json.loads(shop.import_ids("--sequence", shop.sequence, "--hilo", "1", "--json"))["found"] == 150
    assert json.loads(shop.import_ids("--sequence", shop.sequence, "--hilo", "50", "--json"))["found"] == 151 * 50


def test_a_sequence_in_a_columns_default_is_its_own(either_shop, request):
    shop = either_shop
    shop.number_by_programs(increment=1)
    request.addfinalizer(lambda: shop.run(f"DROP SEQUENCE {shop.sequence}" + ("" if shop.is_mysql else " CASCADE")))
    for _ in range(150):
        shop.run(f"SELECT {shop.next_number}")
    alter = (
        f"MODIFY id bigint DEFAULT ({shop.next_number})"
        if shop.is_mysql
        else f"ALTER id SET DEFAULT {shop.next_number}"
    )
    shop.run(f"ALTER TABLE {shop.table} {alter}")
    assert json.loads(shop.import_ids("--json"))["found"] == 150
    assert idgen.segment_max_of(shop.table, "id", store=shop.server.url()) == 150


def test_shared_numbers_are_not_taken_for_blocks(sequenced_shop):
    shop = sequenced_shop
    for statement in statements(shop.import_ids("--margin", "10"), 1):
        shop.run(statement)
    assert "1. Share the numbers" in shop.import_ids()


def test_a_sequence_that_may_not_be_read_is_not_passed_over(sequenced_shop):
    shop = sequenced_shop
    shop.run(f"REVOKE ALL ON SEQUENCE {shop.table}_id_seq FROM app")
    refused = shop.try_import()
    assert refused.returncode == 1, refused.stderr
    assert f"GRANT SELECT ON SEQUENCE {shop.table}_id_seq" in refused.stderr


def test_a_column_that_is_generated_always_takes_ids_of_idgen_after_the_printed_statement(sequenced_shop):
    shop = sequenced_shop
    shop.run(f"ALTER TABLE {shop.table} ALTER COLUMN id DROP DEFAULT; DROP SEQUENCE {shop.table}_id_seq")
    shop.run(f"ALTER TABLE {shop.table} ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (START WITH 101)")
    shop.run(f"GRANT SELECT ON SEQUENCE {shop.table}_id_seq TO app")
    (statement,) = re.findall(r"(?m)^   (ALTER TABLE .* SET GENERATED BY DEFAULT;)$", shop.import_ids())
    with shop.connect() as connection, shop.draws() as ids:
        number = ids.ids(1)[0]
        with pytest.raises(psycopg.errors.GeneratedAlways):
            shop.insert(connection, number)
        shop.run(statement)
        shop.insert(connection, number)


def test_the_json_of_an_import_has_no_advice(either_shop):
    assert either_shop.import_ids("--json").count("\n") == 1


def test_no_statement_is_printed_for_a_name_with_a_line_break(shop):
    shop.run("CREATE TABLE IF NOT EXISTS `a\n;b` (id bigint)")
    shop.table = "a\n;b"
    printed = shop.import_ids("--sequence", "none")
    assert "ALTER TABLE" not in printed
    assert "so none is shown" in printed
    assert "\n;b" not in printed
