"""Podman and podman-compose, which run a service's compose.yaml. Docker itself is not here, nor a registry of images.

Containers have namespaces of their own for mounts, network and processes, in which their ports are published: nothing
that runs on this machine is in their way, and they all end with the first process there. Images are built outside,
where there is a network.
"""

import contextlib
import os
import shlex
import shutil
import subprocess
import time
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml
from clients import BUILD, patience
from images import run
from services import EXAMPLES

SERVERS = Path(__file__).with_name("server_images")

# Of cgroups there may be two kinds at once, which crun refuses. A container's limits are no higher than the test's may
# be. For the name of a server that has stopped, this machine's name servers are asked, which are out of reach there.
# Locks, networks and other files of podman's own are in the folder too, and not where another podman has its own.
CONTAINERS = """
[containers]
cgroups = "disabled"
dns_options = ["timeout:1", "attempts:1"]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
tmp_dir = "{folder}/tmp"
[network]
network_backend = "netavark"
network_config_dir = "{folder}/networks"
"""

STORAGE = """
[storage]
driver = "{driver}"
graphroot = "{folder}/images"
runroot = "{folder}/run"
"""

# Ends when the test does, however that ends: then nobody holds the other side of what it reads.
FIRST_PROCESS = """
set -e
mount --make-rprivate /
umount /sys/fs/cgroup/unified 2>/dev/null || true
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
echo ready
exec cat
"""

# SECONDS METHOD URL NUMBER...: prints the id of an order for each number, which is {} in the URL.
PLACE = """
import json, sys, time, urllib.request
seconds, method, url, *numbers = sys.argv[1:]
body = b'{"customer": "somebody"}' if method == "POST" else None
headers = {"content-type": "application/json"}
deadline = time.monotonic() + float(seconds)
for number in numbers:
    request = urllib.request.Request(url.replace("{}", number), body, headers, method=method)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=float(seconds)) as answer:
                print(int(json.load(answer)["id"]))
            break
        except (OSError, ValueError) as error:  # the service, or its database, is not there yet
            if time.monotonic() > deadline:
                sys.exit(f"{number}: {error!r}")
            time.sleep(0.2)
"""

# A statement as the user of the service, in the container of the database.
SQL = {
    "postgres": 'psql -qAt --username="$POSTGRES_USER" --dbname="${POSTGRES_DB:-$POSTGRES_USER}" --command="$1"',
    "mariadb": 'mariadb -BN --user="$MARIADB_USER" --password="$MARIADB_PASSWORD" "$MARIADB_DATABASE" --execute="$1"',
}


class Engine:
    """The namespaces, and in the store the images of the servers that the services use."""

    def __init__(self, images):
        self.images, folder = images, images.folder
        for name, text in {"containers": CONTAINERS, "storage": STORAGE}.items():
            (folder / f"{name}.conf").write_text(text.format(folder=folder, driver=images.driver))
        self.environment = {
            **os.environ,
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "BUILDAH_ISOLATION": "chroot",
            "PATH": f"{BUILD / 'venv' / 'bin'}:{os.environ['PATH']}",
        }
        composed = [yaml.safe_load(path.read_text())["services"] for path in EXAMPLES.glob("*/compose.yaml")]
        for image in {service["image"] for services in composed for service in services.values() if "image" in service}:
            target = ("--layers", "--target", image.split(":")[0])
            images.build(f"docker.io/library/{image}", SERVERS, *target)
        unshare = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", FIRST_PROCESS)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.unshare = subprocess.Popen(unshare, **pipes, start_new_session=True)
        if self.unshare.stdout.readline() != b"ready\n":
            pytest.skip("this machine gives no namespaces to containers")
        (self.first,) = Path(f"/proc/{self.unshare.pid}/task/{self.unshare.pid}/children").read_text().split()

    def close(self):
        self.unshare.communicate()

    def inside(self, *command, folder="/", **variables):
        """What it prints."""
        enter = ("nsenter", "--target", self.first, "--mount", "--net", "--pid", f"--wdns={folder}", "--")
        return run(*enter, *command, env={**self.environment, **variables}, timeout=patience(300))


class Project:
    """The compose.yaml of a service, in a copy of its folder, and the ids of the orders that were placed there."""

    def __init__(self, engine, name, folder, method="POST", url="http://localhost:8080/orders", **variables):
        self.engine, self.name, self.folder, self.variables = engine, name, folder / name, variables
        self.method, self.url = method, url
        shutil.copytree(EXAMPLES / name, self.folder)  # with what was built there
        self.services = yaml.safe_load((self.folder / "compose.yaml").read_text())["services"]
        images = {name: service.get("image", "").split(":")[0] for name, service in self.services.items()}
        ((self.database, self.kind),) = ((name, image) for name, image in images.items() if image in SQL)
        self.ids = []

    @contextlib.contextmanager
    def opened(self, *arguments):
        """Built with these arguments, and up. In the end it is down, without its volumes."""
        options = shlex.join(self.engine.images.options)
        # One after another, so that what several services build alike is built once.
        build = ("podman-compose", "--parallel", "1", f"--podman-build-args={options}", "build", *arguments)
        run(*build, cwd=self.folder, env={**self.engine.environment, **self.variables}, timeout=patience(900))
        try:
            self.up()
            yield
        except BaseException:
            for service in self.services:
                with contextlib.suppress(AssertionError):
                    logs = f"podman logs --tail=50 {self.container(service)} 2>&1"
                    print(f"{service}:", self.engine.inside("sh", "-c", logs), sep="\n")
            raise
        finally:
            self.compose("down", "--volumes")

    def compose(self, *words):
        return self.engine.inside("podman-compose", *words, folder=self.folder, **self.variables)

    def podman(self, *words):
        return self.engine.inside("podman", *words)

    def container(self, service):
        return f"{self.name}_{service}_1"

    def up(self):
        """Follows the conditions of depends_on itself: podman-compose cannot, with a podman as old as Debian's."""
        depends = {name: service.get("depends_on", {}) for name, service in self.services.items()}
        for name in TopologicalSorter(depends).static_order():
            for other, wanted in depends[name].items():
                self.wait(other, wanted["condition"])
            self.compose("up", "-d", "--no-build", "--no-deps", name)

    def wait(self, service, condition):
        container = self.container(service)
        if condition == "service_healthy":
            check = self.services[service]["healthcheck"]
            seconds = int(check["interval"].removesuffix("s"))
            for _ in range(round(patience(check["retries"]))):
                with contextlib.suppress(AssertionError):
                    self.podman("healthcheck", "run", container)
                    return
                time.sleep(seconds)
            raise AssertionError(f"{container} is not healthy")
        if condition == "service_completed_successfully":
            assert self.podman("wait", container).strip() == "0"
        else:
            assert condition == "service_started"

    def restart(self, service, status):
        """It must end by itself, with that status."""
        container = self.container(service)
        seconds = self.services[service]["stop_grace_period"].removesuffix("s")
        self.podman("stop", "--time", seconds, container)
        assert self.state(service, "ExitCode") == str(status)
        self.podman("start", container)

    def kill(self, service):
        """Not as a user who stops it: then it is started again."""
        self.engine.inside("kill", "-KILL", self.state(service, "Pid"))

    def state(self, service, name):
        return self.podman("inspect", "--format", f"{{{{.State.{name}}}}}", self.container(service)).strip()

    def place(self, count=20):
        """Orders, each of which is placed until it is confirmed."""
        numbers = range(len(self.ids), len(self.ids) + count)
        place = ("python3", "-c", PLACE, patience(90), self.method, self.url)
        self.ids += map(int, self.engine.inside(*place, *numbers).split())

    def sql(self, text):
        return self.podman("exec", self.container(self.database), "sh", "-c", SQL[self.kind], "sh", text)

    def check_rows(self):
        """What was confirmed is there, and nothing else."""
        assert sorted(map(int, self.sql("SELECT id FROM orders").split())) == sorted(set(self.ids)) == sorted(self.ids)


def check_restarts(project, service, check_rows, status=0):
    """Orders are placed before and after the database, the service and all are restarted and the service is killed.

    status: with which the service ends.
    """
    project.place()
    check_rows()  # all processes are connected
    project.podman("restart", project.container(project.database))
    project.place()
    project.restart(service, status)
    project.place()
    check_rows()
    project.kill(service)
    project.place()
    check_rows()
    project.compose("down")
    project.up()
    check_rows()  # the volume is still there
    project.place()
    check_rows()
