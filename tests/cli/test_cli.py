"""The idgen command, as a shell sees it: standard output, standard error, exit status. Standard library only.

The command under test is $IDGEN_TOOL, else build/bin/idgen.
"""

import contextlib
import datetime
import fcntl
import json
import os
import pty
import re
import signal
import sqlite3
import stat
import struct
import subprocess
import tempfile
import termios
import time
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

# A shell starts background jobs with Ctrl-C ignored, and ignored signals are inherited: not by the programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]
TOOL = os.environ.get("IDGEN_TOOL", str(ROOT / "build" / "bin" / "idgen"))
MODULES = Path(TOOL).resolve().parents[1] / "lib" / "idgen" / "modules"

OK, FAILURE, USAGE, TRY_AGAIN = 0, 1, 2, 75
COMMANDS = (
    "next",
    "decode",
    "convert",
    "explain",
    "audit",
    "layout",
    "plan",
    "store",
    "segment",
    "worker",
    "shard",
    "key",
    "standard",
    "properties",
    "doctor",
    "metrics",
    "bench",
    "completion",
    "man",
    "version",
)
LARGEST = 2**63 - 1
NASTY = "a\nb\t\x1b[2Jc\u0085d"  # ends a comment, forges a line, controls a terminal
ESCAPE = "\033["


class Result:
    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def lines(self):
        return self.out.splitlines()


def environment(**changes):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    return {**env, "TERM": "xterm-256color", **changes}


class Cli(unittest.TestCase):
    """Each test runs in its own folder."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def run_tool(self, *arguments, stdin="", **env):
        return Result(
            subprocess.run(
                [TOOL, *map(str, arguments)],
                input=stdin,
                capture_output=True,
                text=True,
                cwd=self.dir,
                env=environment(**env),
                timeout=60,
                check=False,
            )
        )

    def start(self, *arguments):
        words = [TOOL, *map(str, arguments)]
        return subprocess.Popen(words, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def good(self, *arguments, stdin="", **env):
        result = self.run_tool(*arguments, stdin=stdin, **env)
        self.assertEqual((result.status, result.err), (OK, ""), arguments)
        return result

    def objects(self, *arguments, stdin=""):
        """What the command says with --json: an object for each line."""
        return [json.loads(line) for line in self.good(*arguments, "--json", stdin=stdin).lines]

    def object(self, *arguments):
        (found,) = self.objects(*arguments)
        return found

    def refused(self, status_name, *arguments, status=FAILURE, stdin=""):
        """The command failed with this status of the library, and said so in the one form that scripts may rely on."""
        result = self.run_tool(*arguments, stdin=stdin)
        self.assertEqual(result.status, status, result.err)
        self.assertRegex(result.err, rf"\Aidgen: error: {status_name}: .+\n\Z")
        return result.err

    def failed(self, *arguments):
        """The command failed by itself, with no status of the library, and printed nothing."""
        result = self.run_tool(*arguments)
        self.assertEqual((result.status, result.out), (FAILURE, ""), result.err)
        return result.err

    def usage(self, *arguments):
        result = self.run_tool(*arguments)
        self.assertEqual((result.status, result.out), (USAGE, ""), result.err)
        self.assertRegex(result.err, r"\Aidgen: error: .+\nSee `idgen.* --help`\.\n\Z")
        return result.err

    def subcommands(self, command):
        _, found, rest = self.good(*command.split(), "--help").out.partition("\nCommands:\n")
        return re.findall(r"(?m)^  (\S+)", rest.split("\n\n")[0]) if found else []

    def all_commands(self):
        """ "" for the command itself, each command, and each with a subcommand: "segment show"."""
        return ["", *COMMANDS, *(f"{command} {sub}" for command in COMMANDS for sub in self.subcommands(command))]

    def watch(self):
        """From now on watched() is each value that a counter is given, also by a grant that goes back at once."""
        with sqlite3.connect(self.dir / "ids.db") as store:
            store.executescript(
                "CREATE TABLE watched(max_id); CREATE TRIGGER watch AFTER UPDATE ON idgen_segment "
                "BEGIN INSERT INTO watched VALUES(new.max_id); END"
            )

    def watched(self):
        with sqlite3.connect(self.dir / "ids.db") as store:
            return [number for (number,) in store.execute("SELECT max_id FROM watched ORDER BY rowid")]

    def on_terminal(self, *arguments, columns=100, stream="stdout", **env):
        """What a terminal with this many columns gets, where one of the command's streams is it."""
        controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        streams = {"stdout": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, stream: terminal}
        with subprocess.Popen([TOOL, *map(str, arguments)], **streams, env=environment(**env), cwd=self.dir) as process:
            os.close(terminal)
            text = b""
            with contextlib.suppress(OSError):  # Linux says EIO when the last writer has gone
                while piece := os.read(controller, 65536):
                    text += piece
        os.close(controller)
        self.assertEqual(process.returncode, OK)
        return text.decode()


class Decode(Cli):
    # Twitter's own: 41 bits of ms since 1288834974657, 5 of datacenter, 5 of worker, 12 of sequence.
    ID = 1541815603606036480
    JSON = (
        '{"id": "1541815603606036480", "layout": "twitter", "time": "2022-06-28T16:07:40.105Z", '
        '"unix_ms": 1656432460105, "datacenter": 11, "worker": 26, "sequence": 0}\n'
    )

    def test_an_id_is_an_object_or_has_a_line_for_each_field(self):
        twitter = ("decode", "--layout", "twitter", self.ID)
        self.assertEqual(self.good(*twitter, "--json").out, self.JSON)
        fields = [[key, str(value)] for key, value in json.loads(self.JSON).items()]
        self.assertEqual([line.split(None, 1) for line in self.good(*twitter).lines], fields)

    def test_hexadecimal_and_decimal_are_the_same_id(self):
        for text in (hex(self.ID), hex(self.ID).upper().replace("X", "x")):
            self.assertEqual(self.good("decode", "--layout", "twitter", text, "--json").out, self.JSON)
        self.assertEqual(self.object("decode", "0x00ff"), self.object("decode", 255))

    def test_ids_are_answered_in_their_order_also_words_and_lines_of_standard_input(self):
        found = self.objects("decode", 7, 0x10, "-", "--layout", "leaf", 0, stdin="1 2\n\n  0x3\n4")
        self.assertEqual([each["id"] for each in found], ["7", "16", "1", "2", "3", "4", "0"])

    def test_an_option_that_may_come_again_takes_one_word_each_time(self):
        settings = ("--set", "kind=snowflake", "--set", "layout=twitter")
        self.assertEqual(self.object("decode", *settings, self.ID), json.loads(self.JSON))

    def test_the_epoch_moves_the_time(self):
        layout = ("--layout", "time:41ms worker:10 sequence:12", "--epoch", "1970-01-01T00:00:01Z")
        self.assertEqual(self.object("decode", *layout, 5 << 22)["unix_ms"], 1005)

    def test_a_layout_without_time_has_neither_time_nor_unix_ms(self):
        parts = self.object("decode", "--layout", "business64", (9 << 47) | (3 << 42) | 77)
        self.assertEqual(list(parts), ["id", "layout", "gene", "version", "segment"])

    def test_numbers_that_javascript_would_round_are_strings(self):
        for number, shown in ((2**53, str(2**53)), (2**53 - 1, 2**53 - 1)):
            self.assertEqual(self.object("decode", "--layout", "fixed:3 segment:60", number)["segment"], shown)

    def test_an_id_of_sixteen_bytes_is_split_with_and_without_its_leading_zeros(self):
        segment = 2**80 + 5
        id = (9 << 104) | (3 << 84) | segment
        for text in (str(id), str(id).rjust(39, "0"), hex(id), "0x" + format(id, "032X")):
            self.assertEqual(
                self.object("decode", "--layout", "business128", text),
                {"id": str(id), "layout": "business128", "gene": 9, "version": 3, "segment": str(segment)},
            )
        self.assertIn(f"segment     {segment}\n", self.good("decode", "--layout", "business128", id).out)
        self.refused("TEXT", "decode", "--layout", "business128", str(2**128))
        self.refused("VALUE", "decode", "--layout", "business64", str(id).rjust(39, "0"))

    def test_a_time_that_rfc3339_cannot_write_is_null_and_unix_ms_is_exact(self):
        parts = self.object("decode", "--layout", "mastodon", 2**64 - 1)
        self.assertEqual((parts["time"], parts["unix_ms"], parts["sequence"]), (None, 2**48 - 1, 65535))

    def test_a_bad_id_is_named_and_on_standard_input_its_line_after_the_good_ones(self):
        self.assertIn("'12x'", self.refused("TEXT", "decode", "12x"))
        for text in ("", "0x", "0x12345678123456789", str(2**64)):
            self.refused("TEXT", "decode", text)
        result = self.run_tool("decode", "-", "--json", stdin="1\n2\nno\n4\n")
        self.assertEqual(result.status, FAILURE)
        self.assertEqual([json.loads(line)["id"] for line in result.lines], ["1", "2"])
        self.assertRegex(result.err, r"\Aidgen: error: TEXT: standard input, line 3: .*'no'")
        self.usage("decode", "--json")


class Explain(Cli):
    ID = Decode.ID
    TWITTER = ("explain", "--layout", "twitter", ID)
    PICTURE = """
twitter  time:41ms datacenter:5 worker:5 sequence:12  since 2010-11-04T01:42:54.657Z

    62                                     22  21 17  16 12  11         0
 0  00101010110010110100001000111110110001000  01011  11010  000000000000
 │  ├───────────────────────────────────────┘  ├───┘  ├───┘  ├──────────┘
 │  │                                          │      │      └ sequence 0 of 4095
 │  │                                          │      └ worker 26 of 31
 │  │                                          └ datacenter 11 of 31
 │  └ time 2022-06-28T16:07:40.105Z, AGO
 └ sign 0
"""

    def test_the_picture_has_every_bit_under_its_number_and_a_straight_line_to_each_value(self):
        out = self.good(*self.TWITTER).out
        self.assertIn(self.PICTURE, re.sub(r"(?m), \d+ years?( .*)? ago$", ", AGO", out))

    def test_without_a_layout_only_plausible_presets_are_drawn(self):
        drawn = re.findall(r"(?m)^([a-z0-9-]+)  (?:unsigned )?time:", self.good("explain", self.ID).out)
        self.assertIn("twitter", drawn)
        self.assertIn("leaf", drawn)
        self.assertNotIn("mastodon", drawn)  # would be of the year 2715
        self.assertNotIn("js53", drawn)  # has bits that this layout does not
        objects = self.objects("explain", self.ID)
        self.assertEqual([o["layout"] for o in objects], drawn)
        self.assertEqual({o["plausible"] for o in objects}, {True})

    def test_an_id_of_no_preset_says_what_each_would_read(self):
        out = self.good("explain", 12345).out
        self.assertIn("Under no preset", out)
        self.assertRegex(out, r"twitter +would be of 2010-11-04T01:42:54.657Z")
        self.assertRegex(out, r"business128 +is not of 64 bits")
        objects = self.objects("explain", 12345)
        self.assertIn("twitter", [o["layout"] for o in objects])
        self.assertEqual({o["plausible"] for o in objects}, {False, None})

    def test_only_a_terminal_gets_colors_that_change_nothing_but_color(self):
        plain = self.good(*self.TWITTER).out
        self.assertNotIn("\033", plain)
        painted = self.on_terminal(*self.TWITTER)
        self.assertIn(ESCAPE, painted)
        self.assertEqual(re.sub(r"\033\[[0-9;]*m", "", painted).replace("\r\n", "\n"), plain)
        self.assertNotIn(ESCAPE, self.on_terminal("explain", self.ID, NO_COLOR="1"))
        self.assertIn(ESCAPE, self.on_terminal("explain", self.ID, NO_COLOR=""))  # empty means not set
        self.assertNotIn(ESCAPE, self.on_terminal("explain", self.ID, TERM="dumb"))

    def test_a_terminal_gets_a_picture_from_eighty_columns_on_else_a_list_and_either_fits(self):
        for columns, words in ((60, "worker 26 of 31"), (80, "├")):
            out = self.on_terminal(*self.TWITTER, columns=columns, NO_COLOR="1").replace("\r\n", "\n")
            picture = out.split("\n\n", 2)[2]
            self.assertLessEqual(max(map(len, picture.splitlines())), columns)
            self.assertIn(words, picture)
            self.assertEqual("├" in picture, columns == 80)

    def test_json_adds_to_what_decode_says_of_the_id(self):
        explained = self.object(*self.TWITTER)
        decoded = json.loads(Decode.JSON)
        self.assertEqual({key: explained.pop(key) for key in decoded}, decoded)
        texts = {"hex": f"{self.ID:016x}", "crockford": "1ASD13XH1F800", "base58": "4aaW4SzAyQK"}
        epoch = {"epoch": "2010-11-04T01:42:54.657Z", "epoch_unix_ms": 1288834974657, "plausible": True}
        layout = {"text": "time:41ms datacenter:5 worker:5 sequence:12", "time_bits": 41, "time_shift": 22}
        nodes = {"datacenter_bits": 5, "datacenter_shift": 17, "worker_bits": 5, "worker_shift": 12}
        counts = {"sequence_bits": 12, "sequence_shift": 0, "base62": "1ptWyK4WgZU"}
        self.assertEqual(explained, texts | epoch | layout | nodes | counts)

    def test_json_of_a_layout_without_time_has_the_same_members_as_null(self):
        explained = self.object("explain", "--layout", "business64", 77)
        self.assertEqual([explained[k] for k in ("epoch", "epoch_unix_ms", "plausible")], [None] * 3)
        self.assertEqual((explained["segment"], explained["segment_shift"]), (77, 0))

    def svg(self, *arguments):
        self.assertEqual(self.good("explain", *arguments, "--svg", "id.svg").out, "")
        return xml.fromstring((self.dir / "id.svg").read_text())

    def test_the_svg_has_a_box_for_each_field_to_scale_with_its_bits(self):
        groups = self.svg("--layout", "twitter", self.ID).findall("{*}g")
        widths = [float(group.find("{*}rect").get("width")) for group in groups]
        self.assertEqual([width / widths[0] for width in widths], [1, 41, 5, 5, 12])
        starts = [float(group.find("{*}rect").get("x")) for group in groups]
        self.assertEqual([starts[0] + sum(widths[:i]) for i in range(5)], starts)
        bits = "".join("".join(group.find("{*}text").itertext()) for group in groups)
        self.assertEqual(bits, f"{self.ID:064b}")

    def test_the_svg_says_what_the_picture_for_a_terminal_says_and_stays_inside_its_frame(self):
        svg = self.svg("--layout", "twitter", self.ID)
        labels = ["".join(group.findall("{*}text")[-1].itertext()) for group in svg.findall("{*}g")]
        out = self.good(*self.TWITTER).out
        self.assertEqual(len(labels), 5)
        for label in labels:
            self.assertIn(f"└ {label}\n", out)
        self.assertIn("worker 26 of 31", svg.find("{*}desc").text)
        _, _, width, height = map(float, svg.get("viewBox").split())
        for text in svg.iter("{http://www.w3.org/2000/svg}text"):
            if text.get("x"):
                self.assertLess(float(text.get("x")), width)
            self.assertLess(float(text.get("y")), height)

    def test_the_svg_has_colors_for_light_and_for_dark_pages(self):
        style = self.svg("--layout", "twitter", self.ID).find("{*}style").text
        for part in style.split("@media (prefers-color-scheme: dark)"):
            self.assertRegex(part, r"text \{.*fill: #")
            self.assertRegex(part, r"\.page \{ fill: #")

    def test_the_svg_without_a_layout_has_a_picture_for_each_plausible_one(self):
        pictures = [line.split(":")[0] for line in self.svg(self.ID).find("{*}desc").text.splitlines()]
        self.assertEqual(pictures, [o["layout"] for o in self.objects("explain", self.ID)])

    def test_the_svg_goes_to_standard_output_for_a_dash(self):
        out = self.good(*self.TWITTER, "--svg", "-").out
        self.assertEqual(xml.fromstring(out).tag, "{http://www.w3.org/2000/svg}svg")

    def test_an_svg_that_cannot_be_written_is_an_error_that_names_the_file(self):
        for path, why in (("none/id.svg", "No such file or directory"), ("/dev/full", "No space left on device")):
            error = self.failed(*self.TWITTER, "--svg", path)
            self.assertEqual(error, f"idgen: error: cannot write {path}: {why}\n")

    def test_bad_ids_and_layouts_are_refused_and_write_no_svg(self):
        self.refused("TEXT", "explain", "abc")
        self.refused("LAYOUT", "explain", "--layout", "time:99", self.ID)
        self.usage("explain")
        self.assertIn("--layout", self.usage("explain", 12345, "--svg", "id.svg"))
        self.usage("explain", self.ID, "--svg", "id.svg", "--json")
        self.refused("TEXT", "explain", "abc", "--svg", "id.svg")
        self.assertEqual(list(self.dir.iterdir()), [])


class LayoutCommand(Cli):
    def test_json_says_what_the_layout_can_do(self):
        info = self.object("layout", "twitter")
        last = 1288834974657 + 2**41 - 1
        left = last / 1000 - datetime.datetime.now().timestamp()
        self.assertAlmostEqual(info.pop("years_left"), left / 86400 / 365.25, places=1)
        names = {"layout": "twitter", "text": "time:41ms datacenter:5 worker:5 sequence:12"}
        width = {"bits": 63, "unsigned": False, "js_safe": False, "tick_ms": 1, "workers": 1024}
        epoch = {"epoch": "2010-11-04T01:42:54.657Z", "epoch_unix_ms": 1288834974657}
        times = {"first": epoch["epoch"], "last": "2080-07-10T17:30:30.208Z", "last_unix_ms": last}
        counts = {"ids_per_tick": 4096, "ids_per_second": 4096000}
        self.assertEqual(info, names | width | epoch | times | counts)

    def test_any_number_of_generators_share_the_counter_of_a_tag(self):
        self.assertNotIn("workers", self.object("layout", "business64"))
        self.assertRegex(self.good("layout", "business64").out, r"generators +any number: they share the counter")
        self.assertRegex(self.good("layout").out, r"business64 .* any +gene:16")

    def test_the_statement_for_tidb_splits_where_ids_begin_with_the_gene(self):
        split = ("layout", "gene:4 version:2 segment:50", "--split-regions", 16)
        self.assertEqual(self.good(*split).out, f"SPLIT TABLE orders BETWEEN (0) AND ({2**56 - 1}) REGIONS 16;\n")
        self.assertIn("TABLE shop.orders ", self.good(*split, "--table", "shop.orders").out)
        for layout, first in (
            ("order", "time"),
            ("segment:63", "segment"),
            ("version:5 gene:16 segment:42", "version"),
        ):
            self.assertIn(f"begin with {first} are not spread", self.usage("layout", layout, "--split-regions", 16))
        self.assertIn("no integers", self.usage("layout", "business128", "--split-regions", 16))
        self.assertIn("needs a LAYOUT", self.usage("layout", "--split-regions", 16))
        self.assertIn("needs --split-regions", self.usage("layout", "default", "--table", "orders"))
        self.assertIn("letters, digits", self.usage(*split, "--table", "orders; DROP TABLE x"))
        for regions in (0, 1, 1001):
            self.assertIn("2 to 1000", self.usage("layout", "business64", "--split-regions", regions))

    def test_lines_say_whether_javascript_is_safe_and_that_a_time_is_over(self):
        self.assertRegex(self.good("layout", "js53").out, r"JavaScript +safe")
        self.assertRegex(self.good("layout", "twitter").out, r"JavaScript +not safe")
        self.assertRegex(self.good("layout", "uid-generator").out, r"years left +none: over for \d")

    def test_without_a_layout_all_presets_are_listed_and_an_epoch_is_refused(self):
        presets = [each["layout"] for each in self.objects("layout")]
        self.assertIn("sonyflake", presets)
        self.assertEqual([line.split()[0] for line in self.good("layout").lines[1:]], presets)
        self.usage("layout", "--epoch", "0")


class Standard(Cli):
    def test_what_is_made_is_decoded(self):
        for name in ("uuid4", "uuid7", "ulid", "object_id"):
            ids = self.good("standard", "make", name, "-n", 100).lines
            self.assertEqual(len({*ids}), 100)
            rows = self.objects("standard", "decode", "-", stdin="\n".join(ids))
            self.assertEqual([row["id"] for row in rows], ids)
            self.assertEqual({row["standard"] for row in rows}, {name})
            self.assertEqual({"unix_ms" in row for row in rows}, {name != "uuid4"})
            self.assertEqual({row.get("version") for row in rows}, {int(name[-1]) if name.startswith("uuid") else None})

    def test_the_examples_of_the_standards_say_what_they_hold(self):
        out = self.good("standard", "decode", "C232AB00-9414-11EC-B3C8-9F6BDECED846", "01ARZ3NDEKTSV4RRFFQ69G5FAV").out
        self.assertEqual(
            out,
            "id          c232ab00-9414-11ec-b3c8-9f6bdeced846\nstandard    uuid\nversion     1\n"
            "time        2022-02-22T19:22:22.000Z\nunix_ms     1645557742000\n\n"
            "id          01ARZ3NDEKTSV4RRFFQ69G5FAV\nstandard    ulid\n"
            "time        2016-07-30T23:54:10.259Z\nunix_ms     1469922850259\n",
        )
        time = {"time": "2012-10-17T21:13:27.000Z", "unix_ms": 1350508407000}
        self.assertEqual(
            self.object("standard", "decode", "507f1f77bcf86cd799439011"),
            {"id": "507f1f77bcf86cd799439011", "standard": "object_id", "process": 0xBCF86CD799, "counter": 0x439011}
            | time,
        )
        self.assertIn("of another variant", self.good("standard", "decode", "f" * 32).out)

    def test_what_is_none_is_refused(self):
        self.assertIn("uuid4", self.usage("standard", "make", "uuid5"))
        self.usage("standard", "make")
        self.usage("standard", "decode")
        self.assertIn("it has 3 characters", self.refused("TEXT", "standard", "decode", "abc"))
        result = self.run_tool("standard", "decode", "-", "--json", stdin="507f1f77bcf86cd799439011\nno\n")
        self.assertEqual(len(result.lines), 1)
        self.assertIn("line 2", result.err)


class Convert(Cli):
    def test_an_id_is_written_in_every_form_and_read_back(self):
        for form, text in (
            ("decimal", "9007199254740991"),
            ("hex", "001fffffffffffff"),
            ("crockford", "007ZZZZZZZZZZ"),
            ("base58", "12DLNrMSKug"),
            ("base62", "00fFgnDxSe7"),
            ("ORD-{base62:11}-{check}", "ORD-00fFgnDxSe7-7"),
        ):
            self.assertEqual(self.good("convert", "--to", form, 2**53 - 1).out, text + "\n")
            self.assertEqual(self.good("convert", "--from", form, text).out, f"{2**53 - 1}\n")

    def test_the_date_is_that_of_the_id_in_the_zone(self):
        to = ("convert", "--to", "{yyyyMMdd}-{crockford}", 1541815603606036480)
        self.assertEqual(self.good(*to, "--layout", "twitter").out, "20220628-1ASD13XH1F800\n")
        zone = ("--layout", "twitter", "--zone", "+09:00")
        self.assertEqual(self.good(*to, *zone).out, "20220629-1ASD13XH1F800\n")

    def test_json_says_what_was_read(self):
        self.assertEqual(
            self.object("convert", "--serial", "--from", "SO{yyyyMMdd}{000000}", "SO20261121000417"),
            {"id": "22845652601930145", "text": "22845652601930145", "number": "417", "date": "2026-11-21"},
        )
        self.assertEqual(self.object("convert", 5), {"id": "5", "text": "5", "number": "5", "date": None})
        result = self.good("convert", "--from", "SO {000000}", "-", stdin="SO 000001\nSO 000002\n")
        self.assertEqual(result.lines, ["1", "2"])

    def test_what_does_not_fit_is_refused_with_its_line(self):
        message = self.refused("TEXT", "convert", "--from", "ORD-{base62:11}-{check}", "ORD-00fFgnDxSe7-8")
        self.assertIn("its check character '8' at position 16 would be '7'", message)
        self.assertIn("is no form", self.usage("convert", "--to", "nix", 1))
        result = self.run_tool("convert", "--to", "hex", "-", stdin="1\nno\n")
        self.assertEqual(result.lines, ["0000000000000001"])
        self.assertIn("line 2", result.err)


class Serials(Cli):
    SERIAL = ("--kind", "serial", "--pattern", "SO{yyyyMMdd}{000000}", "--store", "sqlite:s.db", "--tag", "orders")

    def setUp(self):
        super().setUp()
        self.good("segment", "create", "--store", "sqlite:s.db", "--tag", "orders")

    def test_serials_are_written_by_their_pattern_and_go_on_above_what_is_named(self):
        first = self.good("next", *self.SERIAL, "-n", 3).lines
        self.assertRegex(first[0], r"\ASO20\d{6}000001\Z")
        above = first[0][:10] + "000417"
        self.assertIn(f"serial      {above}", self.good("segment", "advance", *self.SERIAL, "--above", above).out)
        self.assertEqual(self.good("next", *self.SERIAL).out, first[0][:10] + "000418\n")

    def test_a_serial_of_a_day_to_come_is_refused_unless_forced(self):
        advance = ("segment", "advance", *self.SERIAL, "--above")
        tomorrow = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)).strftime("SO%Y%m%d000001")
        self.assertIn("of a time to come", self.usage(*advance, tomorrow))
        self.good(*advance, tomorrow, "--force")

    def test_advancing_needs_one_target(self):
        self.usage("segment", "advance", *self.SERIAL)
        self.usage("segment", "advance", *self.SERIAL, "--to", 5, "--above", "SO20261121000001")
        self.usage("segment", "advance", "--store", "sqlite:s.db", "--tag", "orders", "--above", "SO20261121000001")
        self.refused("TEXT", "segment", "advance", *self.SERIAL, "--above", "SO2026112100001")


class Plan(Cli):
    def plans(self, *arguments):
        rows = self.objects("plan", *arguments)
        self.assertEqual([row["kind"] for row in rows], ["snowflake"] * 4 + ["segment"])
        return rows

    def test_the_layouts_that_fit_are_said_with_what_they_hold(self):
        for row in self.plans("--rate", "400000", "--hosts", "200", "--years", "20")[:4]:
            self.assertEqual((row["fits"], row["bits"]), (True, 63))
            self.assertEqual(self.object("layout", row["layout"])["last"], row["last"])

    def test_the_layout_can_be_configured_as_it_is_printed(self):
        asked = ("--rate", "2000", "--hosts", "3", "--js-safe", "--epoch", "2026-01-01T00:00:00Z")
        lines = self.good("plan", *asked).lines
        settings = [line for line in lines[lines.index("[ids]") :] if not line.startswith("store")]
        (self.dir / "idgen.toml").write_text("\n".join([*settings, f'store = "sqlite:{self.dir}/ids.db"']) + "\n")
        (id,) = self.good("next", "--config", "idgen.toml", "--name", "ids", "--set", "store_create=true").lines
        self.assertLess(int(id), 2**53)

    def test_the_arithmetic_of_the_finest_tick_is_shown(self):
        out = self.good("plan", "--rate", "3000000").out
        self.assertRegex(out, r"time +\d\d bits  2\^\d\d ticks of 1 ms from 2025-01-01 last until \d{4}-")
        self.assertRegex(out, r"worker +\d bits  \d+ numbers for 1 process and as many successors")
        self.assertRegex(out, r"sequence +\d\d bits  [\d ]+ ids in a tick, for 3 000 000 a second")
        self.assertRegex(out, r"Presets that do as they are: default, ")

    def test_what_does_not_fit_says_by_how_many_bits_and_what_does(self):
        asked = ("--rate", "3000000", "--hosts", "2000", "--years", "20", "--js-safe")
        self.assertEqual({row["missing_bits"] for row in self.plans(*asked)[:4]}, {1})
        out = self.good("plan", *asked).out
        for words in ("1 bit too many", "None fits.", "without --js-safe"):
            self.assertIn(words, out)
        self.assertNotIn("[ids]", out)
        self.assertRegex(out, r"53\s+bits\s+last\s+95\.1\s+years")

    def test_numbers_out_of_range_say_what_is_allowed(self):
        self.assertIn("--rate is required", self.usage("plan"))
        self.assertIn("allowed: 1 to", self.usage("plan", "--rate", "0"))
        self.assertIn("allowed: 1 to", self.usage("plan", "--rate", "1", "--hosts", "0"))
        self.assertIn("allowed: 1 to 1000", self.usage("plan", "--rate", "1", "--years", "1001"))
        self.assertIn("more than --rate", self.usage("plan", "--rate", "5", "--busiest", "6"))
        self.refused("VALUE", "plan", "--rate", "5", "--epoch", "yesterday")


def worker_of(line):
    """Of an id of the default layout."""
    return int(line) >> 12 & 1023


class Next(Cli):
    MEMORY = ("next", "--store", "memory", "--worker")

    def test_as_many_lines_as_were_asked_for_increase_strictly_and_are_of_the_worker(self):
        lines = self.good(*self.MEMORY, 5, "-n", 20000).lines
        ids = [int(line) for line in lines]
        self.assertEqual((ids, len(ids)), (sorted({*ids}), 20000))
        self.assertEqual({*map(worker_of, lines)}, {5})
        self.assertEqual(len(self.good(*self.MEMORY, 1).lines), 1)
        self.assertEqual(self.good(*self.MEMORY, 1, "-n", 0).out, "")

    def test_every_format_is_the_same_number(self):
        # A segment is predictable: the first ids of a new tag.
        base = ("next", "--kind", "segment", "--store", "memory", "--tag", "t", "--set", "store_create=true", "-n", 61)
        self.assertEqual(self.good(*base).lines, [str(i) for i in range(1, 62)])
        for name, last in (
            ("decimal", "61"),
            ("hex", "000000000000003d"),
            ("crockford", "000000000001X"),
            ("base58", "11111111124"),
            ("base62", "0000000000z"),
        ):
            self.assertEqual(self.good(*base, "--format", name).lines[-1], last)

    def test_decimal_ids_are_right_at_every_length(self):
        store = ("--store", "sqlite:ids.db", "--tag", "t")
        self.good("segment", "create", *store)
        for power in range(1, 19):
            self.good("segment", "advance", *store, "--force", "--to", 10**power - 2)
            ids = self.good("next", "--kind", "segment", *store, "-n", 3).lines
            self.assertEqual(ids, [str(10**power - 1 + i) for i in range(3)])

    def test_a_table_is_chosen_by_name_where_there_are_several_and_its_store_lies_beside_the_file(self):
        orders = '[orders]\nkind = "segment"\nstore = "sqlite:ids.db"\nstore_create = true\n'
        (self.dir / "sub").mkdir()
        (self.dir / "sub" / "idgen.toml").write_text(orders)
        config = ("next", "--config", "sub/idgen.toml")
        self.assertEqual(self.good(*config).out, "1\n")
        self.assertTrue((self.dir / "sub" / "ids.db").exists())
        (self.dir / "sub" / "idgen.toml").write_text(orders + "[events]\nworker = 2\n")
        self.assertIn("orders, events", self.usage(*config))
        self.assertEqual(self.good(*config, "--name", "orders").out, "2\n")
        self.assertIn("others", self.refused("CONFIG_FILE", *config, "--name", "others"))
        self.assertIn("none.toml", self.refused("CONFIG_FILE", "next", "--config", "none.toml", "--name", "x"))

    def test_options_override_the_file_and_set_overrides_options(self):
        (self.dir / "idgen.toml").write_text('[events]\nworker = 1\nstore = "memory"\n')
        for arguments, worker in (((), 1), (("--worker", 2), 2), (("--worker", 2, "--set", "worker=3"), 3)):
            (line,) = self.good("next", "--config", "idgen.toml", *arguments).lines
            self.assertEqual(worker_of(line), worker)

    def test_no_more_is_reserved_than_is_drawn_unless_a_step_is_asked_for(self):
        store = ("--store", "sqlite:ids.db", "--tag", "t")
        self.good("segment", "create", *store)
        self.watch()
        self.good("next", "--kind", "segment", *store, "-n", 3)
        self.assertEqual(self.watched(), [3])
        self.good("next", "--kind", "segment", *store, "-n", 2, "--set", "segment.stride=2")
        self.assertEqual(self.watched(), [3, 7])
        self.good("next", "--kind", "segment", *store, "-n", 5, "--set", "order=relaxed")
        before = self.watched()
        self.assertLessEqual(max(before), 12)
        self.good("next", "--kind", "segment", *store, "-n", 3, "--set", "segment.step=50")
        during = self.watched()[len(before) :]
        self.assertEqual((during[0] - before[-1], during[-1] - before[-1]), (50, 3))

    def test_more_ids_than_a_batch_and_a_step_come_all_and_nothing_is_kept(self):
        store = ("--store", "sqlite:ids.db", "--tag", "t")
        self.good("segment", "create", *store)
        ids = self.good("next", "--kind", "segment", *store, "-n", 70_000).lines
        self.assertEqual(ids, [str(number) for number in range(1, 70_001)])
        self.assertEqual(self.object("segment", "show", *store)["max_id"], 70_000)

    def test_malformed_options_are_usage_errors(self):
        for arguments in (
            *(("-n", "x"), ("-n", "-1"), ("-n", "1.5"), ("--format", "octal"), ("--set", "novalue")),
            *(("--unknown",), ("extra",)),
        ):
            self.usage("next", *arguments)

    def test_a_worker_that_another_process_owns_is_worth_a_retry(self):
        store = ("--store", "sqlite:ids.db", "--worker", "1")
        with self.start("next", *store, "--set", "store_create=true", "-n", 2**40) as owner:
            owner.stdout.readline()  # it owns the worker now
            self.assertIn(str(owner.pid), self.refused("WORKER_BUSY", "next", *store, status=TRY_AGAIN))
            owner.send_signal(signal.SIGINT)
            owner.stdout.read()  # it writes all that it has drawn
        self.assertEqual(owner.returncode, 130)
        self.assertEqual(len(self.good("next", *store).lines), 1)


class NextForOwner(Cli):
    BASE = ("next", "--kind", "business", "--store", "memory", "--tag", "t", "--set", "store_create=true")

    def test_ids_of_one_owner_share_their_gene_and_rise(self):
        ids = [int(line) for line in self.good(*self.BASE, "--owner", "acme", "-n", 1000).lines]
        self.assertEqual((ids, len(ids)), (sorted({*ids}), 1000))
        self.assertEqual(len({id >> 47 for id in ids}), 1)

    def test_ids_of_sixteen_bytes_have_their_own_lengths(self):
        for form, digits in (("decimal", 39), ("hex", 32), ("crockford", 26), ("base58", 22), ("base62", 22)):
            (line,) = self.good(*self.BASE, "--layout", "business128", "--owner", "acme", "--format", form).lines
            self.assertEqual(len(line), digits, form)

    def test_an_owner_is_needed_where_there_is_a_gene_and_refused_where_there_is_none(self):
        self.assertIn("call next_for", self.refused("UNSUPPORTED", *self.BASE))
        self.refused("UNSUPPORTED", "next", "--store", "memory", "--worker", 1, "--owner", "acme")


class Signals(Cli):
    STORE = ("--kind", "segment", "--store", "sqlite:ids.db", "--tag", "t")

    def endless(self):
        return subprocess.Popen(
            [TOOL, "next", *self.STORE, "--set", "store_create=true", "--set", "segment.step=100", "-n", str(2**50)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.dir,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # nohup has it ignored
        )

    def max_id(self):
        return self.object("segment", "show", "--store", "sqlite:ids.db", "--tag", "t")["max_id"]

    def test_ctrl_c_writes_what_was_drawn_and_gives_back_the_rest(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with self.subTest(number), self.endless() as process:
                first = process.stdout.readline()
                process.send_signal(number)
                rest = process.stdout.read()
                self.assertEqual(process.stderr.read(), b"")
                process.wait()
                self.assertEqual(process.returncode, status)
                ids = [int(line) for line in (first + rest).split()]
                self.assertTrue(rest.endswith(b"\n"))
                self.assertEqual(ids, list(range(ids[0], ids[0] + len(ids))))
                self.assertEqual(self.max_id(), ids[-1])  # nothing drawn was lost, nothing reserved was kept

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        with self.endless() as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(), 128 + signal.SIGPIPE)

    def test_ctrl_c_ends_it_also_where_nobody_reads_the_pipe(self):
        with self.endless() as process:
            waiting = struct.pack("i", 0)
            while struct.unpack("i", waiting)[0] < 60000:  # until the pipe is full
                waiting = fcntl.ioctl(process.stdout, termios.FIONREAD, waiting)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
            self.assertEqual(process.returncode, 130)


class Progress(Cli):
    def test_a_long_run_shows_a_bar_and_removes_it(self):
        # The format allows at most 4096 ids per ms, so this takes at least a second.
        shown = self.on_terminal("next", "--store", "memory", "--worker", 1, "-n", 4_096_000, stream="stderr")
        self.assertRegex(shown, r"█.* %  [\d ]+ ids  .*/s")
        self.assertTrue(shown.endswith("\r\033[K"))

    def test_a_short_run_shows_nothing(self):
        self.assertEqual(self.on_terminal("next", "--store", "memory", "--worker", 1, stream="stderr"), "")


class Store(Cli):
    STORE = ("--store", "sqlite:ids.db")

    def test_create_says_the_identity_and_changes_nothing_when_it_is_repeated(self):
        out = self.good("store", "create", *self.STORE).out
        self.assertEqual(len(self.good("segment", "show", *self.STORE).lines), 1)  # the head
        self.good("next", *self.STORE, "--worker", 1)
        self.good("segment", "create", *self.STORE, "--tag", "orders", "--above", 7)
        self.assertEqual(self.good("store", "create", *self.STORE).out, out)
        self.assertEqual(self.good("next", "--kind", "segment", *self.STORE, "--tag", "orders").out, "8\n")
        with sqlite3.connect(self.dir / "ids.db") as store:
            ((identity,),) = store.execute("SELECT lower(hex(identity)) FROM idgen_store")
        self.assertEqual(out, f"store sqlite:{self.dir.resolve()}/ids.db, identity {identity}: ready\n")

    def test_create_takes_the_store_of_a_file_s_table(self):
        (self.dir / "idgen.toml").write_text('[events]\nstore = "sqlite:ids.db"\n[orders]\nstore = "memory"\n')
        self.assertIn("events, orders", self.usage("store", "create", "--config", "idgen.toml"))
        self.good("store", "create", "--config", "idgen.toml", "--name", "events")
        self.assertTrue((self.dir / "ids.db").exists())

    def test_a_name_stays_whole_and_on_one_line(self):
        self.assertEqual(self.good("store", "create", "--store", "memory:a").out, "store memory:a: ready\n")
        out = self.good("store", "create", "--store", "sqlite:a: b\n.db").out
        self.assertRegex(out, r"\Astore sqlite:/.*/a: b\\n\.db, identity [0-9a-f]{32}: ready\n\Z")


class Key(Cli):
    def setUp(self):
        super().setUp()
        self.file = self.dir / "ids.key"

    def keys(self):
        return [line.split() for line in self.file.read_text().splitlines() if not line.startswith("#")]

    def test_new_makes_a_file_that_only_its_owner_can_read_and_never_shows_the_key(self):
        old = os.umask(0)
        try:
            out = self.good("key", "new", "ids.key").out
        finally:
            os.umask(old)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o400)
        ((version, key),) = self.keys()
        self.assertEqual(version, "1")
        self.assertRegex(key, r"\A[0-9a-f]{64}\Z")
        self.assertNotIn(key[:8], out)
        self.good("key", "new", "other.key")
        self.assertNotIn(key, (self.dir / "other.key").read_text())

    def test_new_never_replaces_a_file_nor_follows_a_link(self):
        self.good("key", "new", "ids.key")
        before = self.file.read_bytes()
        self.assertIn("a key that is in use is never overwritten", self.failed("key", "new", "ids.key"))
        (self.dir / "link.key").symlink_to("elsewhere.key")
        self.failed("key", "new", "link.key")
        self.assertFalse((self.dir / "elsewhere.key").exists())
        self.assertEqual(self.file.read_bytes(), before)

    def test_rotate_adds_a_version_and_keeps_the_others_and_the_mode(self):
        self.good("key", "new", "ids.key")
        self.assertEqual(self.good("key", "check", "ids.key").out, "key version 1: hides and reveals\n")
        self.assertIn("which keys?", self.usage("key", "check"))
        self.file.chmod(0o600)
        first = self.keys()[0]
        self.assertIn("added key version 2", self.good("key", "rotate", "ids.key").out)
        self.assertEqual(self.keys()[0], first)
        self.assertEqual([version for version, _ in self.keys()], ["1", "2"])
        self.assertNotEqual(self.keys()[1][1], first[1])
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertEqual(
            self.good("key", "check", "ids.key").out, "key version 1: reveals\nkey version 2: hides and reveals\n"
        )

    def test_retire_marks_a_version_whose_number_rotate_never_gives_again(self):
        self.good("key", "new", "ids.key")
        self.good("key", "rotate", "ids.key")
        key = self.keys()[1][1]
        self.good("key", "retire", "ids.key", 2)
        self.assertEqual(self.keys()[1], ["2", key, "retired"])
        self.good("key", "rotate", "ids.key")
        self.assertEqual([line[0] for line in self.keys()], ["1", "2", "3"])
        self.assertIn("key version 2: retired, reveals only\n", self.good("key", "check", "ids.key").out)
        self.assertIn("is retired already", self.usage("key", "retire", "ids.key", 2))
        self.assertIn("there is no key version 4", self.usage("key", "retire", "ids.key", 4))

    def test_a_file_that_is_wrong_or_being_changed_is_left_alone(self):
        wrong = "1 00112233445566778899aabbccddee\n"
        self.file.touch(0o600)
        self.file.write_text(wrong)
        self.assertIn("30 hexadecimal digits", self.refused("CONFIG_FILE", "key", "rotate", "ids.key"))
        self.assertEqual(self.file.read_text(), wrong)
        (self.dir / "ids.key.new").touch()
        at_work = self.failed("key", "rotate", "ids.key")
        self.assertIn("another `idgen key` is at work", at_work, "nothing is read that may be replaced meanwhile")
        self.file.write_text("1 00112233445566778899aabbccddeeff")  # without a line end
        (self.dir / "ids.key.new").unlink()
        self.good("key", "rotate", "ids.key")
        self.assertEqual(self.keys()[0], ["1", "00112233445566778899aabbccddeeff"])
        self.assertEqual(sorted(path.name for path in self.dir.iterdir() if "key" in path.name), ["ids.key"])

    def write_keys(self, path, versions, state=" retired"):
        """As a file that a program made. The state is of all but the last one."""
        lines = [f"{version} {key:032x}" for version, key in versions]
        path.touch(0o600)
        path.write_text("".join(f"{line}{state}\n" for line in lines[:-1]) + f"{lines[-1]}\n")

    def configure(self, *namespaces):
        """A table for each namespace, all with one key file."""
        (self.dir / "idgen.toml").write_text(
            "".join(
                f'[{name}]\nlayout = "business64"\nnamespace = "{name}"\nstore = "sqlite:{self.dir}/ids.db"\n'
                f'store_create = true\ncipher.key = "file:{self.file}"\n'
                for name in namespaces
            )
        )
        return [("--config", "idgen.toml", "--name", name) for name in namespaces]

    def begin(self, configuration, *changes):
        """As a process does: the store remembers its keys from now on."""
        changes = [argument for change in changes for argument in ("--set", change)]
        result = self.run_tool("decode", *configuration, *changes, "--hidden", 1)
        self.assertIn("its version field is 0", result.err)

    def archive_7(self, *configuration):
        return self.good("key", "retire", "kept.key", 7, "--archive", "--yes", *configuration).out

    def test_the_number_of_a_key_goes_to_another_one_in_two_steps(self):
        (shop,) = self.configure("shop")
        self.write_keys(self.file, [(version, version) for version in range(1, 31)])
        self.begin(shop)
        full = self.refused("VALUE", "key", "rotate", "ids.key", *shop)
        self.assertIn("`idgen key retire --archive` frees the number", full)

        retire = ("key", "retire", "ids.key")
        self.assertIn("retire it first", self.usage(*retire, 30, "--move-to", "kept.key"))
        self.assertIn("there is no key version 31", self.usage(*retire, 31, "--move-to", "kept.key"))
        self.assertIn("belong to --archive", self.usage(*retire, 7, "--move-to", "kept.key", "--yes"))
        self.assertFalse((self.dir / "kept.key").exists())
        before = self.file.read_text()
        (line,) = (line for line in before.splitlines(keepends=True) if line.startswith("7 "))
        self.assertIn("is in kept.key now", self.good(*retire, 7, "--move-to", "kept.key").out)
        self.assertEqual((self.dir / "kept.key").read_text(), line)
        self.assertEqual(stat.S_IMODE((self.dir / "kept.key").stat().st_mode), 0o600)
        self.assertEqual(self.file.read_text(), before.replace(line, ""))

        archive = ("key", "retire", "kept.key", 7, "--archive")
        self.assertIn("--config", self.usage(*archive, "--yes"))
        for store in ("memory", "jdbc:memory:shop"):
            self.assertIn("the store is in memory", self.usage(*archive, "--yes", *shop, "--set", f"store={store}"))
        self.assertIn("nothing was changed", self.usage(*archive, *shop))
        self.assertIn("archived: none", self.good("key", "check", *shop).out)
        self.assertIn("key version 7 is archived", self.good(*archive, "--yes", *shop).out)
        self.assertIn("archived: 7; free for another key: 7\n", self.good("key", "check", *shop).out)

        out = self.good("key", "rotate", "ids.key", *shop).out
        self.assertIn("added key version 7", out)
        self.assertIn("set cipher.version = 7: without it, version 30 hides", out)
        # A copy of the file with the old key.
        self.file.write_text(before)
        self.assertIn("was archived", self.refused("FORMAT_MISMATCH", "key", "check", *shop))

    def test_archive_takes_no_key_that_is_in_use_whichever_file_it_is_read_from(self):
        (shop,) = self.configure("shop")
        self.write_keys(self.file, [(7, 7), (8, 8)])
        self.begin(shop)
        archive = ("--archive", "--yes", *shop)
        self.assertIn("version 8 of ids.key is not retired", self.usage("key", "retire", "ids.key", 7, *archive))
        (self.dir / "kept.key").touch(0o600)
        (self.dir / "kept.key").write_text(f"7 {7:032x} retired\n")
        still = self.usage("key", "retire", "kept.key", 7, *archive)
        self.assertIn("cipher.key of the configuration still has this key version 7", still)
        with (self.dir / "idgen.toml").open("a") as file:  # which the key to archive need not have
            file.write("cipher.version = 8\n")
        self.assertIn("still has this key", self.usage("key", "retire", "kept.key", 7, *archive))
        self.write_keys(self.file, [(8, 8)])
        (self.dir / "kept.key").write_text(f"7 {77:032x} retired\n")
        self.refused("FORMAT_MISMATCH", "key", "retire", "kept.key", 7, *archive)

    def test_rotate_gives_a_number_that_is_free_for_ids_of_both_lengths(self):
        (bank,) = self.configure("bank")
        both = ("--set", "on_full=widen")
        self.write_keys(self.file, [(version, version) for version in range(1, 31)])
        self.begin(bank, "on_full=widen")
        self.good("key", "retire", "ids.key", 7, "--move-to", "kept.key")
        # Only ids of 8 bytes: those of 16 have the key still.
        self.archive_7(*bank)
        free = re.compile(r"free for another key: (.*)")
        self.assertEqual(free.findall(self.good("key", "check", *bank, *both).out), ["7", "none"])
        self.refused("VALUE", "key", "rotate", "ids.key", *bank, *both)
        self.archive_7(*bank, *both)
        self.assertIn("added key version 7", self.good("key", "rotate", "ids.key", *bank, *both).out)

    def test_rotate_gives_an_archived_number_only_when_there_is_none_above_the_others(self):
        (shop,) = self.configure("shop")
        self.write_keys(self.file, [(version, version) for version in (5, 6, 28, 29, 7)])
        self.begin(shop)
        for version in (29, 5):
            self.good("key", "retire", "ids.key", version, "--move-to", f"{version}.key")
            self.good("key", "retire", f"{version}.key", version, "--archive", "--yes", *shop)
        for version in (30, 5, 29):  # 29 is in no file any more, and counts
            self.assertIn(f"added key version {version}", self.good("key", "rotate", "ids.key", *shop).out)
        self.refused("VALUE", "key", "rotate", "ids.key", *shop)

    def test_a_hint_about_the_version_that_hides_names_none_that_is_retired(self):
        (shop,) = self.configure("shop")
        self.write_keys(self.file, [(7, 7), (30, 30)])
        self.begin(shop)
        self.good("key", "retire", "ids.key", 7, "--move-to", "kept.key")
        self.good("key", "retire", "ids.key", 30)
        self.archive_7(*shop)
        out = self.good("key", "rotate", "ids.key", *shop).out
        self.assertIn("added key version 7", out)
        self.assertNotIn("without it", out)

    def test_a_line_that_is_moved_is_in_one_of_the_files_at_every_moment(self):
        self.write_keys(self.file, [(7, 7), (8, 8)])
        before = self.file.read_text()
        move = ("key", "retire", "ids.key", 7, "--move-to", "kept.key")
        # Interrupted: the new files are there, and the old one is as it was.
        (self.dir / "ids.key.new").touch()
        self.assertIn("another `idgen key` is at work", self.failed(*move))
        self.assertFalse((self.dir / "kept.key").exists())
        (self.dir / "ids.key.new").unlink()
        (self.dir / "kept.key").write_text("what an earlier one left")
        self.assertIn("a key is never overwritten", self.failed(*move))
        self.assertEqual((self.dir / "kept.key").read_text(), "what an earlier one left")
        self.assertEqual(self.file.read_text(), before)
        only = self.dir / "only.key"
        only.touch(0o600)
        only.write_text(f"7 {7:032x} retired\n")
        self.assertIn("the only one", self.usage("key", "retire", only, 7, "--move-to", "another.key"))
        self.assertEqual(
            sorted(path.name for path in self.dir.iterdir() if "key" in path.name), ["ids.key", "kept.key", "only.key"]
        )

    def test_a_line_is_found_wherever_the_library_reads_a_version(self):
        self.file.touch(0o600)
        self.file.write_bytes(b"# 7\n\n \r\t07 %032x\r\n8 %032x\n" % (7, 8))
        self.good("key", "retire", "ids.key", 7)
        self.good("key", "retire", "ids.key", 7, "--move-to", "kept.key")
        self.assertEqual(self.good("key", "check", "ids.key").out, "key version 8: hides and reveals\n")
        self.assertIn("key version 7: retired", self.good("key", "check", "kept.key").out)

    def test_a_configuration_in_another_folder_does_not_change_which_file_is_meant(self):
        (shop,) = self.configure("shop")
        (self.dir / "etc").mkdir()
        (self.dir / "idgen.toml").rename(self.dir / "etc" / "idgen.toml")
        self.good("key", "new", "ids.key")
        shop = ("--config", "etc/idgen.toml", *shop[2:])
        self.good("key", "rotate", "ids.key", *shop)
        self.assertRegex(
            self.good("key", "check", "ids.key", *shop).out, "key version 2: hides .*, check value [0-9a-f]"
        )


class Segment(Cli):
    STORE = ("--store", "sqlite:ids.db")
    ORDERS = (*STORE, "--tag", "orders")
    THERE = ("--store", "sqlite:there.db", "--tag", "orders")

    def create(self, *more, tag="orders"):
        return self.good("segment", "create", *self.STORE, "--tag", tag, *more).out

    def advance(self, to, *more):
        return self.good("segment", "advance", *self.ORDERS, "--to", to, *more)

    def next(self, count=1, where=ORDERS):
        """The last of so many."""
        return int(self.good("next", "--kind", "segment", *where, "-n", count).lines[-1])

    def show(self, tag="orders"):
        return self.object("segment", "show", *self.STORE, "--tag", tag)

    def test_create_makes_the_store_and_the_tag(self):
        self.assertIn("created tag 'orders'", self.create())
        shown = self.show()
        self.assertEqual((shown["namespace"], shown["tag"], shown["max_id"]), ("default", "orders", 0))

    def test_create_if_missing_may_be_run_each_time(self):
        for what in ("created", "exists; nothing is changed"):
            self.assertIn(what, self.create("--if-missing"))
        self.advance(500)
        self.create("--if-missing")
        self.assertEqual(self.show()["max_id"], 500)

    def test_a_retired_tag_ends_and_says_where(self):
        self.create("--above", 500)
        self.assertIn("--force", self.usage("segment", "retire", *self.ORDERS))
        self.assertEqual(self.show()["max_id"], 500)
        retired = ("segment", "retire", *self.ORDERS, "--force")
        self.assertEqual(self.object(*retired)["last"], 500)
        self.assertIn("was retired at 500", self.refused("EXHAUSTED", *retired))

    def test_a_tag_is_made_above_a_number(self):
        self.assertIn("begins above 500", self.create("--above", 500))
        self.assertEqual(self.next(), 501)
        self.assertIn("at 0", self.usage("segment", "create", *self.STORE, "--tag", "t", "--above", 5, "--print"))
        said = self.refused("VALUE", "segment", "create", *self.STORE, "--tag", "t", "--above", LARGEST + 1)
        self.assertIn("allowed: 0 to", said)

    def test_a_tag_that_exists_below_the_number_is_not_as_good_as_made_above_it(self):
        self.create("--above", 7)
        said = self.refused("TAG_EXISTS", "segment", "create", *self.ORDERS, "--above", 100, "--if-missing")
        self.assertIn("stands at 7, below 100: raise it with `idgen segment advance`", said)
        self.create("--above", 7, "--if-missing")

    def move(self, to=THERE[1], *more):
        return ("segment", "move", "--from", self.STORE[1], "--to", to, "--tag", "orders", *more)

    def test_a_move_does_not_go_on_in_a_tag_that_somebody_made_meanwhile(self):
        self.create("--above", 41)
        self.good("segment", "retire", *self.ORDERS, "--force")  # its first half
        self.good("next", *self.THERE, "--kind", "segment", "--set", "store_create=true")
        said = self.refused("TAG_EXISTS", *self.move(self.THERE[1], "--resume"))
        self.assertIn("may be in use twice", said)
        self.good("segment", "advance", *self.THERE, "--to", 41)
        self.assertIn("above 42", self.good(*self.move(self.THERE[1], "--resume")).out)

    def test_a_move_that_fails_leaves_nothing_in_the_new_store_and_goes_on_when_it_is_run_again(self):
        self.create("--above", 5)
        with contextlib.closing(sqlite3.connect(self.dir / "ids.db")) as holder:
            holder.execute("BEGIN IMMEDIATE")
            result = self.run_tool(*self.move(), "--set", "store_timeout=200ms")
            self.assertEqual(result.status, TRY_AGAIN, result.err)
        self.refused("TAG_UNKNOWN", "segment", "show", *self.THERE)
        self.assertEqual(self.next(), 6)
        self.assertIn("above 6", self.good(*self.move()).out)
        self.assertEqual(self.next(where=self.THERE), 7)

    def test_a_move_that_is_stopped_after_it_has_retired_the_old_tag_goes_on_when_it_is_run_again(self):
        self.create("--above", 41)
        self.good("segment", "set-step", *self.ORDERS, "--step", 20)
        self.good("segment", "retire", *self.ORDERS, "--force")  # its first half
        again = self.refused("EXHAUSTED", *self.move())
        self.assertIn("retired at 41. If a move of it to sqlite:there.db was stopped", again)
        self.assertFalse((self.dir / "there.db").exists())
        moved = self.object(*self.move(self.THERE[1], "--resume"))
        self.assertEqual((moved["last"], moved["max_id"]), (41, 41))
        self.assertEqual(self.object("segment", "show", *self.THERE)["step"], 20)

    def test_a_move_whose_output_is_lost_says_the_number_when_it_is_run_again(self):
        self.create("--above", 41)
        with open("/dev/full", "w") as full:
            subprocess.run([TOOL, *self.move()], cwd=self.dir, stdout=full, stderr=subprocess.PIPE, env=environment())
        self.assertEqual(self.next(where=self.THERE), 42)
        self.assertIn("granted is 41\n", self.good(*self.move(self.THERE[1], "--resume")).out)

    def test_a_tag_goes_on_in_one_other_store_above_all_that_was_granted(self):
        self.create()
        drawn = self.next(20)
        self.assertIn("goes on in sqlite:there.db above", self.good(*self.move()).out)
        self.assertGreater(self.next(where=self.THERE), drawn)
        self.refused("EXHAUSTED", "next", *self.ORDERS, "--kind", "segment")
        self.assertIn("goes on nowhere else", self.refused("EXHAUSTED", *self.move("sqlite:third.db")))
        self.assertFalse((self.dir / "third.db").exists())

    def test_a_tag_is_not_moved_to_its_own_store_by_another_name(self):
        self.create()
        self.assertIn("are the same store", self.usage(*self.move(self.STORE[1])))
        for drawn in (0, 5):  # a tag that nobody has drawn from is told apart too
            if drawn:
                self.next(drawn)
            self.assertIn("two names of one store", self.usage(*self.move("sqlite:./ids.db")))
        self.next()

    def test_nothing_is_moved_from_or_to_memory_nor_a_tag_that_there_is_not(self):
        self.create()
        for store in ("memory", "memory:here", "jdbc:memory"):
            self.assertIn("ends with this command", self.usage(*self.move(store)))
        self.assertEqual(self.next(), 1)
        self.refused("TAG_UNKNOWN", *self.move()[:-1], "order")

    def test_a_leap_of_more_than_a_billion_is_made_only_by_force(self):
        self.create()
        self.advance(10**9)  # not more
        error = self.usage("segment", "advance", *self.ORDERS, "--to", LARGEST)
        for part in (10**9, LARGEST, LARGEST - 10**9, "leave 0", "never lowered", "--force"):
            self.assertIn(str(part), error)
        self.usage("segment", "advance", *self.ORDERS, "--to", 2 * 10**9 + 1)
        self.assertEqual(self.show()["max_id"], 10**9)
        self.advance(2 * 10**9 + 1, "--force")
        self.assertEqual(self.show()["max_id"], 2 * 10**9 + 1)

    def test_what_is_not_known_is_a_word_in_lines_a_dash_in_the_list_and_empty_in_json(self):
        self.create()
        out = self.good("segment", "show", *self.ORDERS).out
        for line in ("max_id +0", r"step +each generator's own segment\.step", "rate +unknown", "holder +unknown"):
            self.assertRegex(out, f"(?m)^{line}$")
        line = self.good("segment", "show", *self.STORE).lines[1].split()
        self.assertEqual([line[4], line[5], line[-1]], ["-", "-", "-"])
        shown = self.show()
        self.assertEqual([shown["step"], shown["rate"], shown["holder"]], [0, 0, ""])

    def test_show_without_a_tag_shows_all(self):
        for namespace, tag in (("b", "orders"), ("a", "orders"), ("a", "invoices")):
            self.create("--namespace", namespace, tag=tag)
        self.advance(7, "--namespace", "b")
        lines = self.good("segment", "show", *self.STORE).lines
        self.assertEqual(
            lines[0].split(), ["namespace", "tag", "max_id", "grants", "step", "rate", "updated", "holder"]
        )
        self.assertEqual(
            [line.split()[:3] for line in lines[1:]],
            [["a", "invoices", "0"], ["a", "orders", "0"], ["b", "orders", "7"]],
        )
        self.assertEqual([row["max_id"] for row in self.objects("segment", "show", *self.STORE)], [0, 0, 7])

    def imported(self, tag, *arguments):
        return self.object("segment", "import", *self.STORE, "--tag", tag, *arguments)

    def test_import_begins_above_another_tag_and_never_lowers(self):
        self.create("--above", 500)
        first = self.imported("invoices", "--from-tag", "orders", "--margin", 20)
        self.assertEqual((first["found"], first["margin"], first["created"], first["max_id"]), (500, 20, True, 520))
        again = self.imported("invoices", "--from-tag", "orders")
        self.assertEqual(again["created"], False)
        self.assertGreater(again["max_id"], 520)
        self.assertEqual(self.show("orders")["max_id"], 500)

    def test_import_of_a_misspelt_tag_names_those_that_are_there_and_does_not_advise_to_begin_at_0(self):
        for tag in ("orders", "invoices"):
            self.create(tag=tag)
        self.create("--namespace", "other", tag="elsewhere")
        error = self.refused("TAG_UNKNOWN", "segment", "import", *self.STORE, "--tag", "new", "--from-tag", "order")
        for part in ("'order'", "'orders'", "'invoices'", "--from-tag", "Nothing was imported"):
            self.assertIn(part, error)
        for part in ("elsewhere", "segment create", "begins at 0", "store_create"):
            self.assertNotIn(part, error)
        self.refused("TAG_UNKNOWN", "segment", "show", *self.STORE, "--tag", "new")

    def test_a_margin_of_more_than_a_billion_is_left_only_by_force(self):
        self.create()
        base = ("segment", "import", *self.STORE, "--tag", "new", "--from-tag", "orders", "--margin", 10**9 + 1)
        self.assertIn("--force", self.usage(*base))
        self.refused("TAG_UNKNOWN", "segment", "show", *self.STORE, "--tag", "new")
        self.good(*base, "--force")
        self.assertEqual(self.show("new")["max_id"], 10**9 + 1)

    def test_import_asks_for_one_source_that_is_not_the_tag_itself(self):
        self.create()
        base = ("segment", "import", *self.ORDERS)
        self.assertIn("from where", self.usage(*base))
        self.assertIn("from where", self.usage(*base, "--from-table", "a", "--from-column", "b", "--from-tag", "c"))
        self.assertIn("--from-column", self.usage(*base, "--from-table", "a"))
        self.assertIn("needs --from-table", self.usage(*base, "--from-column", "a"))
        self.assertIn("give --from-table", self.usage(*base, "--from-tag", "t", "--sequence", "x"))
        self.assertIn("itself", self.usage(*base, "--from-tag", "orders"))
        source = ("--from-schema", "idgen", "--from-tag", "orders", "--from-namespace", "default")
        self.assertIn("2^63", self.usage(*base, *source, "--namespace", "b", "--margin", 2**63))

    def test_print_runs_nothing_and_each_name_stays_on_its_line_and_means_the_same(self):
        printed = []
        for tag, namespace in (("it's", "default"), (NASTY, "x\n--y")):
            out = self.create("--namespace", namespace, "--print", tag=tag)
            printed.append(out.count("\n"))
            self.assertNotRegex(out, "[\t\x1b]")
            with sqlite3.connect(":memory:") as database:
                database.executescript(out)
                rows = database.execute("SELECT ns, tag, max_id FROM idgen_segment").fetchall()
            self.assertEqual(rows, [(namespace, tag, 0)])
        self.assertEqual(printed[0], printed[1])
        self.assertFalse((self.dir / "ids.db").exists())

    def test_a_name_stays_on_one_line_wherever_it_is_shown(self):
        shown = r"a\nb\t\x1b[2Jc\xc2\x85d"
        created = self.create(tag=NASTY)
        self.assertEqual(created.count("\n"), 1)
        self.assertIn(shown, created)
        with sqlite3.connect(self.dir / "ids.db") as store:
            store.execute("UPDATE idgen_segment SET holder = ?", (NASTY,))
        self.assertEqual(len(self.good("segment", "show", *self.STORE, "--tag", NASTY).lines), 8)
        (_, row) = self.good("segment", "show", *self.STORE).lines
        self.assertEqual(row.count(shown), 2)
        self.assertIn(shown, self.good("segment", "import", *self.STORE, "--tag", "t", "--from-tag", NASTY).out)
        for arguments in (("show",), ("advance", "--to", 5)):
            self.refused("TAG_UNKNOWN", "segment", *arguments, *self.STORE, "--tag", "no" + NASTY)  # of one line
        self.assertIn(shown, self.usage("segment", "advance", *self.STORE, "--tag", NASTY, "--to", LARGEST))

    def test_the_tag_of_a_file_s_table_is_its_name(self):
        (self.dir / "idgen.toml").write_text('[orders]\nkind = "segment"\nstore = "sqlite:ids.db"\n')
        self.good("segment", "create", "--config", "idgen.toml", "--name", "orders")
        self.assertEqual(self.show()["max_id"], 0)

    def test_incomplete_commands_are_usage_errors(self):
        self.usage("segment")
        self.usage("segment", "drop")
        self.assertIn("which tag?", self.usage("segment", "create", *self.STORE))
        self.usage("segment", "advance", *self.STORE, "--tag", "t")
        self.usage("segment", "advance", *self.STORE, "--tag", "t", "--to", "-5")


class Properties(Cli):
    def setUp(self):
        super().setUp()
        self.properties = self.objects("properties")

    def test_json_and_the_list_for_people_have_every_property(self):
        out = self.good("properties").out
        for name in ("kind", "layout", "worker", "store", "segment.step", "on_clock_back", "wait_max"):
            self.assertIn(name, [p["name"] for p in self.properties])
        for p in self.properties:
            self.assertEqual(list(p), ["name", "type", "default", "range", "unit", "help", "since"])
            self.assertTrue(p["help"].endswith("."), p["name"])
            self.assertIn(p["name"], out)

    def test_the_page_has_a_row_and_a_section_for_each_property(self):
        page = self.good("properties", "--markdown").out
        self.assertTrue(page.startswith("# Configuration\n"))
        for p in self.properties:
            name = p["name"]
            self.assertEqual(page.count(f"\n## {name}\n"), 1)
            self.assertEqual(page.count(f"\n| [`{name}`](#{name.replace('.', '')}) |"), 1)
        # Every row has as many cells as the head: no value broke the table.
        rows = [row for row in page.splitlines() if row.startswith("| [`")]
        self.assertEqual({len(re.findall(r"(?<!\\)\|", row)) for row in rows}, {6})

    def test_the_defaults_are_what_a_generator_uses(self):
        for p in self.properties:
            if p["default"] and p["name"] not in ("store", "store_create"):
                setting = f"{p['name']}={p['default']}" if p["name"] != "kind" else "kind=segment"
                memory = ("--store", "memory", "--set", "store_create=true")
                self.good("next", "--kind", "segment", *memory, "--set", setting)

    def test_the_prose_of_the_page_ends_at_120_columns_and_reads_as_before(self):
        page = self.good("properties", "--markdown").out
        prose = [line for line in page.splitlines() if not line.startswith("|")]
        self.assertLessEqual(max(map(len, prose)), 120)
        for p in self.properties:
            section = page.partition(f"\n## {p['name']}\n\n")[2].partition("\n\n")[0]
            self.assertEqual(" ".join(section.split("\n")), p["help"])
            for start in section.split("\n"):  # nothing that Markdown takes for a list, a heading or a quotation
                self.assertNotRegex(start, r"^([-+*#>]|\d+[.)]) ", p["name"])

    def test_two_forms_at_once_are_a_usage_error(self):
        self.usage("properties", "--json", "--markdown")


class Metrics(Cli):
    def configure(self):
        (self.dir / "idgen.toml").write_text(
            '[orders]\nkind = "segment"\nstore = "sqlite:ids.db"\n'
            '[posts]\nkind = "business"\nlayout = "gene:16 version:5 segment:42"\nstore = "sqlite:ids.db"\n'
            '[events]\nworker = 7\nstore = "sqlite:ids.db"\n'
        )
        for name in ("orders", "posts"):
            self.good("segment", "create", "--config", "idgen.toml", "--name", name)

    @staticmethod
    def samples(text):
        """By name and labels; the help and the type of a metric come before its samples, and once."""
        found, described, current = {}, [], ""
        for line in text.splitlines():
            if line.startswith("# HELP "):
                current = line.split()[2]
                described.append(current)
            elif line.startswith("# TYPE "):
                assert line.split()[2] == current
                assert (line.split()[3] == "counter") == current.endswith("_total")
            else:
                assert line.partition("{")[0] == current
                name, value = line.rsplit(" ", 1)
                assert name not in found, f"{name} is there twice"
                found[name] = float(value)
        assert len(described) == len(set(described))
        return found

    def metrics(self, *where):
        return self.samples(self.good("metrics", *where).out)

    def test_a_files_generators_say_how_far_they_have_come(self):
        self.configure()
        self.good("segment", "advance", "--config", "idgen.toml", "--name", "posts", "--to", "1000")
        self.good("next", "--config", "idgen.toml", "--name", "events")
        before = self.good("segment", "show", "--store", "sqlite:ids.db", "--json").out
        started = time.time()
        found = self.metrics("--config", "idgen.toml")
        store = 'store="sqlite:ids.db"'
        for name in ("orders", "posts", "events"):
            self.assertEqual(found[f'idgen_store_up{{{store},name="{name}",status="OK"}}'], 1)
        read_at = found[f'idgen_store_read_timestamp_seconds{{{store},name="orders"}}']
        self.assertTrue(started - 1 <= read_at <= time.time() + 1, "so that an old file is seen")
        orders = f'{{{store},namespace="default",tag="orders"}}'
        posts = f'{{{store},namespace="default",tag="posts"}}'
        events = f'{{{store},namespace="default",worker="7"}}'
        self.assertEqual(found["idgen_store_tag_max_id" + orders], 0)
        self.assertEqual(found["idgen_store_tag_max_id" + posts], 1000)
        self.assertEqual(found["idgen_store_tag_ids_left" + posts], 2**42 - 1 - 1000, "what its segment field holds")
        self.assertEqual(found["idgen_store_tag_ids_left" + orders], float(LARGEST))
        self.assertEqual(found["idgen_store_worker_live" + events], 0)
        self.assertEqual(found[f'idgen_store_worker_numbers{{{store},namespace="default"}}'], 1024)
        self.assertFalse([name for name in found if "holder" in name], "nobody asked for it")
        after = self.good("segment", "show", "--store", "sqlite:ids.db", "--json").out
        self.assertEqual(before, after, "nothing is drawn")

    def test_a_store_says_it_of_all_its_tags_and_who_holds_them_if_asked(self):
        self.configure()
        self.good("segment", "create", "--store", "sqlite:ids.db", "--tag", 'a "b"\n', "--namespace", "other")
        self.good("next", "--config", "idgen.toml", "--name", "orders")
        text = self.good("metrics", "--store", "sqlite:ids.db", "--holders").out
        found = self.samples(text)
        self.assertIn('idgen_store_tag_max_id{store="sqlite:ids.db",namespace="other",tag="a \\"b\\"\\n"}', found)
        self.assertRegex(text, r'(?m)^idgen_store_tag_holder\{.*tag="orders",holder="process \d+ on [^"]+"\} 1$')

    def test_what_cannot_be_read_is_down_and_the_rest_is_there_all_the_same(self):
        self.configure()
        with (self.dir / "idgen.toml").open("a") as file:
            file.write('[lost]\nkind = "segment"\nstore = "sqlite:lost.db"\n')
        result = self.run_tool("metrics", "--config", "idgen.toml")
        self.assertEqual(result.status, FAILURE)
        self.assertRegex(result.err, r"\Aidgen: error: STORE_MISSING: .+\n\Z")
        found = self.samples(result.out)
        self.assertEqual(found['idgen_store_up{store="sqlite:lost.db",name="lost",status="STORE_MISSING"}'], 0)
        self.assertEqual(found['idgen_store_up{store="sqlite:ids.db",name="orders",status="OK"}'], 1)

    def test_a_file_is_replaced_at_once(self):
        self.configure()
        path = self.dir / "ids.prom"
        path.write_text("old")
        inode, mode = path.stat().st_ino, path.stat().st_mode
        self.assertEqual(self.good("metrics", "--config", "idgen.toml", "--output", "ids.prom").out, "")
        self.assertIn("idgen_store_tag_max_id", path.read_text())
        self.assertNotEqual(path.stat().st_ino, inode, "whoever reads the old one still has all of it")
        self.assertEqual(path.stat().st_mode, mode, "as of any file that this user makes")
        (self.dir / "a-folder").mkdir()
        output = ("metrics", "--config", "idgen.toml", "--output")
        self.assertIn("error: cannot replace a-folder", self.failed(*output, "a-folder"))
        self.assertEqual([file.name for file in self.dir.glob("*.??????")], [], "nothing is left beside it")
        self.assertIn("error: cannot write missing/ids.prom", self.failed(*output, "missing/ids.prom"))
        self.assertIn("idgen_store_up", self.good(*output, "-").out)
        self.assertFalse((self.dir / "-").exists())

    def test_only_a_file_is_replaced_and_a_link_stays(self):
        self.configure()
        os.mkfifo(self.dir / "a-pipe")
        (self.dir / "to-the-pipe").symlink_to("a-pipe")
        for name in ("a-pipe", "to-the-pipe"):
            error = self.failed("metrics", "--config", "idgen.toml", "--output", name)
            self.assertRegex(error, rf"\Aidgen: error: cannot replace {name}: it is a pipe\. .*standard output\n")
        self.assertTrue((self.dir / "a-pipe").is_fifo())
        (self.dir / "there").mkdir()
        (self.dir / "there" / "old.prom").write_text("old")
        for target in ("old.prom", "new.prom"):  # a link to what is not there yet is as good
            link = self.dir / f"link-to-{target}"
            link.symlink_to(f"there/{target}")
            self.good("metrics", "--config", "idgen.toml", "--output", link.name)
            self.assertTrue(link.is_symlink())
            self.assertIn("idgen_store_up", (self.dir / "there" / target).read_text())
        (self.dir / "loop").symlink_to("loop")
        self.assertIn("cannot replace loop: ", self.failed("metrics", "--config", "idgen.toml", "--output", "loop"))

    def test_a_broken_configuration_leaves_no_file_that_says_all_is_well(self):
        self.configure()
        good = (self.dir / "idgen.toml").read_text()
        self.good("metrics", "--config", "idgen.toml", "--output", "ids.prom")
        for text, status, up in (
            ("[orders\n", "CONFIG_FILE", 'store="",name="idgen.toml",status="CONFIG_FILE"'),
            ("", "CONFIG_FILE", 'store="",name="idgen.toml",status="CONFIG_FILE"'),
            (good + '[bad]\nkind = "segmnt"\n', "VALUE", 'store="",name="bad",status="VALUE"'),
        ):
            (self.dir / "idgen.toml").write_text(text)
            self.refused(status, "metrics", "--config", "idgen.toml", "--output", "ids.prom")
            found = self.samples((self.dir / "ids.prom").read_text())
            self.assertEqual(found[f"idgen_store_up{{{up}}}"], 0, text)
            still = 'idgen_store_up{store="sqlite:ids.db",name="orders",status="OK"}'
            self.assertEqual(still in found, text.startswith(good), "what can be read is read")

    def test_of_two_generators_on_one_row_the_narrower_says_what_is_left(self):
        for first, second in (("wide", "narrow"), ("narrow", "wide")):
            bits = {"wide": 42, "narrow": 20}
            (self.dir / "idgen.toml").write_text(
                "".join(
                    f'[{name}]\nkind = "business"\nlayout = "gene:16 version:5 segment:{bits[name]}"\n'
                    'tag = "posts"\nstore = "sqlite:ids.db"\n'
                    for name in (first, second)
                )
            )
            self.good("segment", "create", "--config", "idgen.toml", "--name", "wide", "--if-missing")
            found = self.metrics("--config", "idgen.toml")
            left = found['idgen_store_tag_ids_left{store="sqlite:ids.db",namespace="default",tag="posts"}']
            self.assertEqual(left, 2**20 - 1)

    def test_a_retired_tag_has_no_ids_left_to_watch_and_one_that_is_used_up_has_none_left(self):
        self.configure()
        self.good("segment", "retire", "--config", "idgen.toml", "--name", "orders", "--force")
        self.good("segment", "advance", "--config", "idgen.toml", "--name", "posts", "--to", LARGEST, "--force")
        for where in (("--config", "idgen.toml"), ("--store", "sqlite:ids.db")):
            found = self.metrics(*where)
            store = 'store="sqlite:ids.db",namespace="default"'
            orders, posts = f'{{{store},tag="orders"}}', f'{{{store},tag="posts"}}'
            self.assertEqual(found["idgen_store_tag_max_id" + orders], float(LARGEST))
            self.assertNotIn("idgen_store_tag_ids_left" + orders, found)
            self.assertEqual(found["idgen_store_tag_ids_left" + posts], 0)

    def test_grants_do_not_fall_when_a_generator_gives_numbers_back(self):
        """What the alert IdgenTagWentBack relies on."""
        self.configure()
        orders = '{store="sqlite:ids.db",namespace="default",tag="orders"}'
        grants = [0]
        for _ in range(2):  # each takes a range and gives back what it did not use
            self.good("next", "--config", "idgen.toml", "--name", "orders", "--set", "segment.step=1000")
            found = self.metrics("--store", "sqlite:ids.db")
            self.assertLess(found["idgen_store_tag_max_id" + orders], 1000)
            grants.append(found["idgen_store_tag_grants_total" + orders])
        self.assertEqual(grants, sorted(set(grants)))

    def test_a_store_must_be_named_whose_password_is_no_label(self):
        result = self.run_tool(
            *("metrics", "--store", "postgres://app:hunter2@127.0.0.1:1/ids", "--set", f"module.path={MODULES}"),
        )
        self.assertEqual(result.status, TRY_AGAIN, result.err)
        self.assertNotIn("hunter2", result.out + result.err)
        self.assertIn('status="STORE_UNAVAILABLE"} 0', result.out)
        self.assertIn("--store", self.usage("metrics"))


class Doctor(Cli):
    def configure(self):
        (self.dir / "idgen.toml").write_text(
            '[orders]\nkind = "segment"\nstore = "sqlite:ids.db"\n[events]\nworker = 7\nstore = "sqlite:ids.db"\n'
        )

    def test_a_healthy_file_is_ok_and_says_what_it_guarantees(self):
        self.configure()
        self.good("segment", "create", "--config", "idgen.toml", "--name", "orders")
        out = self.good("doctor", "--config", "idgen.toml").out
        self.assertRegex(out, r"(?m)^ok +orders ")
        self.assertRegex(out, r"(?m)^ok +events ")
        self.assertIn("worker: worker 7 of namespace 'default'", out)
        self.assertIn("10000 numbers at a time", out)  # what a service does, not what doctor took
        for word in ("crash", "clock", "refused (STORE_REGRESSED) while its lock file is kept"):
            self.assertIn(word, out)
        not_covered = re.findall("(?m)^ +not covered: (.*)", out)
        restored = "a store restored from a backup while this process is down, unless its latest lock file was kept"
        self.assertEqual([line.startswith(restored) for line in not_covered], [True, False] * 2)

    def test_a_tag_of_a_store_is_compared_without_a_file_and_without_its_kind(self):
        self.good("segment", "create", "--store", "sqlite:ids.db", "--tag", "orders")
        compare = ("doctor", "--store", "sqlite:ids.db", "--above-table", "shop.orders.id")
        for kind in ((), ("--kind", "segment")):
            result = self.run_tool(*compare, "--tag", "orders", *kind)
            self.assertEqual(result.status, FAILURE)
            self.assertRegex(result.out, r"\Afail  orders  UNSUPPORTED: .*only the stores mysql, mariadb and postgres")
        self.assertIn("--tag", self.usage(*compare))
        for column in ("orders", "orders.", ".id"):
            compare = ("doctor", "--store", "sqlite:ids.db", "--above-table", column, "--tag", "orders")
            self.assertIn("TABLE.COLUMN", self.usage(*compare))

    def test_a_store_that_cannot_be_restored_has_nothing_to_say_about_that(self):
        (self.dir / "idgen.toml").write_text('[events]\nworker = 7\nstore = "memory"\n')
        out = self.good("doctor", "--config", "idgen.toml").out
        self.assertIn("not covered: a byte-wise clone", out)
        self.assertNotIn("restored", out)

    def test_one_that_cannot_be_opened_fails_and_the_others_are_examined_with_the_same_members_in_json(self):
        self.configure()
        self.good("segment", "create", "--store", "sqlite:ids.db", "--tag", "other")
        result = self.run_tool("doctor", "--config", "idgen.toml")
        self.assertRegex(result.out, r"(?m)^fail +orders +TAG_UNKNOWN: ")
        self.assertRegex(result.out, r"(?m)^ok +events ")
        result = self.run_tool("doctor", "--config", "idgen.toml", "--json")
        self.assertEqual(
            (result.status, result.err), (FAILURE, "idgen: error: 1 of 2 generators could not be opened\n")
        )
        orders, events = (json.loads(line) for line in result.lines)
        members = ["name", "verdict", "status", "message", "opened_ms", "description"]
        self.assertEqual((list(orders), list(events)), (members, members))
        self.assertEqual([orders[key] for key in members[:3]], ["orders", "fail", "TAG_UNKNOWN"])
        self.assertIn("orders", orders["message"])
        self.assertIsNone(orders["opened_ms"])
        self.assertEqual([events[key] for key in members[:4]], ["events", "ok", "OK", ""])
        self.assertGreater(events["opened_ms"], 0)
        out = self.run_tool("doctor", "--config", "idgen.toml", "--name", "events").out
        said = [line.strip() for line in out.splitlines()[1:]]
        self.assertEqual(events["description"].splitlines(), said)

    def test_a_file_that_cannot_be_read_is_refused(self):
        (self.dir / "empty.toml").write_text("")
        for name, *more in (("none.toml",), ("none.toml", "--json"), ("empty.toml",)):
            self.refused("CONFIG_FILE", "doctor", "--config", name, *more)
        self.usage("doctor")

    def test_no_id_is_drawn_and_what_was_taken_goes_back(self):
        self.configure()
        self.good("segment", "create", "--config", "idgen.toml", "--name", "orders")
        self.watch()
        self.good("doctor", "--config", "idgen.toml")
        self.assertEqual(self.watched(), [1, 0], "one number was taken, and went back")

    def test_a_side_of_the_buffer_that_is_down_is_a_warning(self):
        (self.dir / "idgen.toml").write_text(
            '[orders]\nkind = "segment"\nstore = "buffer"\nbuffer.redis = "redis://127.0.0.1:1"\n'
            f'buffer.database = "sqlite:ids.db"\nmodule.path = "{MODULES}"\n'
        )
        self.good("segment", "create", "--store", "sqlite:ids.db", "--tag", "orders")
        result = self.run_tool("doctor", "--config", "idgen.toml")
        self.assertEqual((result.status, result.err), (OK, ""))
        self.assertRegex(result.out, r"(?m)^warn +orders +opened in .* ms; Redis does not answer; ")


class Shard(Cli):
    TABLE = (
        'version = 7\nbits = 16\nshards = ["db0", "db1"]\n\n'
        '[[range]]\nupto = 16383\nshard = "db0"\n\n[[range]]\nupto = 65535\nshard = "db1"\n'
    )
    CUTOVER = ("shard", "cutover", "routes.toml", "--every", "1ms")

    def setUp(self):
        super().setUp()
        (self.dir / "routes.toml").write_text(self.TABLE)

    def rows(self, kind):
        return [row for row in self.objects("shard", "show", "routes.toml") if row["is"] == kind]

    def version(self):
        return self.rows("table")[0]["version"]

    def shares(self):
        return [row["percent"] for row in self.rows("move")]

    def plan(self, *arguments):
        return self.good("shard", "plan", "routes.toml", *arguments, "--out", "p.plan").out

    def split(self):
        self.plan("--split", "db1", "--into", "db2")
        self.good("shard", "apply", "routes.toml", "p.plan", "--yes")

    def test_show_has_the_shards_their_nodes_and_the_cut_over(self):
        out = self.good("shard", "show", "routes.toml").out
        self.assertRegex(out, r"(?m)^version +7$")
        self.assertRegex(out, r"(?m)^db1 +49 152 +75\.0 % +16384-65535$")
        self.assertNotIn("cut-over", out)
        self.split()
        out = self.good("shard", "show", "routes.toml").out
        self.assertRegex(out, r"(?m)^db2 +0 +0\.0 % +none$")
        self.assertRegex(out, r"(?m)^40960-65535 +0% +db1 -> db2$")
        self.assertEqual(self.rows("range")[1], {"is": "range", "first": 16384, "last": 65535, "shard": "db1"})
        self.assertEqual(self.rows("move"), [{"is": "move", "first": 40960, "last": 65535, "to": "db2", "percent": 0}])

    def test_a_plan_is_shown_and_changes_nothing(self):
        before = (self.dir / "routes.toml").read_text()
        out = self.plan("--split", "db1", "--into", "db2")
        self.assertIn("move nodes 40960-65535 from db1 to db2: 24 576 nodes\n1 run, 37.5 % of all load\n", out)
        self.assertEqual((self.dir / "routes.toml").read_text(), before)
        self.assertTrue((self.dir / "p.plan").read_text().startswith("idgen-plan 1\nwhat split db1"))
        out = self.plan("--merge", "db0", "--into", "db1")
        self.assertIn("move nodes 0-16383 from db0 to db1", out)

    def test_a_rebalance_by_measured_load_takes_what_is_above_the_mean(self):
        (self.dir / "load.csv").write_text("shard,load\ndb0,100\ndb1,500\n")
        out = self.plan("--rebalance", "--add", "db2", "--load", "load.csv", "--tolerance", "1%")
        moves = re.findall(r"move nodes \S+ from (\S+) to (\S+): \d+ load", out)
        self.assertEqual({*moves}, {("db1", "db0"), ("db1", "db2")})
        # db0's one node has more than the others together: nothing helps.
        (self.dir / "hot.csv").write_text("node,load\n5,100\n20000,1\n")
        out = self.good("shard", "plan", "routes.toml", "--rebalance", "--load", "hot.csv").out
        self.assertIn("note: db0 still has 198 % of the mean", out)

    def test_apply_asks_for_a_yes_and_begins_at_0_percent(self):
        self.plan("--split", "db1", "--into", "db2")
        unsure = self.run_tool("shard", "apply", "routes.toml", "p.plan")
        self.assertEqual(unsure.status, USAGE)
        self.assertIn("nothing was written yet. routes.toml would get version 8", unsure.err)
        self.assertEqual(self.version(), 7)
        self.good("shard", "apply", "routes.toml", "p.plan", "--yes")
        self.assertEqual((self.version(), self.shares()), (8, [0]))
        error = self.refused("STALE", "shard", "apply", "routes.toml", "p.plan", "--yes")
        self.assertIn("routes.toml has version 8, and the plan was made for version 7", error)

    def test_apply_at_once_gives_the_nodes_away(self):
        self.plan("--merge", "db0", "--into", "db1")
        self.good("shard", "apply", "routes.toml", "p.plan", "--at-once", "--yes")
        self.assertEqual(self.rows("range"), [{"is": "range", "first": 0, "last": 65535, "shard": "db1"}])
        self.assertEqual(self.shares(), [])

    def test_a_cut_over_goes_to_100_percent_in_steps_and_is_finished_by_hand(self):
        self.split()
        out = self.good(*self.CUTOVER, "--step", "40%").out
        self.assertEqual(
            re.findall(r"version (\d+)  nodes 40960-65535 to db2 at (\d+)%", out),
            [("9", "40"), ("10", "80"), ("11", "100")],
        )
        self.assertIn("Move the rows that are left", out)
        self.assertIn("If you are sure, add --yes", self.usage(*self.CUTOVER, "--finish"))
        self.assertEqual(self.version(), 11)
        self.good(*self.CUTOVER, "--finish", "--yes")
        self.assertEqual([row["shard"] for row in self.rows("range")], ["db0", "db1", "db2"])
        self.assertEqual(self.shares(), [])

    def test_a_cut_over_goes_back_in_steps_too(self):
        self.good(*self.CUTOVER, "--nodes", "0-1023", "--to", "db1", "--once")
        self.assertEqual(self.shares(), [0])
        for wanted in (0.5, 1, 1.5):
            self.good(*self.CUTOVER, "--nodes", "0-1023", "--once", "--step", "0.5%")
            self.assertEqual(self.shares(), [wanted])
        self.assertIn("A cut-over is finished at 100%", self.usage(*self.CUTOVER, "--finish", "--yes"))
        self.good(*self.CUTOVER, "--back", "--step", "1%", "--once")
        self.assertEqual(self.shares(), [0.5])
        out = self.good(*self.CUTOVER, "--back").out
        self.assertIn("All writes go to the old shards again", out)
        self.good(*self.CUTOVER, "--back", "--finish", "--yes")
        self.assertEqual((self.shares(), len(self.rows("range"))), ([], 2))

    def test_a_cut_over_waits_between_steps_and_goes_on_after_an_interrupt(self):
        self.split()
        with self.start("shard", "cutover", "routes.toml", "--step", "10%", "--every", "300ms") as driver:
            self.assertIn("at 10%", driver.stdout.readline())
            driver.send_signal(signal.SIGINT)
            _, err = driver.communicate(timeout=30)
        self.assertEqual(driver.returncode, 130)
        self.assertIn("the same command goes on", err)
        reached = self.shares()[0]
        self.assertIn(reached, (10, 20))
        out = self.good(*self.CUTOVER, "--step", "10%").out
        self.assertIn(f"at {reached + 10}%", out.splitlines()[0])
        self.assertEqual(self.shares(), [100])

    def test_of_two_operators_who_drive_at_once_one_stops(self):
        self.split()
        command = ("shard", "cutover", "routes.toml", "--step", "1%", "--every", "30ms")
        drivers = [self.start(*command) for _ in range(2)]
        results = [(driver, *driver.communicate(timeout=50)) for driver in drivers]
        stopped = [(driver, err) for driver, _, err in results if driver.returncode != OK]
        self.assertEqual(len(stopped), 1)
        self.assertEqual(stopped[0][0].returncode, FAILURE)
        self.assertIn("STALE", stopped[0][1])
        # Each version was written by one of them alone.
        versions = sorted(int(v) for _, out, _ in results for v in re.findall(r"version (\d+) ", out))
        self.assertEqual(versions, list(range(9, 109)))
        self.assertEqual(self.shares(), [100])

    def test_mistakes_are_named(self):
        self.assertIn(
            "there is no shard 'db7'", self.usage("shard", "plan", "routes.toml", "--split", "db7", "--into", "x")
        )
        self.assertIn("give one of", self.usage("shard", "plan", "routes.toml"))
        self.assertIn("--into", self.usage("shard", "plan", "routes.toml", "--split", "db0"))
        self.assertIn("no nodes are in cut-over", self.usage("shard", "cutover", "routes.toml"))
        self.assertIn("--every is '1x'", self.usage("shard", "cutover", "routes.toml", "--every", "1x"))
        self.assertIn("--step is '200%'", self.usage("shard", "cutover", "routes.toml", "--step", "200%"))
        self.assertIn("are not nodes", self.usage("shard", "cutover", "routes.toml", "--nodes", "9-1", "--to", "db1"))
        self.assertIn("are not in cut-over", self.usage("shard", "cutover", "routes.toml", "--nodes", "1-9"))
        error = self.refused("VALUE", *self.CUTOVER, "--nodes", "0-20000", "--to", "db1")
        self.assertIn("'db1', which already owns nodes 16384-20000", error)
        self.refused("CONFIG_FILE", "shard", "show", "missing.toml")
        (self.dir / "routes.toml").write_text(self.TABLE[:-20])
        self.assertIn("routes.toml", self.refused("CONFIG_FILE", "shard", "show", "routes.toml"))
        (self.dir / "routes.toml").write_text(self.TABLE)
        (self.dir / "p.plan").write_text("idgen-plan 1\nwhat half\n")
        self.assertIn("the plan has no end", self.usage("shard", "apply", "routes.toml", "p.plan", "--yes"))
        self.assertIn("No such file", self.failed("shard", "apply", "routes.toml", "missing.plan", "--yes"))

    def test_simulate_draws_before_and_after_in_the_terminal_and_as_a_picture(self):
        self.plan("--split", "db1", "--into", "db2")
        out = self.good("shard", "simulate", "routes.toml", "p.plan", "--svg", "load.svg").out
        self.assertRegex(out, r"db1  before █+ +49 152  75\.0 %\n +after  █+ +24 576  37\.5 %")
        root = xml.parse(self.dir / "load.svg").getroot()
        texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        for wanted in ("split db1 into db1 and db2", "before", "after", "shard", "nodes", "db2", "49 152"):
            self.assertIn(wanted, texts)
        bars = [
            node for node in root.iter("{http://www.w3.org/2000/svg}rect") if node.get("class") in ("before", "after")
        ]
        self.assertEqual(len(bars), 2 + 2 * 3)
        self.good("shard", "apply", "routes.toml", "p.plan", "--yes")
        self.assertIn("the cut-over of version 8", self.good("shard", "simulate", "routes.toml").out)


class Worker(Cli):
    STORE = ("--store", "sqlite:ids.db", "--worker", 7)
    YEAR_MS = 365 * 86_400_000

    def drawn(self):
        """The highest id of worker 7 that is in use."""
        return int(self.good("next", *self.STORE, "--set", "store_create=true", "-n", 5).lines[-1])

    def push_ahead(self):
        """Like a clock that is ten years ahead when a window is drawn, and right again before the next."""
        with sqlite3.connect(self.dir / "ids.db") as store:
            store.execute("UPDATE idgen_worker SET hw = hw + ?", (10 * self.YEAR_MS,))

    def show(self):
        return self.object("worker", "show", *self.STORE)

    def repair(self, *arguments):
        return ("worker", "repair", *self.STORE, "--above", *arguments)

    def test_show_says_up_to_where_time_is_reserved_and_who_owns_it(self):
        self.drawn()
        shown = self.show()
        self.assertEqual((shown["namespace"], shown["worker"], shown["fence"], shown["live"]), ("default", 7, 1, False))
        self.assertLess(abs(shown["ahead_ms"]), 60_000)
        self.assertRegex(shown["holder"], r"^process \d+ on ")
        out = self.good("worker", "show", *self.STORE).out
        self.assertRegex(out, r"(?m)^hw +20.*reserved up to here$")
        self.assertRegex(out, r"(?m)^owner +none alive; the latest was process ")
        self.assertIn("nobody has had it yet", self.good("worker", "show", *self.STORE, "--set", "worker=8").out)

    def test_list_shows_every_worker_of_the_namespace_that_anybody_has_had(self):
        self.good("store", "create", "--store", "sqlite:ids.db")
        workers = ("worker", "list", "--store", "sqlite:ids.db")
        self.assertEqual(self.good(*workers).out, "nobody has had a worker of namespace 'default' yet\n")
        for worker in (9, 7):
            self.good("next", "--store", "sqlite:ids.db", "--worker", worker)
        self.good("next", "--store", "sqlite:ids.db", "--worker", 1, "--namespace", "other")
        self.assertEqual([(row["worker"], row["live"]) for row in self.objects(*workers)], [(7, False), (9, False)])
        self.assertEqual([line.split()[:2] for line in self.good(*workers).lines[1:]], [["7", "gone"], ["9", "gone"]])

    def test_a_worker_that_nobody_typed_is_leased_and_shown_by_its_number(self):
        store = ("--store", "sqlite:ids.db")
        (number,) = self.good("next", *store, "--worker", "auto", "--set", "store_create=true").lines
        (row,) = self.objects("worker", "list", *store)
        self.assertEqual(row["worker"], worker_of(number))
        self.assertIn("say which one is meant", self.refused("VALUE", "worker", "show", *store, "--worker", "auto"))
        in_memory = self.refused("VALUE", "next", "--store", "memory", "--worker", "auto")
        self.assertIn("is this process's own", in_memory)
        (self.dir / "idgen.toml").write_text(
            '[events]\nworker = "auto"\nworker_source = "slot"\nworker_slots = "."\nstore = "sqlite:ids.db"\n'
        )
        shown = self.good("worker", "show", "--config", "idgen.toml", "--worker", row["worker"]).out
        self.assertIn(f"worker      {row['worker']}", shown)

    def release(self, *more):
        return ("worker", "release", *self.STORE, *more)

    def test_a_dead_owners_worker_is_released_if_that_is_confirmed(self):
        self.good("store", "create", "--store", "sqlite:ids.db")
        with self.start("next", *self.STORE, "-n", 2**40) as owner:
            owner.stdout.readline()
            error = self.refused("WORKER_BUSY", *self.release("--yes"), status=TRY_AGAIN)
            self.assertIn(f"is owned by process {owner.pid}", error)
            self.assertIn("nothing was changed", error)
            unsure = self.usage(*self.release())
            self.assertIn("counts as alive", unsure)
            owner.kill()
            owner.stdout.read()
        before = self.show()
        unsure = self.usage(*self.release())
        for words in ("nothing was changed yet", "No owner of it is alive", str(owner.pid), "comes twice", "--yes"):
            self.assertIn(words, unsure)
        after = self.object(*self.release("--yes"))
        self.assertEqual((after["fence"], after["live"]), (before["fence"] + 1, False))
        self.assertEqual(after["hw_unix_ms"], before["hw_unix_ms"])
        self.assertIn("there is nothing to release", self.refused("VALUE", *self.release("--yes")))

    def test_a_live_owner_whose_worker_is_released_by_force_issues_no_id_twice(self):
        self.good("store", "create", "--store", "sqlite:ids.db")
        short = ("--set", "window=200ms", "--set", "max_ahead=1s")
        with self.start("next", *self.STORE, *short, "-n", 2**40) as owner:
            drawn = [int(owner.stdout.readline())]
            fence = self.show()["fence"]
            self.good(*self.release("--force", "--yes"))
            self.assertGreater(self.show()["fence"], fence)
            while self.show()["fence"] < fence + 2:  # it has acquired it again, or the test's time is over
                drawn += [int(owner.stdout.readline()) for _ in range(1000)]
            drawn += [int(owner.stdout.readline()) for _ in range(1000)]
            owner.send_signal(signal.SIGINT)
            drawn += [int(line) for line in owner.stdout]
        later = [int(line) for line in self.good("next", *self.STORE, *short, "-n", 100).lines]
        self.assertEqual(len(set(drawn + later)), len(drawn) + 100, "DUPLICATE")

    def test_a_row_ten_years_ahead_is_repaired_just_above_the_highest_id_in_use(self):
        highest = self.drawn()
        self.push_ahead()
        self.refused("CLOCK_BACK", "next", *self.STORE, status=TRY_AGAIN)
        ahead = self.show()
        self.assertGreater(ahead["ahead_ms"], 9 * self.YEAR_MS)
        error = self.usage(*self.repair(highest))
        for part in ("nothing was changed", "cannot check", "still in use", "exist twice", "--yes"):
            self.assertIn(part, error)
        self.assertEqual(self.show()["hw_unix_ms"], ahead["hw_unix_ms"])
        repaired = self.object(*self.repair(highest, "--yes"))
        self.assertEqual(repaired["fence"], ahead["fence"] + 1)  # no grant before is renewed
        self.assertLess(abs(repaired["ahead_ms"]), 60_000)
        self.assertGreater(int(self.good("next", *self.STORE).out), highest)
        self.assertIn("Nothing to repair", self.refused("VALUE", *self.repair(highest, "--yes")))
        self.assertIn("--above", self.usage("worker", "repair", *self.STORE))


class Bench(Cli):
    def test_every_measurement_stands_beside_its_floor(self):
        out = self.good("bench").out
        for row in ("segment next", "snowflake next", "segment batch of 1024", "snowflake batch of 1024"):
            self.assertRegex(out, rf"(?m)^{row}.* \d+\.\d+ x ")
        share = float(re.search(r"(?m)^share of the cap.*?([\d.]+) % of 4096", out[out.index("share of the cap") :])[1])
        self.assertGreater(share, 0)
        self.assertLessEqual(share, 100)  # the format allows no more

    def test_json_has_the_same_members_in_every_row_and_ratios_that_fit_the_times(self):
        rows = self.objects("bench")
        for row in rows:
            self.assertEqual(list(row), ["name", "ns_per_id", "ids_per_second", "floor", "times_floor", "share_of_cap"])
        ns = {row["name"]: row["ns_per_id"] for row in rows}
        measured = [row for row in rows if row["floor"]]
        self.assertEqual(len(measured), 4)
        for row in measured:
            self.assertAlmostEqual(row["times_floor"], row["ns_per_id"] / ns[row["floor"]], delta=0.1)
            self.assertAlmostEqual(row["ids_per_second"] * row["ns_per_id"] / 1e9, 1, delta=0.01)
        self.assertEqual([row["share_of_cap"] is None for row in rows], [True] * 7 + [False])
        self.assertLessEqual(rows[-1]["share_of_cap"], 1.005)


class Everything(Cli):
    def test_help_of_every_command_has_usage_examples_and_exit_statuses(self):
        commands = self.all_commands()
        self.assertIn("segment set-step", commands)
        for command in commands:
            with self.subTest(command):
                out = self.good(*command.split(), "--help").out
                self.assertIn(f"Usage: idgen {command}".strip(), out)
                self.assertRegex(out, r"(?m)^Example")
                self.assertRegex(out, r"(?m)^  idgen .*" + (command or "next"))
                self.assertRegex(out, r"(?m)^  75 ")
                self.assertLessEqual(max(map(len, out.splitlines())), 125)

    def writing_commands(self):
        """Each subcommand in a form that succeeds and prints something."""
        (self.dir / "idgen.toml").write_text('[orders]\nkind = "segment"\nstore = "sqlite:ids.db"\n')
        store = ("--store", "sqlite:ids.db")
        for name in ("orders", "moving", "ending"):
            self.good("segment", "create", *store, "--tag", name)
        self.good("next", *store, "--worker", 7)
        tag = (*store, "--tag", "orders")
        self.good("key", "new", "ids.key")
        (self.dir / "ids.txt").write_text("1\n2\n")
        (self.dir / "routes.toml").write_text(
            'version = 1\nbits = 4\nshards = ["db0", "db1"]\n[[range]]\nupto = 7\nshard = "db0"\n'
            '[[range]]\nupto = 15\nshard = "db1"\n'
        )
        self.good("shard", "plan", "routes.toml", "--split", "db1", "--into", "db2", "--out", "split.plan")
        return {
            "next": ("--store", "memory", "--worker", 1),
            "decode": (1,),
            "convert": ("--to", "base62", 1),
            "explain": (1,),
            "audit": ("ids.txt",),
            "plan": ("--rate", 5),
            "standard make": ("uuid7",),
            "standard decode": ("507f1f77bcf86cd799439011",),
            "layout": (),
            "store create": store,
            "segment create": (*store, "--tag", "new"),
            "segment show": tag,
            "segment advance": (*tag, "--to", 5),
            "segment set-step": (*tag, "--step", 5),
            "segment move": ("--from", "sqlite:ids.db", "--to", "sqlite:there.db", "--tag", "moving"),
            "segment retire": (*store, "--tag", "ending", "--force"),
            "segment import": (*store, "--tag", "copy", "--from-tag", "orders"),
            "worker show": (*store, "--worker", 7),
            "worker list": store,
            "shard show": ("routes.toml",),
            "shard plan": ("routes.toml", "--split", "db1", "--into", "db2"),
            "shard simulate": ("routes.toml", "split.plan"),
            "shard apply": ("routes.toml", "split.plan", "--yes"),
            "shard cutover": ("routes.toml", "--nodes", "8-9", "--to", "db0", "--every", "1ms"),
            "key new": ("new.key",),
            "key check": ("ids.key",),
            "key rotate": ("ids.key",),
            "key retire": ("ids.key", 1),
            "properties": (),
            "doctor": ("--config", "idgen.toml"),
            "metrics": store,
            "bench": (),
            "completion": ("bash",),
            "man": (),
            "version": (),
        }

    def test_output_that_cannot_be_written_is_an_error_of_every_subcommand(self):
        commands = {f"{name} --help": () for name in COMMANDS} | {"--help": (), "--version": ()}
        for name, arguments in (commands | self.writing_commands()).items():
            with self.subTest(name), open("/dev/full", "w") as full:
                words = [TOOL, *name.split(), *map(str, arguments)]
                done = subprocess.run(words, cwd=self.dir, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, FAILURE)
                self.assertEqual(
                    done.stderr, "idgen: error: cannot write to standard output: No space left on device\n"
                )

    def test_the_list_of_writing_commands_is_complete(self):
        known = set(self.writing_commands()) | {"worker repair", "worker release"}  # whose output is that of show
        listed = set()
        for command in COMMANDS:
            listed |= {f"{command} {word}" for word in self.subcommands(command)} or {command}
        self.assertEqual(known, listed)

    def test_a_closed_standard_output_is_an_error_and_never_a_file_of_the_store(self):
        self.good("next", "--store", "sqlite:ids.db", "--worker", 1, "--set", "store_create=true")
        for closed in ("1>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"):
            with self.subTest(closed):
                next_one = [TOOL, "next", "--store", "sqlite:ids.db", "--worker", "1"]
                words = ["sh", "-c", f'"$@" {closed}', "sh", *next_one]
                done = subprocess.run(words, cwd=self.dir, stderr=subprocess.PIPE, text=True, check=False)
                for file in self.dir.iterdir():
                    self.assertNotRegex(file.read_bytes(), rb"(?<![0-9])[1-9][0-9]{16,}\n", file.name)
                self.assertEqual(done.returncode, FAILURE)
                self.assertEqual(
                    done.stderr,
                    "" if "2>" in closed else "idgen: error: cannot write to standard output: Bad file descriptor\n",
                )

    def test_the_version_is_the_header_s(self):
        header = (ROOT / "capi" / "include" / "idgen" / "version.h").read_text()
        version = re.search(r'IDGEN_VERSION_STRING "([^"]+)"', header)[1]
        for arguments in (("version",), ("--version",)):
            self.assertRegex(self.good(*arguments).out, rf"\Aidgen {re.escape(version)}, ABI \d+\n\Z")

    def test_no_command_and_an_unknown_one_name_those_that_exist(self):
        for arguments in ((), ("nxt",)):
            self.assertIn("next, decode, convert, explain", self.usage(*arguments))
        self.assertIn("-x", self.usage("-x"))

    def test_one_file_alone_knows_the_library_that_reads_command_lines(self):
        sources = (ROOT / "tools" / "idgen").rglob("*.?pp")
        self.assertEqual([path.name for path in sources if "CLI/" in path.read_text()], ["parser.cpp"])

    def test_the_command_needs_the_c_abi_and_nothing_of_the_core(self):
        done = subprocess.run(["nm", "-D", "--undefined-only", "-C", TOOL], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"\bidgen_draw\b")
        self.assertNotIn(" idgen::", done.stdout)


if __name__ == "__main__":
    unittest.main()
