"""Tags in the rows and keys of other id generators, on real servers: what is where, and how the original is started.

test_schemas.py runs each of its tests against all of them, or those in the test's list.
"""

import json
from datetime import UTC, datetime

import originals
import pytest
from clients import Asked, Client, command, new_tag, run
from serials import NUMBER_BITS, Clock, text_of
from test_bad_input import refused

CREATE = ("segment", "create")


class Schema:
    """A tag that is not made yet. Its numbers are as an id counts them: those of a serial are without the date."""

    name = ""  # segment.schema
    kind = "segment"
    namespace = "default"
    table = key = column = ""
    next_free = 0  # by how much the counter is above the highest number in use
    partners = 1  # how many originals draw at once in a test
    begins = 1000  # where they begin
    to, label = "--to", "max_id"  # the option of `segment advance`, and what stands before its result
    kills = 3  # in a test
    without_step = "segment.step"  # what the refusal of a separate step says
    clock = None  # of all processes that draw, if it is not the system's

    def __init__(self, server, statements=""):
        self.server, self.statements, self.tag = server, statements, new_tag()
        self.url = server.url(**({"statements": statements} if statements else {}))

    def another(self):
        made = type(self)(self.server, self.statements)
        made.clock = self.clock
        return made

    # --- by idgen

    def properties(self, **others):
        return {"kind": self.kind, "schema": self.name, **others}

    @property
    def prefix(self):
        return self.clock.prefix if self.clock else ()

    def command(self, *words, tag=None, **others):
        return run([*self.prefix, *command(self.url, tag or self.tag, *words, **self.properties(**others))])

    def done(self, *words, **others):
        done = self.command(*words, **others)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, status, *what, words=("next",), **others):
        return refused(self.command(*words, **others), status, *what)

    def create(self, highest=0, columns=None, **others):
        """As the original's operator makes it, with highest as the highest number in use."""
        self.done(*CREATE, **{"step": 10, **others})
        if highest:
            self.set_highest(highest)
        if columns:
            self.set(**columns)
        return self

    def next(self, count=1, **others):
        return self.done("next", "-n", str(count), **others).split()

    def ids(self, count, **others):
        return [self.number_in(text) for text in self.next(count, **others)]

    def asked(self, **others):
        """Draws the next segment only when the one before is used up."""
        return Asked(self.url, self.tag, prefix=self.prefix, **self.properties(prefetch=1, **others))

    def client(self, folder, **others):
        return Client(folder, self.url, self.tag, prefix=self.prefix, **self.properties(**others))

    def advance(self, number):
        return self.done("segment", "advance", self.to, self.text(number))

    def shown(self):
        return self.read(self.done("segment", "show", "--json"))

    def listed(self):
        """All tags of this schema that the store has, by name."""
        done = self.list()
        assert done.returncode == 0, done.stderr
        return {row["tag"]: row for row in map(json.loads, done.stdout.splitlines())}

    def list(self):
        words = command(self.url, "", "segment", "show", "--json", **self.properties())
        at = words.index("--tag")
        return run([*self.prefix, *words[:at], *words[at + 2 :]])

    def read(self, line):
        """What --json says, and the number."""
        row = json.loads(line)
        return {**row, "max_id": self.number_of(int(row["max_id"]))}

    # --- numbers

    def number_in(self, text):
        return int(text)

    def number_of(self, id):
        return id

    def numbers(self, ids):
        return [self.number_of(id) for id in ids]

    def text(self, number):
        return str(number)

    # --- in the server

    @property
    def where(self):
        return f"WHERE {self.key} = '{self.tag}'"

    def select(self, columns):
        return self.server.sql(f"SELECT {columns} FROM {self.table} {self.where}").strip()

    def set(self, **columns):
        values = ", ".join(f"{name} = {value}" for name, value in columns.items())
        self.server.sql(f"UPDATE {self.table} SET {values} {self.where}")

    def counter(self):
        """As it is there."""
        return self.select(self.column)

    def set_counter(self, value):
        self.set(**{self.column: value})

    def highest(self):
        return int(self.counter()) - self.next_free

    def set_highest(self, number):
        self.set_counter(number + self.next_free)

    def remove(self):
        """What is damaged, which no list of all tags could show."""
        self.server.sql(f"DELETE FROM {self.table} {self.where}")

    # --- by the original

    def original(self, jar=None, clock=None):
        """A process. Numbers that it says are read by number_in()."""
        clock = clock or self.clock
        tag = self.tag.upper() if self.name == "key_producer" else self.tag
        return originals.rewritten(self.name, self.server, tag, **(clock.environment if clock else {}))


class Leaf(Schema):
    name, table, key, column, next_free = "leaf", "leaf_alloc", "biz_tag", "max_id", 1


class Tinyid(Schema):
    name, table, key, column = "tinyid", "tiny_id_info", "biz_type", "max_id"


class Cosid(Schema):
    name, table, key, column = "cosid", "cosid", "name", "last_max_id"
    namespace = "cosid"

    def properties(self, **others):
        return super().properties(**{"namespace": self.namespace, **others})

    @property
    def where(self):
        return f"WHERE name = 'cosid.{self.tag}'"

    def damage(self, value):
        """What the refusal of a value that is no counter says."""
        return ("table cosid", str(value))

    def original(self, jar, **others):
        return originals.cosid(jar, self.server, self.tag, **{"step": 50, **others})


class CosidKey(Cosid):
    """In Redis."""

    @property
    def redis_key(self):
        return f"cosid:{{cosid.{self.tag}}}.adder"

    def counter(self):
        return self.server.cli("GET", self.redis_key).strip()

    def set_counter(self, value):
        self.server.cli("SET", self.redis_key, str(value))

    def damage(self, value):
        return ("no counter",)

    def remove(self):
        self.server.cli("DEL", self.redis_key)


class Serial(Schema):
    """A serial of a day. Its clock stands still, so that no midnight is in a test that does not set it."""

    kind, partners, begins, kills = "serial", 2, 0, 5
    to, label = "--above", "serial"
    pattern = "{yyyyMMdd}{00000000}"

    def stand_still(self, folder):
        self.clock = Clock(folder / "clock", f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}")
        return self

    def properties(self, **others):
        return super().properties(**{"pattern": self.pattern, **others})

    @property
    def today(self):
        return self.clock.day()

    def number_in(self, text, date=""):
        date, text = date or self.today, str(text)
        assert text.startswith(date)
        return int(text[len(date) :])

    def number_of(self, id):
        return self.number_in(text_of(id)) if id >> NUMBER_BITS else id

    def text(self, number):
        return f"{self.today}{number:08}"


class KeyProducer(Serial):
    """And a table of the business, whose numbers are these."""

    name, table, column = "key_producer", "key_producer", "MAXSERIALNO"
    without_step = "no step"

    def __init__(self, server, statements=""):
        super().__init__(server, statements)
        self.business, self.tag = self.tag, f"{self.tag}.number"
        self.server.sql(f"CREATE TABLE {self.business} (number varchar(80))")
        if server.name == "postgres":
            self.server.sql(f"GRANT ALL ON {self.business} TO app")
        else:  # the original looks for the table by the name that its row has, which is in upper case
            self.server.sql(f"CREATE VIEW {self.business.upper()} AS SELECT number FROM {self.business}")

    @property
    def where(self):
        return f"WHERE TABLENAME = '{self.business.upper()}' AND COLUMNNAME = 'NUMBER'"

    def highest(self, date=""):
        found = self.counter()
        return 0 if found == "INIT" else self.number_in(found, date)

    def set_highest(self, number, date=""):
        self.set_counter(f"'{date or self.today}{number:08}'")

    def damage(self, value):
        return ("MAXSERIALNO", self.tag)

    def insert(self, *numbers):
        self.server.sql(f"DELETE FROM {self.business}")
        for number in numbers:
            self.server.sql(f"INSERT INTO {self.business} VALUES ('{number}')")


class Incr(Serial):
    """A key for each day, and a row of idgen's next to them."""

    name = "incr"

    @property
    def row(self):
        return f"idgen.serial:{self.tag}"

    def day_key(self, date=""):
        return f"{self.tag}:{date or self.today}"

    def keys(self):
        return self.server.cli("KEYS", f"{self.tag}:*").split()

    def counter(self, date=""):
        return self.server.cli("GET", self.day_key(date)).strip()

    def set_counter(self, value):
        self.server.cli("SET", self.day_key(), str(value))

    def highest(self, date=""):
        return int(self.counter(date) or 0)

    def set_highest(self, number, date=""):
        """Today's is what others have counted, and the row says nothing of it; of another day it is idgen's, too."""
        if date:
            self.done("segment", "advance", "--force", "--above", f"{date}{number:08}")
        else:
            self.set_counter(number)

    def damage(self, value):
        return (self.day_key(), f'"{value}"')

    def ttl(self, date=""):
        return int(self.server.cli("TTL", self.day_key(date)))

    def remove(self):
        self.server.cli("DEL", self.day_key(), self.row)


CLASSES = {"leaf": Leaf, "tinyid": Tinyid, "cosid": Cosid, "key_producer": KeyProducer, "incr": Incr}
SEGMENTS = ("leaf", "tinyid", "cosid")
SERIALS = ("key_producer", "incr")
SQL_STORES = ("mysql", "mysql transaction", "postgres")
KEY_PRODUCERS = tuple(f"{store} key_producer" for store in SQL_STORES)
# STORE [STATEMENTS] SCHEMA
CASES = [
    *(f"{store} {schema}" for store in SQL_STORES for schema in SEGMENTS),
    *("redis cosid", *KEY_PRODUCERS, "redis incr"),
]


def made(case, started, folder):
    store, _, schema = case.rpartition(" ")
    kind, _, statements = store.partition(" ")
    tag = (CosidKey if case == "redis cosid" else CLASSES[schema])(started(kind), statements)
    return tag.stand_still(folder) if schema in SERIALS else tag


def only(*schemas, stores=(*SQL_STORES, "redis")):
    """For a test that is about some of the schemas, or some of the stores."""
    cases = [case for case in CASES if case.rpartition(" ")[0] in stores and case.rpartition(" ")[2] in schemas]
    return pytest.mark.parametrize("row", cases, indirect=True)
