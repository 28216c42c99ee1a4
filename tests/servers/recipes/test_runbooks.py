"""docs/runbooks.md, word for word: its commands, in its order, against a real PostgreSQL with processes that draw."""

import contextlib
import json
import os
import pwd
import re
import subprocess
import textwrap
import time
from pathlib import Path

import idgen
import pytest
from clients import BUILD, IDGEN, MODULES, SECONDS, Asked, Client, run, show, wait_until

import servers

PAGE = Path(__file__).resolve().parents[3] / "docs" / "runbooks.md"
ANY = "…"


def fences(text):
    """(language, code) of each fenced block, also of those in lists."""
    for found in re.finditer(r"^( *)```(\w+)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL):
        yield found[2], textwrap.dedent(found[3])


def as_pattern(shown):
    """Of what a block shows: … in a line is a part of it, … alone is any number of lines."""
    lines = []
    for line in shown.splitlines():
        if line == ANY:
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(r".*".join(map(re.escape, line.split(ANY))) + r"\n")
    return "".join(lines)


class Runbook:
    """A section of the page. do() runs its next commands; all of them must have been run at the end."""

    def __init__(self, title, folder, variables):
        section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        assert section, title
        self.blocks = [block for block in fences(section[1]) if block[0] in ("sh", "text")]
        self.folder, self.variables = folder, variables

    def do(self, **variables):
        self.variables.update({key: str(value) for key, value in variables.items()})
        language, commands = self.blocks.pop(0)
        assert language == "sh", commands
        wanted = re.search(r"# exit status (\d+)", commands)
        done = subprocess.run(
            ["bash", "-c", commands],
            cwd=self.folder,
            env={**os.environ, **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == int(wanted[1] if wanted else 0), commands + done.stdout
        if self.blocks and self.blocks[0][0] == "text":
            _, shown = self.blocks.pop(0)
            assert re.fullmatch(as_pattern(shown), done.stdout), f"{commands}\nprinted\n{done.stdout}\nnot\n{shown}"
        return done.stdout

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        assert kind or not self.blocks, f"not run: {self.blocks}"


@pytest.fixture(scope="module")
def postgres():
    with servers.KINDS["postgres"]() as server:
        yield server


@pytest.fixture
def server(postgres):
    postgres.sql("DROP TABLE IF EXISTS idgen_segment, idgen_worker, idgen_namespace, orders")
    return postgres


class Place:
    """A folder with the page's idgen.toml, on a server of ours."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.password = folder / "password"
        self.password.write_text(servers.PASSWORD)
        self.url = f"postgres://app@{servers.HOST}:{server.port}/ids?password_file={self.password}"
        (language, text), *_ = fences(PAGE.read_text())
        assert language == "toml"
        for shown, real in (
            ("postgres://app@db.example/ids?password_file=/run/secrets/ids", self.url),
            ("sqlite:/var/lib/app/ids.db", f"sqlite:{folder}/ids.db"),
        ):
            assert shown in text
            text = text.replace(shown, real)
        (folder / "idgen.toml").write_text(text)
        login = f"host={server.folder} port={server.port} user=root dbname=ids"
        self.variables = {
            "PATH": f"{BUILD.resolve() / 'bin'}:{server.bin}:{os.environ['PATH']}",
            "IDS": login,
            "ADMIN": login,
        }

    def runbook(self, title, **variables):
        self.variables.update({key: str(value) for key, value in variables.items()})
        return Runbook(title, self.folder, self.variables)

    def idgen(self, *arguments):
        done = run([IDGEN, *map(str, arguments)], cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def create(self, name="orders"):
        self.idgen("segment", "create", "--config", "idgen.toml", "--name", name)

    def draw(self, count, name="orders"):
        return [int(id) for id in self.idgen("next", "--config", "idgen.toml", "--name", name, "-n", count).split()]

    def client(self, **properties):
        """A process that draws from the tag until it is stopped."""
        return Client(self.folder, self.url, "orders", **{"step": 20, **properties})


@pytest.fixture
def place(server, tmp_path):
    return Place(server, tmp_path)


def test_the_database_was_restored(place):
    place.create()
    place.idgen("store", "create", "--config", "idgen.toml", "--name", "events")
    place.server.sql("CREATE TABLE orders(id bigint PRIMARY KEY); GRANT ALL ON orders TO app")
    drawn = place.draw(120)
    dump = ["pg_dump", "-Fc", "--table=idgen_*", f"--file={place.folder}/ids.dump", place.variables["IDS"]]
    assert run([place.server.bin / dump[0], *dump[1:]]).returncode == 0
    drawn += place.draw(180)
    place.server.sql("INSERT INTO orders VALUES " + ", ".join(f"({id})" for id in drawn))
    (snowflake,) = place.draw(1, "events")
    with Asked(place.url, "orders", step=10, prefetch=1, wait_max="1s") as runs_on:
        more = runs_on.ids(10)
        assert min(more) == 301
        place.server.sql("INSERT INTO orders VALUES (300) ON CONFLICT DO NOTHING")
        with place.runbook("The database was restored", HIGHEST_ID=snowflake) as book:
            book.do()
            assert show(place.url, "orders")["max_id"] == 120
            _, failure = runs_on.draw(1)
            assert "STORE_REGRESSED" in failure, "what the page says of a process that was not stopped"
            place.server.set_counter("orders", 120)  # where it would be if it had been
            book.do()
            assert show(place.url, "orders")["max_id"] == 120, "doctor opened nothing"
            book.do()
            assert show(place.url, "orders")["max_id"] == 300 + 2 * stock_max(), "what two processes may hold"
            book.do()
            assert min(place.draw(50)) > 300 + 2 * stock_max()
            book.do()


def stock_max():
    text = (PAGE.parent / "configuration.md").read_text()
    return int(re.search(r"^## segment\.stock_max\n.*?^- Default: `(\d+)`", text, re.MULTILINE | re.DOTALL)[1])


def test_a_tag_moves_to_another_store(place, tmp_path):
    place.create()
    new = f"sqlite:{tmp_path}/new.db"
    with contextlib.closing(place.client(wait_max="1s")) as old:
        old.goes_on()
        with place.runbook("A tag moves to another store", OLD_STORE=place.url, NEW_STORE=new) as book:
            book.do()
            fresh = Client(place.folder, new, "orders", step=20)
            with contextlib.closing(fresh):
                fresh.goes_on()
                wait_until(lambda: old.process.poll() is not None, what="the late one has ended")
                assert all(failure.startswith("EXHAUSTED") for failure in old.failures())
                book.do()
                fresh.stop()
        assert not set(old.ids()) & set(fresh.ids())
        assert min(fresh.ids()) > max(old.ids())


def test_a_tag_ends(place):
    place.create()
    place.draw(5)
    with place.runbook("A tag ends") as book:
        book.do()


SEEN = """#!/bin/sh
[ ! -e "$PASSWORD_FILE.new" ] || stat -c '%a %u %g' "$PASSWORD_FILE.new" >>"$SEEN/files"
printf '%s\\n' "$@" >>"$SEEN/arguments"
exec {program} "$@"
"""


def watch(place, folder):
    """Each psql and mv of the page is seen as it starts: its arguments, and who may read the new file then."""
    folder.mkdir()
    for program in (place.server.bin / "psql", Path("/usr/bin/mv")):
        (folder / program.name).write_text(SEEN.format(program=program))
        (folder / program.name).chmod(0o755)
    place.variables |= {"PATH": f"{folder}:{place.variables['PATH']}", "SEEN": str(folder)}


def test_a_password_is_rotated_and_no_request_fails(place, tmp_path):
    place.create()
    secret = "n3w 'pa55\"w%ord$HOME\\"
    place.password.chmod(0o640)
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(place.password, nobody.pw_uid, nobody.pw_gid)
    before = place.password.stat()
    watch(place, tmp_path / "seen")
    with contextlib.closing(place.client()) as client:
        client.goes_on()
        try:
            with place.runbook("A password is rotated", NEW_PASSWORD=secret, PASSWORD_FILE=place.password) as book:
                (tmp_path / "password.new").write_text("of an attempt that failed")  # which everybody can read
                book.do()
                assert place.password.read_text() == secret
                assert set((tmp_path / "seen" / "files").read_text().splitlines()) == {
                    f"640 {before.st_uid} {before.st_gid}"
                }
                assert "pa55" not in (tmp_path / "seen" / "arguments").read_text()
                book.do()
                client.goes_on(client.size())
                assert int(book.do()) >= 1
                grants = show(place.url, "orders")["grants"]
                wait_until(lambda: show(place.url, "orders")["grants"] > grants + 2, what="new segments")
            after = place.password.stat()
            assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
            refused = run([IDGEN, "segment", "show", "--store", place.server.url(), "--tag", "orders"])
            assert "password authentication failed" in refused.stderr, "the old one is out of use"
        finally:
            place.server.sql(f"ALTER ROLE app PASSWORD '{servers.PASSWORD}'")
            place.password.write_text(servers.PASSWORD)
        client.stop()
        assert client.failures() == []
        assert len(set(client.ids())) == len(client.ids())


def test_a_workers_host_is_replaced(place):
    place.idgen("store", "create", "--config", "idgen.toml", "--name", "events")
    worker = {"kind": "snowflake", "worker": 7, "worker_lease": "1h"}
    with contextlib.closing(place.client(**worker)) as dead, place.runbook("A worker's host is replaced") as book:
        dead.goes_on()
        dead.kill()
        book.do()
        book.do()
        with contextlib.closing(place.client(**worker)) as fresh:
            fresh.goes_on()
            fresh.stop()
        assert min(fresh.ids()) > max(dead.ids())


def test_a_workers_clock_ran_ahead(place):
    store = f"sqlite:{place.folder}/ids.db"
    place.idgen("store", "create", "--store", store)
    (highest,) = place.draw(1, "local")
    ahead = int(time.time() * 1e9) + 365 * 86400 * 10**9
    with idgen.Generator(kind="snowflake", worker=3, store=store, clock=lambda: ahead) as generator:
        generator.next()
    with place.runbook("A worker's clock ran ahead", HIGHEST_ID=highest) as book:
        book.do()
        book.do()
        book.do()
    assert min(place.draw(2, "local")) > highest


def test_the_library_is_upgraded_and_no_request_fails(place, tmp_path):
    """There is one version to test with: this shows that files may be replaced under load, and processes one by one."""
    place.create()
    installed = tmp_path / "lib"
    installed.mkdir()

    def install():
        for name, files in (("", [BUILD / "lib" / "libidgen.so"]), ("modules", MODULES.glob("*.so"))):
            (installed / name).mkdir(exist_ok=True)
            for file in files:
                fresh = installed / name / (file.name + ".new")
                fresh.write_bytes(file.read_bytes())
                fresh.rename(installed / name / file.name)

    install()
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(contextlib.closing(place.client())) for _ in range(3)]
        for client in running:
            client.goes_on()
        install()
        with place.runbook("The library is upgraded") as book:
            book.do()
        everyone = list(running)
        for old in running:
            fresh = stack.enter_context(contextlib.closing(place.client(module_path=installed / "modules")))
            fresh.goes_on()
            old.stop()
            everyone.append(fresh)
        for client in everyone[3:]:
            client.stop()
        assert [client.failures() for client in everyone] == [[]] * 6
        ids = [id for client in everyone for id in client.ids()]
        assert len(set(ids)) == len(ids)


def test_every_section_of_the_page_is_run():
    titles = re.findall(r"^## (.*)$", PAGE.read_text(), re.MULTILINE)
    source = Path(__file__).read_text()
    assert titles
    assert [title for title in titles if json.dumps(title, ensure_ascii=False) not in source] == []
