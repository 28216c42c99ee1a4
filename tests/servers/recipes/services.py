"""What the tests of the services in examples/ have in common."""

import contextlib
import os
import re
import socket
import subprocess
import urllib.error
import urllib.request

import yaml
from clients import BUILD, patience, run, wait_until
from hosts import ROOT

from servers import Postgres, free_port

EXAMPLES = ROOT / "examples"
MOST_LINES = 10
MENTIONS = re.compile(r"idgen|SqlStore|LazyGenerator|order_?ids", re.IGNORECASE)
NO_CODE = re.compile(r"import\b|package\b|#|//|/?\*|--|\"[\w./]+\"$|\W*$")


def tell(name, folder, **environment):
    """The story of a service, word for word, in that folder. What it printed."""
    done = subprocess.run(
        ["sh", EXAMPLES / name / "run.sh"], cwd=folder, env={**os.environ, **environment},
        capture_output=True, text=True, check=False, timeout=patience(900),
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    check_story(done.stdout)
    return done.stdout


def check_story(printed):
    """No order was lost, no id was there twice, and the database was really down."""
    placed = re.search(r"(\d+) orders in the table, all (\d+) that were confirmed among them; no id twice", printed)
    failed = re.search(r"(\d+) attempts failed", printed)
    assert placed, printed
    assert int(placed[1]) >= int(placed[2]) >= 500
    assert int(failed[1]) > 0  # of those in the time when the database was down


@contextlib.contextmanager
def on_postgres(name):
    """A PostgreSQL with the schema of that service: the server, and the address for its user."""
    with Postgres() as server:
        url = server.url().replace("postgres://", "postgresql://")
        made = run(["psql", "--no-psqlrc", "--quiet", f"--file={EXAMPLES / name / 'schema.sql'}", url])
        assert (made.returncode, made.stderr) == (0, "")
        yield server, url


@contextlib.contextmanager
def served(command, folder, log, **environment):
    """The address of a service's orders. It must end in order."""
    port = free_port()
    with log.open("ab") as out:
        service = subprocess.Popen(
            ["bash", "-euc", f"exec {command}"], cwd=folder, stdout=out, stderr=out,
            env={**os.environ, "PORT": str(port), **environment},
        )  # fmt: skip
    try:
        wait_until(lambda: is_open(port) or service.poll() is not None, what="the service opens")
        assert service.poll() is None, log.read_text()
        yield f"http://127.0.0.1:{port}/orders"
        service.terminate()
        assert service.wait(patience(60)) == 0, log.read_text()
    finally:
        service.kill()
        service.wait()


def is_open(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def order(address):
    """Status and answer."""
    request = urllib.request.Request(address, data=b'{"customer": "somebody"}', method="POST")
    try:
        with urllib.request.urlopen(request, timeout=patience(60)) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def is_ignored(path):
    return run(["git", "-C", EXAMPLES, "check-ignore", "--quiet", path]).returncode == 0


def check_the_counter(name, command, folder, *variables):
    """A service that ends gives its numbers back; one whose counter was set back says "duplicate" in its log."""
    log = folder / "log"
    with on_postgres(name) as (server, url):
        environment = dict.fromkeys(["DATABASE_URL", *variables], url)
        with served(command, EXAMPLES / name, log, **environment) as address:
            assert [order(address)[0] for _ in range(3)] == [201, 201, 201]
        assert server.sql("SELECT max_id FROM idgen_segment").strip() == "3"
        assert "duplicate" not in log.read_text()
        server.set_counter("orders", 0)
        with served(command, EXAMPLES / name, log, **environment) as address:
            status, answer = order(address)
        assert status == 503
        assert "try again" in answer
        assert "orders" not in answer, "no name of a table, a column or a server"
        assert "duplicate" in log.read_text()


def check_lines_of_idgen(name, sources):
    """README.md shows all that idgen adds to the service, word for word, and says how many lines that is."""
    folder = EXAMPLES / name
    readme = (folder / "README.md").read_text()
    blocks = re.findall(r"```(?:java|go|c|toml|properties)\n(.*?)```", readme, re.DOTALL)
    shown = [line for block in blocks for line in lines_of_code(block)]
    written = [line for source in sources for line in lines_of_code((folder / source).read_text())]
    assert [line for line in shown if line not in written] == []
    assert sorted(filter(MENTIONS.search, shown)) == sorted(filter(MENTIONS.search, written))
    said = int(re.search(r"What idgen adds is (\d+) lines", readme)[1])
    assert len(shown) == said <= MOST_LINES, shown


def lines_of_code(text):
    """Without imports, comments, braces, and annotations that say nothing of idgen."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if not NO_CODE.match(line)]
    return [line for line in lines if MENTIONS.search(line) or not re.fullmatch(r"@\w+(\(\w+\.\w+\))?", line)]


def check_compose(name):
    """The environment of compose.yaml is that of run.sh."""
    compose = yaml.safe_load((EXAMPLES / name / "compose.yaml").read_text())
    port = {"mariadb": "3306", "postgres": "5432"}[compose["services"]["database"]["image"].split(":")[0]]
    told = run(["sh", EXAMPLES / name / "run.sh", "environment", "database", port])
    assert told.returncode == 0, told.stderr
    wanted = dict(line.split("=", 1) for line in told.stdout.splitlines())
    found = compose["services"]["orders"]["environment"]
    assert {key: str(value) for key, value in found.items() if not key.endswith("PORT")} == wanted


def check_schema(name, url):
    """schema.sql makes the tag as the command prints it."""
    done = run([BUILD / "bin" / "idgen", "segment", "create", "--store", url, "--tag", "orders", "--print"])
    assert done.returncode == 0, done.stderr
    printed = re.sub(r"'orders', 0, 0, \d+\)", "'orders', 0, 0, 0)", done.stdout)
    assert " ".join(printed.split()) in " ".join((EXAMPLES / name / "schema.sql").read_text().split())
