"""Servers that fork their workers from a process that already holds a generator: gunicorn, Celery, multiprocessing.

No line of the programs is about forks: the generator is made at module level, as people do."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from clients import MODULES, SECONDS, create, distinct, new_tag, wait_until

import servers

GENERATOR = """
import idgen
events = idgen.Generator(kind="snowflake", worker="auto", namespace={namespace!r}, store={store!r},
                         module_path={modules!r}, store_create=True)
orders = idgen.Generator(kind="segment", tag={namespace!r}, segment_step=100, store={store!r},
                         module_path={modules!r}, store_create=True)
first = events.next(), orders.next()
"""

APPLICATION = """
import json, os
def app(environ, start_response):
    event, order = events.next(), orders.next()
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps([os.getpid(), events.decode(event).worker, event, order]).encode()]
"""

TASKS = """
import os
from celery import Celery
app = Celery("tasks", broker={broker!r}, backend={broker!r})
app.conf.worker_hijack_root_logger = False
@app.task
def draw(n):
    return [[os.getpid(), events.decode(event).worker, event, orders.next()] for event in events.next_batch(n).tolist()]
"""

POOL = """
import json, multiprocessing, os, sys
def draw(n):
    ids = events.next_batch(n).tolist()
    return [[os.getpid(), events.decode(event).worker, event, orders.next()] for event in ids]
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(4, maxtasksperchild=2) as pool:
        answers = pool.map(draw, [50] * 24, chunksize=1)
    print(json.dumps(sum(answers, []) + draw(50)))
"""


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def program(request, started, tmp_path):
    """program(text): a module at tmp_path that begins with two generators."""
    store = f"sqlite:{tmp_path}/ids.db" if request.param == "sqlite" else started(request.param).url()
    # Made here: on a Redis that tests before have restarted, only an operator makes tags.
    tag = new_tag() if request.param == "sqlite" else create(store, new_tag())
    values = {"namespace": tag, "store": store, "modules": str(MODULES)}

    def write(name, text, **others):
        (tmp_path / name).write_text((GENERATOR + text).format(**values, **others) if others else
                                     GENERATOR.format(**values) + text)  # fmt: skip

    return write


def check(rows):
    """Of each process a worker of its own, and no id twice."""
    events, orders = [row[2] for row in rows], [row[3] for row in rows]
    distinct(events)
    distinct(orders)
    workers = {process: worker for process, worker, *_ in rows}
    assert all(workers[process] == worker for process, worker, *_ in rows)
    return workers


def test_gunicorn_with_preload_serves_no_id_twice_whatever_happens_to_its_workers(program, tmp_path):
    program("web.py", APPLICATION)
    port = servers.free_port()
    with (tmp_path / "log").open("wb") as log:
        master = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "--preload", "--workers", "3", "--threads", "2"),
                *("--bind", f"127.0.0.1:{port}", "--pid", tmp_path / "pid", "web:app"),
            ],
            cwd=tmp_path,
            stdout=log,
            stderr=log,
        )
    rows = []

    def ask(_):
        for _ in range(50):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=SECONDS) as answer:
                    return json.load(answer)
            except OSError:
                time.sleep(0.1)  # its worker was killed
        raise AssertionError((tmp_path / "log").read_text()[-2000:])

    def ask_many(count):
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(ask, range(count)))
        rows.extend(found)
        return {row[0] for row in found}

    try:
        wait_until(lambda: (tmp_path / "pid").exists() or master.poll() is not None, what="gunicorn starts")
        before = ask_many(300)
        os.kill(before.pop(), signal.SIGKILL)
        ask_many(200)
        master.send_signal(signal.SIGTTIN)  # one more
        ask_many(200)
        master.send_signal(signal.SIGHUP)  # all of them anew
        wait_until(lambda: not before & ask_many(50), what="the workers are replaced")
        # Which workers answer is the kernel's choice, so it is asked until each has had its turn.
        wait_until(lambda: len(ask_many(50) | {row[0] for row in rows}) >= 6, what="every worker answers")
        workers = check(rows)
        assert master.pid not in workers
    finally:
        master.terminate()
        master.wait(SECONDS)


def test_celery_tasks_in_forked_processes_draw_no_id_twice(program, started, tmp_path):
    broker = started("redis").url() + "/3"
    program("tasks.py", TASKS, broker=broker)
    with (tmp_path / "log").open("wb") as log:
        worker = subprocess.Popen(
            [
                *(sys.executable, "-m", "celery", "-A", "tasks", "worker", "--pool", "prefork", "--concurrency", "3"),
                *("--max-tasks-per-child", "2", "--without-gossip", "--without-mingle", "--loglevel", "WARNING"),
            ],
            cwd=tmp_path,
            stdout=log,
            stderr=log,
            env={**os.environ, "C_FORCE_ROOT": "1"},
        )
    ask = f"""
import json, celery
from celery import group
app = celery.Celery("tasks", broker={broker!r}, backend={broker!r})
answers = group(app.signature("tasks.draw", (40,)) for _ in range(24)).apply_async().get(timeout={2 * SECONDS})
print(json.dumps(sum(answers, [])))
"""
    try:
        done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:] + (tmp_path / "log").read_text()[-2000:]
        rows = json.loads(done.stdout)
        assert len(rows) == 24 * 40
        assert len(check(rows)) >= 6
    finally:
        worker.terminate()
        worker.wait(SECONDS)


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_of_a_pool_draw_from_a_generator_of_the_module(program, method, tmp_path):
    program("pool.py", POOL)
    done = subprocess.run(
        [sys.executable, "pool.py", method], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == 25 * 50
    assert len(check(rows)) >= 8
