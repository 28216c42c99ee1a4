"""Servers whose disk is full: each on a small file system in memory, if this user may mount one."""

import contextlib
import ctypes
import subprocess
import tempfile
from pathlib import Path

import pytest
from clients import Asked, create, draw, new_tag, segment, show, wait_until
from test_faults import PATIENT, draw_within_a_second

import servers

CLONE_NEWNS = 0x20000


@pytest.fixture(scope="module")
def may_mount():
    """From now on only this process and its children see its mounts, which end with them."""
    private = ["mount", "--make-rprivate", "/"]
    if ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0 or subprocess.run(private, check=False).returncode != 0:
        pytest.skip("this user may not mount a file system")


class Disk:
    """A separate file system for the folders of servers that are started meanwhile."""

    def __init__(self, mebibytes):
        self.path = Path(tempfile.mkdtemp(prefix="idgen-disk-"))
        self.filler = self.path / "filler"
        self.size = f"size={mebibytes}m,mode=755"

    def __enter__(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", self.size, "none", self.path], check=True)
        tempfile.tempdir = str(self.path)
        return self

    def __exit__(self, *_):
        tempfile.tempdir = None
        subprocess.run(["umount", "--lazy", self.path], check=True)
        self.path.rmdir()

    def fill(self):
        fill = ["dd", "if=/dev/zero", f"of={self.filler}", "bs=4096"]
        done = subprocess.run(fill, capture_output=True, text=True, check=False, env={"LC_ALL": "C"})
        assert "No space left on device" in done.stderr

    def free(self):
        self.filler.unlink()


class LoggingMariaDB(servers.MariaDB):
    options = ("--log-bin", "--sync-binlog=1")  # without it a full disk does not keep it from counting


class SmallLogPostgres(servers.Postgres):
    initdb_options = ("--wal-segsize=1",)  # MiB


class SmallLogZooKeeper(servers.ZooKeeper):
    jvm_options = ("-Dzookeeper.preAllocSize=64",)  # KiB


# MiB, and what the server does when it cannot write:
FULL = {
    "mysql": (LoggingMariaDB, 200),  # waits, and checks once per minute whether there is space again
    "postgres": (SmallLogPostgres, 100),  # ends, when it needs the next file of its log
    "redis": (servers.Redis, 8),  # ends
    "etcd": (servers.Etcd, 200),  # ends
    "zookeeper": (SmallLogZooKeeper, 8),  # ends
}


@pytest.fixture(params=FULL)
def on_a_small_disk(request, may_mount):
    """A server and its disk."""
    kind, mebibytes = FULL[request.param]
    with Disk(mebibytes) as disk, kind() as server:
        yield server, disk


def needs_room(server):
    if server.name == "postgres":
        with contextlib.suppress(subprocess.CalledProcessError):
            server.sql("SELECT pg_switch_wal()")


def full(client, count):
    """The failure of a draw, once it is the server's own answer."""

    def found():
        _, failure = draw_within_a_second(client, count)
        return failure.startswith("STORE_FULL") and failure

    return wait_until(found)


def test_a_full_disk_is_waited_out_and_no_number_is_granted_twice(on_a_small_disk):
    server, disk = on_a_small_disk
    tag = create(server.url(), new_tag())
    with Asked(server.url(), tag, step=10, prefetch=1, **PATIENT) as client:
        assert client.ids(10) == list(range(1, 11))
        disk.fill()
        failure = wait_until(lambda: draw_within_a_second(client, 100)[1] or needs_room(server))
        assert failure.partition(" ")[0] in ("STORE_UNAVAILABLE", "STORE_FULL")
        disk.free()
        server.restart()
        if server.remembers:
            wait_until(lambda: client.draw(10)[0], what="issuing goes on")
        else:
            assert client.draw(10)[1].startswith("STORE_REGRESSED")
            assert segment(server.url(), tag, "advance", "--to", str(client.drawn[-1])).returncode == 0
        last = client.drawn[-1]
    assert last <= show(server.url(), tag)["max_id"]
    assert int(draw(server.url(), tag).stdout) > last


class SmallQuotaEtcd(servers.Etcd):
    options = ("--quota-backend-bytes", str(2 << 20))


def test_etcd_above_its_quota_is_full_until_it_has_room_again():
    with SmallQuotaEtcd() as server:
        tag = create(server.url(), new_tag())
        with Asked(server.url(), tag, step=10, prefetch=1, **PATIENT) as client:
            client.ids(10)
            for _ in range(100):
                try:
                    server.ctl("put", "filler", "x" * 100_000)
                except subprocess.CalledProcessError:
                    break
            assert "space exceeded" in full(client, 10)
            assert len(client.drawn) == 10
            assert draw(server.url(), tag, wait_max="1ms").returncode == 75, "worth another try"
            revision = server.ctl("get", "filler", "-w", "json").split('"revision":')[1].split(",")[0]
            server.ctl("compact", revision)
            server.ctl("defrag")
            server.ctl("alarm", "disarm")
            assert client.ids(10)[0] > 10


class EverySecondRedis(servers.Redis):
    options = ("--appendonly", "yes", "--appendfsync", "everysec", "--save", "")


def test_redis_that_cannot_write_its_log_but_goes_on_is_full_and_not_unavailable(may_mount):
    with Disk(8) as disk, EverySecondRedis() as server:
        url = server.url(accept_loss="appendfsync")
        tag = create(url, new_tag())
        with Asked(url, tag, step=10, prefetch=1, **PATIENT) as client:
            client.ids(10)
            disk.fill()
            full(client, 100)
            disk.free()
            wait_until(lambda: client.draw(10)[0], what="issuing goes on")
