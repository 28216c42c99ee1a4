"""What tests of worker_source with other generators' rows have in common."""

import time

import clients
import idgen
import test_workers
from clients import IDGEN, new_tag, run, wait_until
from originals import EPOCH_MS
from test_workers import LAYOUT, properties, working

SHORT = {"window": "1s", "max_ahead": "2s", "epoch": str(EPOCH_MS)}
HOUR_MS = 3_600_000


def draw_once(store, namespace, *prefix, count=1, **others):
    """idgen next, in the environment that the prefix makes; the finished process."""
    sets = [word for pair in properties(store, namespace, "auto", **others) for word in ("--set", pair)]
    return run([*prefix, IDGEN, "next", "-n", str(count), *sets])


def worker_of(number, layout=LAYOUT):
    return idgen.Layout(layout).decode(int(number)).worker


def settle(settings):
    """Makes the tables. A Redis that is new grants no time for its first seconds."""
    wait_until(lambda: draw_once(namespace=new_tag(), **settings).returncode == 0, what="the first id")
    return settings


def expire(server, settings, namespace, worker):
    """Ends the lease of a window whose owner is dead or stopped, where windows have leases."""
    if not settings["store"].startswith("sqlite:"):
        server.expire(namespace, worker)


def numbers(ids, layout=LAYOUT):
    decoder = idgen.Layout(layout)
    return {decoder.decode(number).worker for number in ids}


def joined(lists):
    return [number for ids in lists for number in ids]


def distinct(*lists):
    clients.distinct(joined(lists))


def ascending(*lists):
    clients.ascending(joined(lists))


def drawing(folder, namespace, count, store, **others):
    return working(folder, store, namespace, ["auto"] * count, **others)


def generator(namespace, settings):
    found = {"kind": "snowflake", "worker": "auto", "namespace": namespace, "store_create": True, "layout": LAYOUT}
    return idgen.Generator(**{**found, **settings})


def fork_and_draw(parent):
    """The ids of a parent and two children, and their workers."""
    drawn = test_workers.fork_and_draw(parent, children=2, count=50)
    return drawn, numbers(drawn)


def now_ms():
    return int(time.time() * 1000)
