"""How long stores wait for a name server that does not answer, as docs/stores.md says. It has a network of its own."""

import subprocess

import pytest
from clients import BUILD, run

# One that listens and says nothing. The command and what it prints follow, and all of it ends with the first process.
INSIDE = """
ip link set lo up
mount --bind "$1" /etc/resolv.conf
python3 -c '
import socket, time
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.1", 53))
print("listens", flush=True)
silent.recv(512)
print("was asked", flush=True)
time.sleep(600)
' >"$2" &
until [ -s "$2" ]; do sleep 0.05; done
shift 2
exec "$@"
"""

STORES = [
    "etcd://database",
    "mysql://app@database/shop",
    "postgres://app@database/shop",
    "redis://database",
    "zookeeper://database",
]


@pytest.mark.parametrize("store", STORES)
def test_a_silent_name_server_is_waited_for_no_longer_than_the_resolver_is_told(store, tmp_path):
    names, said = tmp_path / "resolv.conf", tmp_path / "said"
    names.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    alone = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    if run([*alone, "true"]).returncode != 0:
        pytest.skip("this machine gives no namespaces")
    show = [BUILD / "bin" / "idgen", "segment", "show", "--store", store, "--tag", "orders"]
    inside = [*alone, "sh", "-ec", INSIDE, "sh", names, said, *show]
    # MariaDB's client takes 6 s. Without the resolver's options they take 10 s or more.
    told = subprocess.run(inside, capture_output=True, text=True, check=False, timeout=9.5)
    assert told.returncode != 0
    assert "STORE_UNAVAILABLE: " in told.stderr, told.stderr
    assert store in told.stderr
    assert said.read_text() == "listens\nwas asked\n"
