"""Two machines, as two network namespaces with a host name each: one server, a link that is cut."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from clients import BUILD, IDGEN, Client, ids_of, new_tag, run, wait_until
from test_workers import SHORT, properties, workers_of

import servers


class Host:
    """A network namespace, linked to this one."""

    def __init__(self, number):
        self.name = f"idgen-{os.getpid()}-{number}"
        self.link = f"ig{os.getpid() % 100000}v{number}"
        self.outside, self.inside = (f"10.{200 + number}.{os.getpid() % 250}.{end}" for end in (1, 2))
        self.ends = contextlib.ExitStack()
        self.ip("netns", "add", self.name)
        self.ends.callback(self.ip, "netns", "del", self.name)
        self.ip("link", "add", self.link, "type", "veth", "peer", "name", "uplink", "netns", self.name)
        self.ip("addr", "add", f"{self.outside}/30", "dev", self.link)
        self.ip("link", "set", self.link, "up")
        self.ip("-n", self.name, "addr", "add", f"{self.inside}/30", "dev", "uplink")
        self.ip("-n", self.name, "link", "set", "uplink", "up")

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def cut(self):
        self.ip("link", "set", self.link, "down")

    def mend(self):
        self.ip("link", "set", self.link, "up")

    def command(self, *words):
        return [
            *("ip", "netns", "exec", self.name, "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', self.name),
            *map(str, words),
        ]


class Process(Client):
    """It draws ids of a leased worker on a host, until it is told to stop."""

    def __init__(self, host, folder, url, namespace):
        self.path = Path(folder) / new_tag()
        drawing = Path(__file__).with_name("drawing.py")
        program = (sys.executable, drawing, BUILD / "lib" / "libidgen.so", "50")
        with self.path.open("wb") as out:
            self.process = subprocess.Popen(
                host.command(*program, *properties(url, namespace, "auto", **SHORT, store_timeout="5s")), stdout=out
            )


class Reachable(servers.Redis):
    """Redis that also listens on the links."""

    addresses = ()

    def command(self):
        return [*super().command(), "--bind", servers.HOST, *self.addresses]


@pytest.fixture
def hosts():
    with contextlib.ExitStack() as ends:
        if shutil.which("ip") is None or os.geteuid() != 0:
            pytest.skip("only root may make network namespaces, with the command ip")
        try:
            found = [Host(number) for number in range(2)]
        except subprocess.CalledProcessError as refused:
            pytest.skip(f"this machine gives no network namespaces: {refused.stderr}")
        for host in found:
            ends.enter_context(host.ends)
        yield found


def test_processes_of_two_hosts_lease_different_workers_while_the_link_of_one_is_cut(hosts, tmp_path):
    class OnLinks(Reachable):
        addresses = tuple(host.outside for host in hosts)

    here, there = hosts
    namespace = new_tag()
    with OnLinks() as redis, contextlib.ExitStack() as ends:

        def start(host, count):
            url = redis.url().replace(servers.HOST, host.outside)
            started = [Process(host, tmp_path, url, namespace) for _ in range(count)]
            for process in started:
                ends.callback(process.close)
                process.goes_on()
            return started

        left, right = start(here, 4), start(there, 4)
        sets = [word for pair in properties(redis.url(), namespace, "auto") for word in ("--set", pair)]
        listed = run([IDGEN, "worker", "list", *sets])
        assert listed.stdout.count(f"on {here.name}") == 4, listed.stdout + listed.stderr
        assert listed.stdout.count(f"on {there.name}") == 4
        there.cut()
        for process in right:
            redis.expire(namespace, *workers_of(process))
        left += start(here, 6)
        before = [process.size() for process in right]
        there.mend()
        for process, size in zip(right, before, strict=True):
            wait_until(lambda process=process, size=size: process.size() > size, what="goes on after the cut")
        for process in (*left, *right):
            process.goes_on(process.size()).stop()
        ids_of([*left, *right])
