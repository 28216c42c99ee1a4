"""A forked child opens its own connection; the parent's stays open."""

import os
import sys
from pathlib import Path

import idgen
import pytest
from clients import BUILD, MODULES, create, distinct, new_tag, run, wait_until
from proxy import Proxy
from test_faults import PATIENT

COUNT = 1000


def drawn(generator):
    return [generator.next() for _ in range(COUNT)]


def drawn_in_a_child(generator):
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(there, "\n".join(map(str, drawn(generator))).encode())
            generator.close()
        finally:
            os._exit(0)
    os.close(there)
    with os.fdopen(here) as report:
        numbers = [int(line) for line in report]
    assert os.waitpid(child, 0)[1] == 0
    return numbers


def test_parent_and_children_draw_different_numbers_over_connections_of_their_own(shared):
    tag = create(shared.url(), new_tag())
    with idgen.Generator(kind="segment", store=shared.url(), tag=tag, segment_step=100, **PATIENT) as generator:
        numbers = drawn(generator)
        for _ in range(3):
            child = drawn_in_a_child(generator)
            assert len(child) == COUNT
            numbers += child
            numbers += drawn(generator)
    assert len(distinct(numbers)) == 7 * COUNT


# Process 1 of its own container, which starts a child that is process 1 of another, and waits for it.
FIRST_OF_TWO_CONTAINERS = """
import ctypes, os, sys
source, library, *properties = sys.argv[1:]
with open(source) as text:
    exec(text.read().rpartition("main(")[0])
drawing = Drawing(library, properties)
drawing.draw(3)
CLONE_NEWPID = 0x20000000
assert os.getpid() == 1 and ctypes.CDLL(None).unshare(CLONE_NEWPID) == 0
if os.fork() == 0:
    drawing.draw(12)
    os._exit(0 if os.getpid() == 1 else 2)
os._exit(os.wait()[1])
"""


# The same with a snowflake worker in a SQLite file and a segment in memory: neither is the child's.
NEITHER_IS_THE_CHILDS = """
import ctypes, os, sys
import idgen
worker = idgen.Generator(kind="snowflake", worker=1, store="sqlite:" + sys.argv[1], store_create=True)
memory = idgen.Generator(kind="segment", tag="a", store="memory", store_create=True)
print(worker.next(), memory.next(), flush=True)
CLONE_NEWPID = 0x20000000
assert os.getpid() == 1 and ctypes.CDLL(None).unshare(CLONE_NEWPID) == 0
if os.fork() == 0:
    assert os.getpid() == 1
    for generator in worker, memory:
        try:
            generator.next()
            os._exit(3)
        except idgen.ForkedError:
            pass
    links = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    assert not [link for link in links if link.endswith("-lock")], links  # closed here, and still held by the parent:
    try:
        idgen.Generator(kind="snowflake", worker=1, namespace="default", store="sqlite:" + sys.argv[1])
        os._exit(4)
    except idgen.WorkerBusyError:
        pass
    print(idgen.Generator(kind="segment", tag="a", store="memory", store_create=True).next(), flush=True)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
print(worker.next(), memory.next(), flush=True)
"""


def test_a_child_with_the_process_id_of_its_parent_has_neither_its_worker_nor_its_memory(tmp_path):
    container = ["unshare", "--pid", "--fork", "--kill-child"]
    if run([*container, "true"]).returncode != 0:
        pytest.skip("this user may not make a namespace")
    done = run([*container, sys.executable, "-c", NEITHER_IS_THE_CHILDS, tmp_path / "ids.db"])
    assert done.returncode == 0, done.stderr
    numbers = [int(word) for word in done.stdout.split()]
    assert (numbers[1], numbers[4]) == (1, 2)  # the parent's own
    assert numbers[2] == 1  # the child's own, of a memory of its own
    assert numbers[3] > numbers[0]


@pytest.mark.parametrize("kind", ["mysql", "redis"])
def test_a_child_with_the_process_id_of_its_parent_has_a_connection_of_its_own(kind, started):
    container = ["unshare", "--pid", "--fork", "--kill-child"]
    if run([*container, "true"]).returncode != 0:
        pytest.skip("this user may not make a namespace")
    server = started(kind)
    tag = create(server.url(), new_tag())
    source, library = Path(__file__).with_name("drawing.py"), BUILD / "lib" / "libidgen.so"
    with Proxy(server.port) as proxy:
        properties = (
            "kind=segment",
            f"store={server.url(proxy.port)}",
            f"tag={tag}",
            "segment.step=10",
            "segment.prefetch=1",
            "segment.runway=0",
        )
        program = [sys.executable, "-c", FIRST_OF_TWO_CONTAINERS, source, library, *properties]
        done = run([*container, *program, f"module.path={MODULES}"])
        assert done.returncode == 0, done.stderr
        numbers = [int(word) for word in done.stdout.split()]
        assert len(distinct(numbers)) == 15
        wait_until(lambda: proxy.ended == 2, what="two connections have ended")


def test_a_wheel_has_its_modules_and_says_what_a_store_guarantees(shared):
    tag = create(shared.url(), new_tag())
    with idgen.Generator(kind="segment", store=shared.url(), tag=tag) as generator:
        assert generator.next() == 1
        text = generator.describe()
    assert "restart" in text or "power loss" in text
    assert "s3cr3t" not in text


def test_a_child_does_not_get_its_parents_worker(shared):
    with idgen.Generator(
        kind="snowflake", worker=1, namespace=new_tag(), store=shared.url(), store_create=True
    ) as generator:
        first = generator.next()
        child = os.fork()
        if child == 0:
            try:
                generator.next()
            except idgen.ForkedError:
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert generator.next() > first
