"""A thousand processes that lease a worker at the same moment.

Servers that give each client a process or a thread of its own, and as many as they are configured for, get as many as
they allow."""

import os
import time

import idgen
import pytest
from clients import MODULES, distinct, new_tag, patience

PROCESSES = {"sqlite": 1000, "redis": 1000, "etcd": 1000, "postgres": 80, "mysql": 140, "zookeeper": 50}


def drawn_at_once(count, **properties):
    """(worker, id) of each of so many processes, all of which hold their worker until the last one has one."""
    gate, start = os.pipe()
    answers, answer = os.pipe()
    end, stop = os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            os.close(start)
            os.close(stop)
            os.read(gate, 1)
            try:
                generator = idgen.Generator(**properties)
                number = generator.next()
                line = f"{generator.decode(number).worker} {number}"
            except idgen.Error as error:
                line = f"failed {error}"
            os.write(answer, line.encode()[:4000] + b"\n")
            os.read(end, 1)
            os._exit(0)
        children.append(child)
    os.close(gate)
    os.close(answer)
    os.close(end)
    os.close(start)
    with os.fdopen(answers) as lines:
        found = [next(lines).split(maxsplit=1) for _ in range(count)]
    os.close(stop)
    for child in children:
        os.waitpid(child, 0)
    return found


@pytest.mark.parametrize("kind", PROCESSES)
def test_processes_that_start_at_once_lease_as_many_different_workers(kind, started, tmp_path):
    url = f"sqlite:{tmp_path}/ids.db" if kind == "sqlite" else started(kind).url()
    count = PROCESSES[kind]
    common = {"store": url, "module_path": str(MODULES)}
    idgen.store_create(**common)
    # A machine may be slow: this is not about time. An answer that a thousand wait for is not given up and asked for
    # again, which makes it slower.
    patient = {"wait_max": "900s", "worker_wait": "900s", "store_timeout": f"{patience(60):.0f}s"}
    common |= {"kind": "snowflake", "worker": "auto", "namespace": new_tag(), **patient}
    with idgen.Generator(**common) as first:
        first.next()  # on Redis the first window of a server's life waits
    began = time.monotonic()
    found = drawn_at_once(count, **common)
    took = time.monotonic() - began
    assert not [words for words in found if words[0] == "failed"]
    distinct(worker for worker, _ in found)
    distinct(number for _, number in found)
    print(f"{kind}: {count} processes, {count} different workers, {took:.1f} s")
