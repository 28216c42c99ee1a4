"""Ids of a configured generator: `idgen decode --config`, `idgen explain --config`, and the log of grants."""

import json

import idgen
from test_cli import Cli

FILE = """
[orders]
kind = "segment"
store = "sqlite:ids.db"
pattern = "ORD-{base62:11}-{check}"
segment.step = 10
segment.runway = "0ms"

[events]
layout = "time:41ms worker:8 sequence:14"
epoch = "2026-01-01T00:00:00Z"
worker = 7
store = "postgres://nobody@127.0.0.1:1/nothing"

[invoices]
kind = "serial"
pattern = "SO {yyyyMMdd}-{000000}"
store = "sqlite:ids.db"

[carts]
kind = "business"
on_full = "widen"
store = "sqlite:ids.db"
cipher.key = "file:carts.key"
"""


class OwnIds(Cli):
    def setUp(self):
        super().setUp()
        (self.dir / "idgen.toml").write_text(FILE)

    def own(self, command, name, *arguments):
        out = self.good(command, "--config", "idgen.toml", "--name", name, "--json", *arguments).lines
        return [json.loads(line) for line in out]

    def make(self, name="orders"):
        self.good("segment", "create", "--config", "idgen.toml", "--name", name)

    def next(self, count, *arguments, name="orders"):
        return self.good("next", "--config", "idgen.toml", "--name", name, "-n", count, *arguments).lines


class Decode(OwnIds):
    def test_a_segment_is_a_number_of_its_tag_in_every_form_that_it_is_written_in(self):
        expected = {"id": "417", "layout": "segment:63", "segment": 417, "tag": "orders"}
        self.make()
        (text,) = self.good("convert", "--to", "ORD-{base62:11}-{check}", 417).lines
        for form in ("417", "0x1a1", text):
            self.assertEqual(self.own("decode", "orders", form), [{**expected, "id_text": text}])
        self.assertIn(
            "check", self.refused("TEXT", "decode", "--config", "idgen.toml", "--name", "orders", text[:-1] + "_")
        )

    def test_a_snowflake_is_read_by_the_layout_and_the_epoch_of_the_file_and_no_server_is_asked(self):
        id = (1000 << 22) | (7 << 14) | 5
        (decoded,) = self.own("decode", "events", id)
        self.assertEqual((decoded["time"], decoded["worker"], decoded["sequence"]), ("2026-01-01T00:00:01.000Z", 7, 5))
        explained = self.good("explain", "--config", "idgen.toml", "--name", "events", id).out
        self.assertIn("worker 7 of 255", explained)
        changed = self.own("decode", "events", "--set", "epoch=2027-01-01T00:00:00Z", id)[0]
        self.assertEqual(changed["time"], "2027-01-01T00:00:01.000Z")

    def test_a_serial_has_its_date_and_its_number(self):
        (decoded,) = self.own("decode", "invoices", "SO 20261121-000417")
        id = decoded.pop("id")
        self.assertEqual(
            decoded, {"tag": "invoices", "id_text": "SO 20261121-000417", "date": "2026-11-21", "number": 417}
        )
        self.assertEqual(self.own("decode", "invoices", id)[0]["id_text"], "SO 20261121-000417")
        self.assertEqual([path.name for path in self.dir.iterdir()], ["idgen.toml"], "no store is made")
        lines = self.good("decode", "--config", "idgen.toml", "--name", "invoices", "SO 20261121-000417").lines
        self.assertEqual(lines[1:], ["tag         invoices", "id_text     SO 20261121-000417", "date        2026-11-21",
                                     "number      417"])  # fmt: skip

    def test_ids_that_were_widened_are_told_by_their_length(self):
        narrow, wide = self.own("decode", "carts", 77, str(77).rjust(39, "0"))
        self.assertEqual((narrow["layout"], wide["layout"]), ("business64", "business128"))
        self.assertEqual((narrow["segment"], wide["segment"]), (77, 77))

    def test_a_hidden_id_of_either_length_is_revealed_where_that_is_asked(self):
        self.good("key", "new", "carts.key")
        self.good("store", "create", "--store", "sqlite:ids.db")
        cipher = idgen.IdCipher.open(str(self.dir / "idgen.toml"), "carts")
        id = (5 << 47) | 77
        hidden = cipher.hide(id)
        (decoded,) = self.own("decode", "carts", "--hidden", hidden)
        self.assertEqual((decoded["id"], decoded["hidden"], decoded["segment"]), (str(id), str(hidden), 77))
        self.assertNotEqual(self.own("decode", "carts", hidden)[0]["segment"], 77)
        refused = self.refused("VALUE", "decode", "--config", "idgen.toml", "--name", "carts", "--hidden", id)
        self.assertIn("not hidden", refused)
        wide = int.from_bytes(cipher.hide((77).to_bytes(16)))
        (decoded,) = self.own("decode", "carts", "--hidden", str(wide).rjust(39, "0"))
        self.assertEqual((decoded["id"], decoded["layout"], decoded["segment"]), ("77", "business128", 77))

    def test_hidden_ids_need_the_keys(self):
        self.assertIn("cipher.key", self.usage("decode", "--config", "idgen.toml", "--name", "events", "--hidden", 1))
        self.assertIn("--config", self.usage("decode", "--hidden", 1))
        self.assertIn("--config", self.usage("decode", "--name", "orders", 1))


class Grants(OwnIds):
    LOG = ("--set", "segment.grant_log=3")

    def explain(self, id, *arguments):
        return self.own("explain", "orders", id, *arguments)[0]

    def test_an_id_is_explained_by_the_grant_that_it_is_from(self):
        self.make()
        self.next(3, *self.LOG)  # what is left is given back
        (fourth,) = self.next(1, *self.LOG)
        self.assertEqual(fourth[:-1], "ORD-00000000004-")
        found = self.explain(fourth)
        self.assertEqual((found["is_granted"], found["tag_max_id"], found["id"]), (True, 4, "4"))
        self.assertEqual((found["grant"], found["first"], found["last"]), (2, 4, 4))
        self.assertRegex(found["holder"], r"^process \d+ on ")
        self.assertEqual({found["first"] for found in map(self.explain, (1, 2, 3))}, {1})
        self.assertEqual(self.explain(3)["last"], 3)
        lines = self.good("explain", "--config", "idgen.toml", "--name", "orders", fourth).out
        self.assertRegex(lines, rf"granted +to {found['holder']}, 20")
        self.assertRegex(lines, r"in grant +2, with the numbers 4 to 4\n")

    def explained(self):
        return ("explain", "--config", "idgen.toml", "--name", "orders")

    def test_a_grant_that_the_log_no_longer_has_is_said_to_be_forgotten(self):
        self.make()
        for _ in range(4):
            self.next(10, *self.LOG)
        self.assertIsNone(self.explain(1)["grant"])
        self.assertIn("No grant that the store remembers", self.good(*self.explained(), 1).out)

    def test_a_number_that_was_not_granted_is_said_to_be_that(self):
        self.make()
        self.next(3, *self.LOG)
        self.assertFalse(self.explain(4)["is_granted"])
        self.assertIn("to nobody: the tag has not reached this number", self.good(*self.explained(), 4).out)
        self.good("segment", "advance", "--config", "idgen.toml", "--name", "orders", "--to", 100)
        skipped = self.explain(50)
        self.assertEqual((skipped["is_granted"], skipped["grant"]), (None, None))

    def test_without_a_log_the_store_knows_the_latest_holder(self):
        self.make()
        self.next(3)
        out = self.good(*self.explained(), 2).out
        self.assertRegex(out, r"granted +by 20.* if ever, to whom is not known\n")
        self.assertRegex(out, r"\n +\(the latest grant went to process \d+ on ")

    def test_a_store_and_a_tag_are_enough(self):
        self.make()
        self.next(3, *self.LOG)
        out = self.good("explain", "--store", "sqlite:ids.db", "--tag", "orders", 2).out
        self.assertIn("in grant    1, with the numbers 1 to 3", out)
        self.assertIn("segment", out)
        for where in (("--store", "sqlite:ids.db"), ("--store", "sqlite:idgen.db"), ("--namespace", "shop")):
            said = self.usage("explain", *where, 2)
            self.assertIn("add --tag TAG", said, "no snowflake is drawn, and no store asked")
        unknown = self.refused("TAG_UNKNOWN", "explain", "--store", "sqlite:ids.db", "--tag", "ordres", 2)
        self.assertIn("ordres", unknown)

    def test_serials_and_business_ids_are_numbers_of_a_tag_too(self):
        for name in ("invoices", "carts"):
            self.make(name)
        (serial,) = self.next(1, *self.LOG, name="invoices")
        (found,) = self.own("explain", "invoices", serial)
        self.assertEqual((found["grant"], found["id_text"], found["number"]), (1, serial, 1))
        (cart,) = self.next(1, "--owner", "customer-42", *self.LOG, name="carts")
        (found,) = self.own("explain", "carts", cart)
        self.assertEqual((found["grant"], found["segment"]), (1, found["first"]))

    def test_a_grant_that_retires_a_tag_is_told_by_its_holder(self):
        self.make()
        self.next(3, *self.LOG)
        self.good("segment", "retire", "--config", "idgen.toml", "--name", "orders", *self.LOG, "--force")
        self.assertRegex(self.explain(2**63 - 1)["holder"], r"\Aretired at \d+\Z")

    def test_a_store_without_a_log_refuses_the_property_and_names_those_with_one(self):
        buffer = ("buffer", "--set", "buffer.redis=redis://h", "--set", "buffer.database=sqlite:ids.db")
        leaf = ("mysql://u@127.0.0.1:1/d", "--set", "segment.schema=leaf")
        for where in (("memory",), ("redis://127.0.0.1:1",), ("etcd://127.0.0.1:1",), buffer, leaf):
            said = self.refused("UNSUPPORTED", "next", "--kind", "segment", "--tag", "t", *self.LOG, "--store", *where)
            self.assertRegex(said, r"segment.grant_log = 3 with .*sqlite, mysql, mariadb and postgres keep one")

    def test_neither_an_id_of_sixteen_bytes_nor_a_serial_has_a_picture(self):
        for name in ("carts", "invoices"):
            self.make(name)
        explain = ("explain", "--config", "idgen.toml", "--name")
        self.assertIn("idgen decode", self.refused("UNSUPPORTED", *explain, "carts", str(7).rjust(39, "0")))
        self.assertIn("no bit fields", self.usage(*explain, "invoices", "--svg", "a.svg", "SO 20261121-000417"))
