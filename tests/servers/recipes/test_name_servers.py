"""What stores ask a name server that does not answer, as docs/stores.md says: each time they ask, they wait as long as
the resolver is told. The test has its own network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from clients import BUILD, patience, run

# One that writes down what it hears, and says nothing. The command and what it prints follow, and all of it ends with
# the first process.
INSIDE = """
ip link set lo up
mount --bind "$1/resolv.conf" /etc/resolv.conf
mount --bind "$1/hosts" /etc/hosts
python3 -c '
import socket
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.1", 53))
print("listens", flush=True)
while True:
    print(silent.recv(512).hex(), flush=True)
' >"$1/said" &
until [ -s "$1/said" ]; do sleep 0.05; done
shift
exec "$@"
"""

# A server that has a name is gone, and so is its name.
DRAWING = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[1])!r})
import idgen, servers
with servers.KINDS["redis"]() as server:
    store = server.url().replace(servers.HOST, "database")
    idgen.segment_create(store=store, tag="orders")
    generator = idgen.Generator(kind="segment", store=store, tag="orders", wait_max="1s", **{{
        "segment.step": 10, "segment.runway": "0s", "segment.prefetch": 1}})
    print(generator.next())
with open("/etc/hosts", "w"):
    pass
drawn = 1
while True:
    try:
        generator.next()
        drawn += 1
    except idgen.StoreUnavailableError as error:
        print(drawn, "drawn,", error, flush=True)
        os._exit(0)  # close() would wait for the name server
"""

# And how often each asks for an address: MariaDB's client tries again by itself.
STORES = {
    "etcd://database": 1,
    "mysql://app@database/shop": 6,
    "postgres://app@database/shop": 1,
    "redis://database": 1,
    "zookeeper://database": 1,
}
IPV4 = b"\0\1\0\1"  # how such a question ends


def told_by(folder, command, resolver, hosts=""):
    """What the command says with a name server that does not answer, and the questions that this server hears."""
    alone = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    if run([*alone, "true"]).returncode != 0:
        pytest.skip("this machine gives no namespaces")
    (folder / "resolv.conf").write_text(f"nameserver 127.0.0.1\n{resolver}")
    (folder / "hosts").write_text(hosts)
    inside = [*alone, "sh", "-ec", INSIDE, "sh", folder, *command]
    done = subprocess.run(inside, capture_output=True, text=True, check=False, timeout=patience(120))
    listens, *questions = (folder / "said").read_text().split()
    assert listens == "listens"
    return done.stdout + done.stderr, [bytes.fromhex(question) for question in questions]


def show(store):
    return [BUILD / "bin" / "idgen", "segment", "show", "--store", store, "--tag", "orders"]


@pytest.mark.parametrize("store", STORES)
def test_a_silent_name_server_is_asked_no_more_often_than_the_resolver_is_told(store, tmp_path):
    told, questions = told_by(tmp_path, show(store), "options timeout:1 attempts:1\n")
    assert "STORE_UNAVAILABLE: " in told
    assert store in told
    assert len(questions) == len(set(questions)), "a second attempt has the number of the first"
    assert sum(question.endswith(IPV4) for question in questions) == STORES[store]


def test_domains_to_search_double_the_questions_however_many_they_are(tmp_path):
    domains = " ".join(f"{number}.test" for number in range(100))
    told, questions = told_by(
        tmp_path, show("postgres://app@database/shop"), f"options timeout:2 attempts:1\nsearch {domains}\n"
    )
    assert "STORE_UNAVAILABLE: " in told
    names = [b"\x08database\x010\x04test\0", b"\x08database\0"]
    assert [question[12:] for question in questions if question.endswith(IPV4)] == [name + IPV4 for name in names]


def test_a_draw_waits_no_longer_than_wait_max_for_a_silent_name_server(tmp_path):
    # A draw that waited for the name server would take minutes.
    resolver = "options timeout:30 attempts:5\n"
    told, questions = told_by(tmp_path, [sys.executable, "-c", DRAWING], resolver, hosts="127.0.0.1 database\n")
    assert re.search(r"^10 drawn, .* waited \d+ ms \(wait_max\)", told, re.MULTILINE), told
    assert questions
