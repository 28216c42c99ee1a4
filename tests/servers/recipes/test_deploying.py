"""docs/deploying.md: each of its recipes, taken from the page."""

import contextlib
import functools
import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading

import idgen
import pytest
from clients import MODULES, patience
from deploying import OF_OTHER_TESTS, Load, Place, ask_many, request, wait_for, wait_for_row
from hosts import ROOT
from page import PAGE, blocks, of

import servers

# Every block of the page: its heading, its language, and how many. One that is not here is run by no test.
RECIPES = {
    ("", "toml"): 1,
    ("", "sh"): 1,
    ("gunicorn", "python"): 2,
    ("gunicorn", "sh"): 2,
    ("FastAPI", "python"): 1,
    ("FastAPI", "sh"): 1,
    ("Celery", "python"): 1,
    ("Celery", "sh"): 1,
    ("Docker", "dockerfile"): 1,
    ("Docker", "console"): 1,  # not run: there is no Docker
    ("Kubernetes", "yaml"): 1,
    ("Rolling restart", "sh"): 3,
}
SHOWN = {"Docker": "examples/fastapi/Dockerfile", "Kubernetes": "examples/kubernetes/web.yaml"}
LAYOUT = idgen.Layout("default")


@pytest.fixture
def place(started, tmp_path):
    return Place(started("postgres"), tmp_path)


def check(answers):
    """Pairs of an order and an event, none twice; the workers that made the events."""
    pairs = [tuple(map(int, answer)) for answer in answers]
    for ids in zip(*pairs, strict=True):
        assert len(set(ids)) == len(ids) == len(answers)
    return {LAYOUT.decode(event).worker for _, event in pairs}


def test_each_recipe_of_the_page_is_known_to_a_test():
    found = {}
    for block in blocks():
        if block.heading not in OF_OTHER_TESTS:
            key = (block.heading, block.language)
            found[key] = found.get(key, 0) + 1
    assert found == RECIPES


@pytest.mark.parametrize("heading", SHOWN)
def test_a_file_that_the_page_shows_is_shown_as_it_is(heading):
    (block,) = (block for block in blocks() if block.heading == heading and block.language in ("dockerfile", "yaml"))
    assert block.text in (ROOT / SHOWN[heading]).read_text()


@pytest.mark.parametrize("command", [block.text for block in of("gunicorn", "sh")])
def test_workers_of_gunicorn_have_generators_of_their_own_and_give_back_what_is_left(place, command):
    place.write_files("gunicorn")
    port = servers.free_port()
    with place.start(command, "--bind", f"127.0.0.1:{port}") as gunicorn:
        wait_for(f"http://127.0.0.1:{port}/", gunicorn)
        wait_for_row(lambda: place.workers().count("alive") == 3, what="each worker has opened")
        answers = [answer.split() for answer in ask_many(f"http://127.0.0.1:{port}/", 200)]
    assert 2 <= len(check(answers)) <= 3
    assert "alive" not in place.workers(), "the numbers were given back"


def test_a_worker_of_gunicorn_that_can_have_no_ids_is_not_started(place):
    place.write_files("gunicorn")
    command = shlex.split(of("gunicorn", "sh")[0].text)
    missing = place.url.replace(place.database, "missing")
    done = subprocess.run(
        [*command, "--bind", f"127.0.0.1:{servers.free_port()}"],
        cwd=place.folder, env={**place.environment, "IDGEN_ORDERS_STORE": missing}, capture_output=True, text=True,
        check=False, timeout=patience(60),
    )  # fmt: skip
    assert done.returncode != 0
    assert "Worker failed to boot" in done.stderr
    assert "missing" in done.stderr


def test_the_lifespan_of_fastapi_opens_and_closes(place):
    place.write_files("FastAPI")
    port = servers.free_port()
    with place.start(of("FastAPI", "sh")[0].text, "--port", str(port)) as uvicorn:
        wait_for(f"http://127.0.0.1:{port}/openapi.json", uvicorn)
        answers = [json.loads(answer) for answer in ask_many(f"http://127.0.0.1:{port}/ids", 200, "POST")]
        wait_for_row(lambda: place.workers().count("alive") == 2, what="each process has opened")
    check(answers)
    assert "alive" not in place.workers()


def test_processes_of_celery_have_generators_of_their_own(place, started):
    place.write_files("Celery")
    broker = started("redis").url() + "/4"
    ask = """
import json, celery
from tasks import app
print(json.dumps(celery.group(app.signature("tasks.place_order") for _ in range(60)).apply_async().get(timeout=90)))
"""
    quiet = ("--without-gossip", "--without-mingle")
    with place.start(of("Celery", "sh")[0].text, *quiet, BROKER=broker, C_FORCE_ROOT="1"):
        answers = json.loads(place.run(f"{sys.executable} -c {shlex.quote(ask)}", BROKER=broker))
        assert place.workers().count("alive") == 3
    assert len(answers) == 60
    check(answers)
    assert "alive" not in place.workers()


def test_a_new_process_waits_for_the_worker_of_the_one_that_it_replaces(place):
    place.write_files("gunicorn")
    toml = place.folder / "idgen.toml"
    toml.write_text(toml.read_text().replace('"auto"', "7"))
    port = servers.free_port()
    url = f"http://127.0.0.1:{port}/"
    _, start, replace = (block.text for block in of("Rolling restart", "sh"))
    with place.start(start, "--bind", f"127.0.0.1:{port}") as gunicorn:
        wait_for(url, gunicorn)
        before = place.workers()
        with Load(lambda _: request(url).split()) as load:
            load.goes_on()
            place.run(replace)
            wait_for_row(lambda: is_with_the_next(before, place.workers()), what="the next has the worker")
            load.goes_on()
    assert not load.failures, load.failures[:3]
    assert check(load.answers) == {7}


def test_an_answer_that_is_cut_is_a_request_that_failed():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            with contextlib.suppress(OSError):
                while True:
                    with listener.accept()[0] as client:
                        client.recv(4096)
                        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

        threading.Thread(target=answer, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with Load(lambda _: request(url)) as load, pytest.raises(AssertionError, match="IncompleteRead"):
            load.goes_on()
    assert not load.answers


def is_with_the_next(before, now):
    process = re.compile(r"process \d+")
    return "alive" in now and process.search(now)[0] != process.search(before)[0]


def packages():
    """{module: (packages to run, packages to compile)} of the page's table."""
    rows = re.findall(r"^\| (`lib\w+\.so`[^|]*) \| ([^|]*) \| ([^|]*) \|$", PAGE.read_text(), re.MULTILINE)
    names = [[set(" ".join(re.findall(r"`([^`]*)`", cell)).split()) for cell in row[1:]] for row in rows]
    return {re.match(r"`(\w+)\.so", row[0])[1]: sets for row, sets in zip(rows, names, strict=True)}


@functools.cache
def package_of(library):
    """The Debian package with a file that the loader finds: /lib and /usr/lib are one folder with two names."""
    for name in (library, "/usr" + library, library.removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise AssertionError(f"no package has {library}")


def needed(library):
    """The packages of the libraries that it names itself."""
    headers = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    loaded = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"(\S+) => (\S+)", loaded))
    return {package_of(found[name]) for name in re.findall(r"NEEDED.*\[(lib[^]]+)\]", headers)}


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="the names are those of Debian's packages")
def test_the_packages_of_the_table_are_those_that_the_libraries_need():
    table = packages()
    assert table.keys() == {"libidgen", *(path.stem for path in MODULES.glob("*.so"))}
    base = {"libc6", "libgcc-s1"}
    for name, (to_run, to_compile) in table.items():
        path = MODULES / f"{name}.so" if name != "libidgen" else MODULES.parents[1] / "libidgen.so"
        assert needed(path) - base - (set() if name == "libidgen" else {"libstdc++6"}) == to_run - {"tzdata"}, name
        subprocess.run(["dpkg-query", "--status", *to_compile], capture_output=True, check=True)
