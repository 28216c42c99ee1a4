"""The password is not shown to a server that asks for it: here one that poses as MySQL or as PostgreSQL."""

import contextlib
import socket
import ssl
import struct
import threading

import pytest
import trustme
from clients import draw, patience

import servers

SECRET = "hidden-Pa55w0rd"
CAPABILITIES = 0x00000001 | 0x00000008 | 0x00000200 | 0x00002000 | 0x00008000 | 0x00080000  # of MySQL 4.1 and later
WITH_TLS = CAPABILITIES | 0x00000800


def greeting(capabilities):
    return (
        b"\x0a8.0.36\0"
        + struct.pack("<I", 7)
        + b"abcdefgh\0"
        + struct.pack("<H", capabilities & 0xFFFF)
        + b"\x2d"
        + struct.pack("<HH", 2, capabilities >> 16)
        + bytes([21])
        + bytes(10)
        + b"ijklmnopqrst\0mysql_native_password\0"
    )


class Listener:
    """A server that is none of the real ones: hear(client) has each connection, until the client has gone."""

    def __init__(self):
        self.heard = b""
        self.listener = socket.create_server((servers.HOST, 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def serve(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                with self.listener.accept()[0] as client, contextlib.suppress(OSError):
                    client.settimeout(patience(60))
                    self.hear(client)

    def hear_the_rest(self, client):
        while data := client.recv(4096):
            self.heard += data

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for a connection
        self.listener.close()
        self.thread.join(patience(60))


class Impostor(Listener):
    """Asks for the password as the plugin does, and keeps what it gets. Without a context it has no TLS."""

    def __init__(self, plugin, context=None):
        super().__init__()
        self.plugin = plugin
        self.context = context
        self.has_asked = False
        self.url = f"mysql://app:{SECRET}@{servers.HOST}:{self.port}/ids"

    def hear(self, client):
        self.say(client, 0, greeting(WITH_TLS if self.context else CAPABILITIES))
        if not self.context:
            self.ask(client, 2)
            return
        self.heard += client.recv(36)  # that it goes on by TLS
        with self.context.wrap_socket(client, server_side=True) as inside:
            self.ask(inside, 3)

    def ask(self, client, number):
        self.heard += client.recv(4096)
        self.say(client, number, b"\xfe" + self.plugin + b"\0" + b"abcdefghijklmnopqrst\0")
        self.has_asked = True
        self.heard += client.recv(4096)
        # caching_sha2_password: "send all of it", which the client does only for a server it trusts.
        self.say(client, number + 2, b"\x01\x04")
        self.hear_the_rest(client)

    @staticmethod
    def say(client, number, data):
        client.sendall(struct.pack("<I", len(data))[:3] + bytes([number]) + data)


class PostgresImpostor(Impostor):
    """Asks for the password as it is."""

    def __init__(self, context):
        super().__init__(b"", context)
        self.url = self.url.replace("mysql:", "postgres:")

    def hear(self, client):
        client.recv(8)  # may it be TLS?
        client.sendall(b"S")
        with self.context.wrap_socket(client, server_side=True) as inside:
            self.heard += inside.recv(4096)
            inside.sendall(b"R" + struct.pack(">II", 8, 3))
            self.has_asked = True
            self.hear_the_rest(inside)


REVEALING = [b"mysql_clear_password", b"dialog", b"sha256_password", b"caching_sha2_password", b"mysql_old_password"]


@pytest.mark.parametrize("plugin", REVEALING)
def test_a_server_that_is_not_verified_is_not_shown_the_password(plugin):
    with Impostor(plugin) as server:
        done = draw(server.url, "orders")
    assert server.has_asked
    assert done.stderr.startswith("idgen: error: STORE_PERMISSION: cannot connect to mysql://app@"), done.stderr
    assert "tls=verify" in done.stderr
    assert SECRET.encode() not in server.heard
    assert SECRET not in done.stderr


@pytest.fixture(scope="module")
def authorities(tmp_path_factory):
    """The user's own and another one, and the file of the user's own."""
    own, other = trustme.CA(), trustme.CA()
    file = tmp_path_factory.mktemp("authorities") / "own.pem"
    own.cert_pem.write_to_path(file)
    return own, other, file


KNOWN = ["tls=verify", "tls=verify-ca"]  # a server that the client believes to know may ask for anything


@pytest.mark.parametrize("plugin", REVEALING)
@pytest.mark.parametrize("tls", ["tls=require", *KNOWN, "tls=verify-ca&auth=caching_sha2_password"])
def test_a_server_that_should_speak_tls_and_does_not_is_not_shown_the_password(tls, plugin, authorities):
    with Impostor(plugin) as server:
        done = draw(f"{server.url}?{tls}&tls_ca={authorities[-1]}", "orders")
    assert done.returncode == 1
    assert SECRET.encode() not in server.heard
    if tls.startswith("tls=verify"):
        assert b"app" not in server.heard, "not even who is there"


@pytest.mark.parametrize("plugin", REVEALING)
@pytest.mark.parametrize("tls", KNOWN)
def test_a_server_with_a_certificate_of_a_stranger_is_not_shown_the_password(tls, plugin, authorities):
    own, other, file = authorities
    heard = []
    for authority in (other, own):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("db.example" if tls == "tls=verify-ca" else servers.HOST).configure_cert(context)
        with Impostor(plugin, context) as server:
            draw(f"{server.url}?{tls}&tls_ca={file}", "orders", store_timeout="2s", wait_max="1s")
        heard.append(server.heard)
    assert b"app" not in heard[0]
    assert SECRET.encode() not in heard[0]
    if plugin in (b"mysql_clear_password", b"caching_sha2_password"):
        assert SECRET.encode() in heard[1], "such a test can fail"


def test_a_way_to_log_in_that_the_url_allows_is_taken_up_and_no_other():
    allowing = "?tls=off&auth=caching_sha2_password"
    with Impostor(b"caching_sha2_password") as server:
        done = draw(server.url + allowing, "orders", store_timeout="2s", wait_max="1s")
    assert not done.stderr.startswith("idgen: error: STORE_PERMISSION"), "it was not refused, but failed later"
    assert SECRET.encode() not in server.heard, "it asks for a key to encrypt it with"
    with Impostor(b"mysql_clear_password") as server:
        done = draw(server.url + allowing, "orders")
    assert done.stderr.startswith("idgen: error: STORE_PERMISSION")
    assert SECRET.encode() not in server.heard


@pytest.mark.parametrize("parameters", ["auth=caching_sha2_password", "tls=require&auth=sha256_password"])
def test_a_server_without_tls_is_not_shown_what_goes_through_tls_elsewhere(parameters):
    with Impostor(b"caching_sha2_password" if "caching" in parameters else b"sha256_password") as server:
        done = draw(f"{server.url}?{parameters}", "orders", store_timeout="2s", wait_max="1s")
    assert server.has_asked
    assert done.returncode != 0
    assert SECRET.encode() not in server.heard


def test_a_way_to_log_in_that_shows_the_password_to_listeners_cannot_be_allowed():
    with Impostor(b"mysql_clear_password") as server:
        done = draw(f"{server.url}?auth=mysql_clear_password", "orders")
    assert done.stderr.startswith("idgen: error: VALUE"), done.stderr
    assert "auth" in done.stderr
    assert server.heard == b""


@pytest.mark.parametrize(("parameters", "hears"), [("", True), ("&channel_binding=require", False)])
def test_postgres_shows_the_password_to_who_asks_unless_it_must_be_bound_to_the_connection(
    parameters, hears, authorities
):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authorities[1].issue_cert(servers.HOST).configure_cert(context)
    with PostgresImpostor(context) as server:
        done = draw(f"{server.url}?tls=require{parameters}", "orders", store_timeout="2s", wait_max="1s")
    assert server.has_asked
    assert done.returncode != 0
    assert (SECRET.encode() in server.heard) == hears, "as docs/stores.md says"
    assert hears or "channel binding required" in done.stderr
