"""Serials of a day in tests: their texts, and clocks that a test sets."""

from datetime import datetime, timedelta

import clients
import tally
from clients import other_clock

NUMBER_BITS = 40
EPOCH = datetime(1970, 1, 1)


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
        self.environment = other_clock(FAKETIME_TIMESTAMP_FILE=str(path), FAKETIME_NO_CACHE="1", TZ="UTC")
        self.prefix = ("env", *(f"{name}={value}" for name, value in self.environment.items()))
        self.set(text)

    def set(self, text):
        self.text = text
        staged = self.path.with_suffix(".staged")
        staged.write_text(text + "\n")
        staged.rename(self.path)

    def time(self, days=0):
        """What it says that many days later."""
        return datetime.fromisoformat(self.text) + timedelta(days)

    def day(self, shift=0):
        return f"{self.time(shift):%Y%m%d}"
