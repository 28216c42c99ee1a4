"""The password is not shown to anybody who asks: here a server that poses as MySQL does."""

import contextlib
import socket
import struct
import threading

import pytest
from clients import draw, patience

import servers

SECRET = "hidden-Pa55w0rd"
CAPABILITIES = 0x00000001 | 0x00000008 | 0x00000200 | 0x00002000 | 0x00008000 | 0x00080000  # of MySQL 4.1 and later
GREETING = (
    b"\x0a8.0.36\0"
    + struct.pack("<I", 7)
    + b"abcdefgh\0"
    + struct.pack("<H", CAPABILITIES & 0xFFFF)
    + b"\x2d"
    + struct.pack("<HH", 2, CAPABILITIES >> 16)
    + bytes([21])
    + bytes(10)
    + b"ijklmnopqrst\0mysql_native_password\0"
)


class Impostor:
    """Without TLS. Asks for the password as the plugin does, and keeps what it gets."""

    def __init__(self, plugin):
        self.plugin = plugin
        self.heard = b""
        self.has_asked = False
        self.listener = socket.create_server((servers.HOST, 0))
        self.url = f"mysql://app:{SECRET}@{servers.HOST}:{self.listener.getsockname()[1]}/ids"
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                self.answer(self.listener.accept()[0])

    def answer(self, connection):
        with contextlib.suppress(OSError), connection as client:
            client.settimeout(patience(60))
            self.say(client, 0, GREETING)
            self.heard += client.recv(4096)
            self.say(client, 2, b"\xfe" + self.plugin + b"\0" + b"abcdefghijklmnopqrst\0")
            self.has_asked = True
            self.heard += client.recv(4096)
            # caching_sha2_password: "send all of it", which the client does only for a server it trusts.
            self.say(client, 4, b"\x01\x04")
            while data := client.recv(4096):
                self.heard += data

    @staticmethod
    def say(client, number, data):
        client.sendall(struct.pack("<I", len(data))[:3] + bytes([number]) + data)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for a connection
        self.listener.close()
        self.thread.join(patience(60))


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


@pytest.mark.parametrize("tls", ["require", "verify"])
def test_a_server_that_should_speak_tls_and_does_not_is_not_shown_the_password(tls):
    with Impostor(b"mysql_clear_password") as server:
        done = draw(f"{server.url}?tls={tls}", "orders")
    assert done.returncode == 1
    assert SECRET.encode() not in server.heard


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
