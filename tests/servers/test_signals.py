"""A program with a timer: a profiler, a heartbeat. Each of its signals ends the call in which a thread waits for a
socket, and must not start the wait over."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from clients import BUILD, MODULES, patience

SERVERS = {
    "etcd": "etcd://{}",
    "mysql": "mysql://app@{}/shop",
    "postgres": "postgres://app@{}/shop",
    "redis": "redis://{}",
    "redis by TLS": "redis://{}?tls=require",
    "zookeeper": "zookeeper://{}",
}
# Through the C interface: it asks the store in the thread that calls, and Python's own binding does not.
PROGRAM = f"""
import runpy, signal, sys
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
sys.argv = ["", {str(BUILD / "lib" / "libidgen.so")!r}, "1", *sys.argv[1:]]
runpy.run_path({str(Path(__file__).with_name("drawing.py"))!r})
"""


@pytest.mark.parametrize("server", SERVERS)
def test_a_silent_server_is_given_up_although_signals_come_all_the_time(server):
    with socket.create_server(("127.0.0.1", 0), backlog=100) as silent:
        url = SERVERS[server].format(f"127.0.0.1:{silent.getsockname()[1]}")
        settings = [
            "kind=segment",
            "tag=t",
            f"store={url}",
            "store_timeout=500ms",
            "wait_max=1s",
            f"module.path={MODULES}",
        ]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *settings],
            capture_output=True, text=True, check=False, timeout=patience(60),
        )  # fmt: skip
    assert done.stdout.startswith("!STORE_UNAVAILABLE "), done
