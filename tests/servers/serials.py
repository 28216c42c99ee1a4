"""Serials of a day in tests: their texts, the day, and clocks that a test sets."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import clients
import tally
from clients import Asked, command, new_tag, run
from test_bad_input import refused

NUMBER_BITS = 40
EPOCH = datetime(1970, 1, 1)


def day(shift=0):
    return f"{datetime.now(UTC) + timedelta(days=shift):%Y%m%d}"


def on_one_day(work):
    """work(day), again if a midnight was in it."""
    for _ in range(2):
        today = day()
        try:
            return work(today)
        except AssertionError:
            if day() == today:
                raise
    raise AssertionError("two midnights")


def text_of(number, digits=8):
    date = EPOCH + timedelta(days=number >> NUMBER_BITS)
    return f"{date:%Y%m%d}{number & (1 << NUMBER_BITS) - 1:0{digits}}"


def distinct(found):
    tally.add(len(found), len(found) - len(set(found)))
    return clients.distinct(found)


class Clock:
    """The clock of the processes that are started with its environment: it stands still, but for one that is set to
    "@TIME", which goes on from there."""

    def __init__(self, path, text):
        self.path = path
        (fake,) = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
        self.environment = {
            "LD_PRELOAD": str(fake),
            "FAKETIME_TIMESTAMP_FILE": str(path),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "TZ": "UTC",
        }
        self.set(text)

    def set(self, text):
        staged = self.path.with_suffix(".staged")
        staged.write_text(text + "\n")
        staged.rename(self.path)

    def patch(self, patch):
        for name, value in self.environment.items():
            patch.setenv(name, value)
        return self


class Series:
    """A tag of another schema, and what is done with it."""

    SCHEMA, PATTERN = "", ""
    clock = None  # the command's

    def __init__(self, url, tag):
        self.url, self.tag = url, tag

    def properties(self, pattern=None, **others):
        return {
            "kind": "serial",
            "schema": self.SCHEMA,
            "pattern": self.PATTERN if pattern is None else pattern,
            **others,
        }

    def command(self, *words, tag=None, **others):
        environment = self.clock.environment if self.clock else {}
        arguments = command(self.url, tag or self.tag, *words, **self.properties(**others))
        return run(arguments, env={**os.environ, **environment})

    def done(self, *words, **others):
        done = self.command(*words, **others)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def create(self, **others):
        self.done("segment", "create", **others)
        return self

    def next(self, count=1, **others):
        return self.done("next", "-n", str(count), **others).split()

    def refused(self, status, *what, words=("next",), **others):
        return refused(self.command(*words, **others), status, *what)

    def asked(self, **others):
        return Asked(self.url, self.tag, **self.properties(prefetch=1, **others))

    def listed(self):
        """The latest id of each tag of the store that has this schema."""
        arguments = command(self.url, "x", "segment", "show", "--json", **self.properties())
        at = arguments.index("--tag")
        done = run(arguments[:at] + arguments[at + 2 :])
        assert done.returncode == 0, done.stderr
        return {row["tag"]: int(row["max_id"]) for row in map(json.loads, done.stdout.splitlines())}

    def goes_on_in_idgens_own(self):
        """The first serial of a tag of idgen's own that was imported from this one."""
        own, serial = new_tag(), {"kind": "serial", "pattern": self.PATTERN}
        source = ("--from-schema", self.SCHEMA, "--from-tag", self.tag)
        done = run(command(self.url, own, "segment", "import", *source, **serial))
        assert done.returncode == 0, done.stderr
        return run(command(self.url, own, "next", **serial)).stdout.split()
