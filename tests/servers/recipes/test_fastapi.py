"""examples/fastapi: its script, word for word, and changes while clients place orders without a pause."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import idgen
import pytest
import yaml
from clients import BUILD, IDGEN, new_tag, patience, run
from compose import Project, check_restarts
from deploying import PATH, Load, process, request, wait_for, wait_for_row
from hosts import ROOT
from services import is_ignored

import servers

SERVICE = ROOT / "examples" / "fastapi"


def test_the_script_places_orders_and_again_by_tasks_with_no_id_twice(tmp_path):
    done = subprocess.run(
        ["sh", SERVICE / "run.sh"],
        cwd=tmp_path, env={**os.environ, "PATH": PATH}, capture_output=True, text=True, check=False,
        timeout=patience(300),
    )  # fmt: skip
    logs = [path.read_text()[-2000:] for path in (tmp_path / "shop").glob("*.log")]
    assert done.returncode == 0, "\n".join([done.stdout, done.stderr[-2000:], *logs])
    assert "600 orders, 600 ids, from 1 to" in done.stdout
    assert "600 events, 600 ids" in done.stdout


# Lines of idgen. `import idgen` is also in app.py, for /health.
LINES = {
    "orders": {
        "models.py": r"^import idgen|^orders = |default=orders",
        "app.py": r"with orders|orders\.get",
        "create.py": r"^import idgen|TagExists|segment_create",
        "compose.yaml": r"IDGEN_ORDERS",
    },
    "events": {
        "models.py": r"^events = |default=events",
        "app.py": r"events\.get",
        "create.py": r"store_create",
        "compose.yaml": r"IDGEN_EVENTS",
    },
    "both": {"tasks.py": r"(orders|events)\.\w+\("},
}


def test_the_readme_counts_its_lines_of_idgen():
    found = {
        name: [
            line
            for path, pattern in files.items()
            for line in (SERVICE / path).read_text().splitlines()
            if re.search(pattern, line)
        ]
        for name, files in LINES.items()
    }
    numbers = re.search(r"(\d+) for orders .*?(\d+) more .*? have (\d+)", (SERVICE / "README.md").read_text(), re.S)
    assert [len(found[name]) for name in LINES] == list(map(int, numbers.groups())), found
    assert len(found["orders"]) <= 10
    # And there are no others.
    everywhere = [line for path in SERVICE.glob("*.py") for line in path.read_text().splitlines() if "idgen." in line]
    assert {line for line in everywhere if "__version__" not in line} <= {*found["orders"], *found["events"]}


def test_the_image_has_the_versions_that_the_tests_run():
    def pins(path):
        lines = path.read_text().splitlines()
        return {re.sub(r"\[.*\]", "", line) for line in lines if line and not line.startswith("#")}

    tested = {pin for path in (ROOT / "scripts").glob("requirements*.txt") for pin in pins(path)}
    assert pins(SERVICE / "requirements.txt") <= tested


def test_compose_has_the_processes_and_the_variables_of_the_script():
    text = (SERVICE / "run.sh").read_text()
    made = yaml.safe_load((SERVICE / "compose.yaml").read_text())
    exported = set(re.findall(r"^export ([A-Z_]+)=", text, re.MULTILINE)) - {"PYTHONDONTWRITEBYTECODE"}
    for name in ("create", "web", "tasks"):
        assert made["services"][name]["environment"].keys() == exported
        assert made["services"][name]["depends_on"].keys() <= made["services"].keys()
    assert "python3 create.py" in text
    assert "celery --app=tasks worker --concurrency=2" in text
    assert " ".join(made["services"]["tasks"]["command"]) == "celery --app=tasks worker --concurrency=2"


def test_what_the_script_leaves_is_ignored_by_git_and_docker():
    left = "shop"
    assert f"mkdir -m 755 {left} " in (SERVICE / "run.sh").read_text()
    assert is_ignored(f"{SERVICE}/{left}/")
    assert left in (SERVICE / ".dockerignore").read_text().split()


def test_the_commands_of_compose_name_what_is_there():
    text = (SERVICE / "compose.yaml").read_text()
    commands = re.findall(r"^#   (.*)$", text, re.MULTILINE)
    assert commands[0] == "make dist && cp build/dist/idgen-*.tar.gz examples/fastapi/"
    assert yaml.safe_load(text)["secrets"]["password"]["file"] == "./password"
    assert commands[1] == "openssl rand -base64 18 >examples/fastapi/password"
    assert is_ignored(SERVICE / "password")
    assert "password" in (SERVICE / ".dockerignore").read_text().split()
    assert commands[2].startswith("docker compose --file examples/fastapi/compose.yaml up --build")
    assert "COPY idgen-*.tar.gz" in (SERVICE / "Dockerfile").read_text()


def test_compose_runs_the_service_and_no_id_comes_twice_though_all_is_restarted(engine, tmp_path):
    url = "http://localhost:8000/orders/{}?again=true"
    project = Project(engine, "fastapi", tmp_path, method="PUT", url=url)
    (archive,) = (BUILD / "dist").glob("idgen-*.tar.gz")
    shutil.copy(archive, project.folder)
    password = project.folder / "password"
    password.write_text("first\n")

    def check_rows():
        """Each order is there twice, the second time by a task."""
        count, is_there = 2 * len(project.ids), "SELECT count(*) FROM events"
        wait_for_row(lambda: int(project.sql(is_there)) == count, what="the tasks have run")
        orders = set(map(int, project.sql("SELECT id FROM orders").split()))
        assert len(orders) == count
        assert len({*project.ids} & orders) == len(project.ids)
        assert len(set(project.sql("SELECT id FROM events").split())) == count

    # Named, though it is the Dockerfile's own: Debian's podman does not look for what ARG says in `FROM ${idgen}`.
    with project.opened("--build-arg", "idgen=from-source"):
        check_restarts(project, "web", check_rows)
        project.sql("ALTER USER shop PASSWORD 'second'")
        password.write_text("second\n")  # in place: a container has this file, not its folder
        project.restart("web", status=0)
        project.place()
        check_rows()


def test_celery_waits_for_a_process_that_waits_for_the_store():
    text = (SERVICE / "tasks.py").read_text()
    opened = re.findall(r"^    \w+\.get\(\)$", text, re.MULTILINE)
    assert int(re.search(r"worker_proc_alive_timeout = (\d+)", text)[1]) > 60 * len(opened) == 120  # open_wait


NGINX = """
daemon off;
user root;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream shop {{
    server 127.0.0.1:{ports[0]} max_fails=0;
    server 127.0.0.1:{ports[1]} max_fails=0;
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://shop; proxy_connect_timeout 2s; }}
  }}
}}
"""


class Shop:
    """Two hosts with the service behind nginx. Each has a number for its worker, a host name and a port."""

    def __init__(self, postgres, folder):
        self.folder, self.postgres = folder, postgres
        self.name = new_tag()
        postgres.sql(f"CREATE ROLE {self.name} LOGIN PASSWORD 'first'", database="postgres")
        postgres.sql(f"CREATE DATABASE {self.name} OWNER {self.name}", database="postgres")
        with (postgres.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host {self.name} {self.name} 127.0.0.1/32 scram-sha-256\n")
        postgres.sql("SELECT pg_reload_conf()", database="postgres")
        self.password = folder / "password"
        self.write_password("first")
        place = f"{self.name}@{servers.HOST}:{postgres.port}/{self.name}"
        self.store = f"postgres://{place}?password_file={self.password}"
        self.environment = {
            **os.environ,
            "DATABASE": f"postgresql+psycopg://{place}",
            "PASSWORD_FILE": str(self.password),
            "POOL_RECYCLE": "1",  # so that connections are made all the time
            "IDGEN_ORDERS_STORE": self.store,
            "IDGEN_EVENTS_STORE": self.store,
            "IDGEN_EVENTS_WORKER_LEASE": "3s",
            "IDGEN_EVENTS_WORKER_SOURCE": "env",
            "IDGEN_EVENTS_WORKER_ENV": "NUMBER_OF_HOST",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = run([sys.executable, "create.py"], cwd=SERVICE, env=self.environment)
        assert done.returncode == 0, done.stderr
        self.python = sys.executable
        self.ports = [servers.free_port() for _ in range(2)]
        self.port = servers.free_port()
        self.hosts = [None, None]

    def sql(self, text):
        return self.postgres.sql(text, database=self.name)

    def write_password(self, text):
        new = self.folder / "password-new"
        new.write_text(text + "\n")
        new.replace(self.password)

    def start(self, number, name):
        """A host: gunicorn under a host name, with worker 1 or 2."""
        command = [
            *("unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', name, self.python, "-m", "gunicorn"),
            *("--workers", "1", "--bind", f"127.0.0.1:{self.ports[number]}", "app:app"),
        ]
        host = contextlib.ExitStack()
        environment = {**self.environment, "NUMBER_OF_HOST": str(number + 1)}
        host.process = host.enter_context(process(command, SERVICE, environment, name=self.folder / name))
        self.hosts[number] = host
        return host

    def wait(self, number):
        """What a host says of itself, once it answers."""
        return json.loads(wait_for(f"http://127.0.0.1:{self.ports[number]}/health", self.hosts[number].process))

    def roll(self, number, name):
        """The host's process ends by SIGTERM, and another one begins."""
        self.hosts[number].close()
        self.start(number, name)
        return self.wait(number)

    def kill(self, number):
        host = self.hosts[number]
        os.killpg(host.process.pid, 9)
        host.process.wait()
        host.pop_all()  # it did not end with success, nor should it

    def workers(self):
        done = run([IDGEN, "worker", "list", "--store", self.store])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def put(self, reference):
        return int(json.loads(request(f"http://127.0.0.1:{self.port}/orders/{reference}", "PUT"))["id"])


@pytest.fixture
def shop(started, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root gives a process a host name of its own")
    shop = Shop(started("postgres"), tmp_path)
    config = tmp_path / "nginx.conf"
    config.write_text(NGINX.format(folder=tmp_path, ports=shop.ports, port=shop.port))
    with contextlib.ExitStack() as ends:
        shop.start(0, "host-a")
        shop.start(1, "host-b")
        ends.callback(lambda: [host.close() for host in shop.hosts])
        shop.wait(0)
        shop.wait(1)
        nginx = ends.enter_context(process(["nginx", "-p", tmp_path, "-c", config], tmp_path, None, name="nginx.out"))
        wait_for(f"http://127.0.0.1:{shop.port}/health", nginx)
        yield shop


@pytest.fixture(scope="session")
def next_python(tmp_path_factory):
    """A virtual environment that differs in idgen alone: the next version of it."""
    folder = tmp_path_factory.mktemp("next")
    script = Path(__file__).with_name("next_version")
    done = subprocess.run([script, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    (wheel,) = folder.glob("idgen-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    install = ("install", "--quiet", "--no-deps", "--no-index", "--target", packages, wheel)
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    (others,) = (path for path in sys.path if path.endswith("site-packages"))
    (packages / "others.pth").write_text(others + "\n")
    return str(folder / "venv" / "bin" / "python")


def test_no_request_fails_while_password_store_host_and_library_are_replaced(shop, started, next_python, tmp_path):
    with Load(shop.put) as load:
        load.goes_on(100)

        # The password. For half a second nobody can connect.
        shop.sql(f"ALTER ROLE {shop.name} PASSWORD 'second'")
        of_idgen = f"usename = '{shop.name}' AND query LIKE '%idgen_%' AND state = 'idle'"
        shop.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {of_idgen}")
        time.sleep(0.5)
        shop.write_password("second")
        load.goes_on(100)

        # The tag, to another server. What the processes hold lasts until they are restarted.
        mariadb = started("mysql")
        mariadb.sql(f"CREATE DATABASE {shop.name}; GRANT ALL ON {shop.name}.* TO app", database="")
        there = mariadb.url().replace("/ids", "/" + shop.name)
        moved = run([IDGEN, "segment", "move", "--from", shop.store, "--to", there, "--tag", "orders", "--json"])
        assert moved.returncode == 0, moved.stderr
        shop.environment["IDGEN_ORDERS_STORE"] = there
        for number, name in enumerate(("host-a", "host-b")):
            assert shop.roll(number, name)["host"] == name
            load.goes_on()
        assert int(mariadb.sql("SELECT grants FROM idgen_segment", database=shop.name)) > 1

        # A host. Its process gave nothing back; the next one has its number once the lease has ended.
        assert "on host-b" in shop.workers()
        shop.kill(1)
        load.goes_on()
        shop.start(1, "host-c")
        assert shop.wait(1)["host"] == "host-c"
        assert "on host-c" in shop.workers()
        assert "on host-b" not in shop.workers()
        load.goes_on()

        # The library, host by host.
        shop.python = next_python
        for number, name in enumerate(("host-a", "host-c")):
            assert shop.roll(number, name)["idgen"] != idgen.__version__
            load.goes_on()

    assert not load.failures, load.failures[:3]
    assert len(set(load.answers)) == len(load.answers) > 400
    orders = [int(id) for id in shop.sql("SELECT id FROM orders").split()]
    assert sorted(orders) == sorted(load.answers), "no order is missing, and none is there that nobody placed"
    layout = idgen.Layout("default")
    events = [int(id) for id in shop.sql("SELECT id FROM events").split()]
    assert len(set(events)) == len(events) == len(orders)
    assert {layout.decode(id).worker for id in events} == {1, 2}
