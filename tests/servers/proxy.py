"""A TCP proxy between a client and a server that does on request what networks do by chance.

It knows nothing about the protocols except ZooKeeper's ping and the part of a request that a test tells it to look for.
"""

import contextlib
import socket
import threading
import time

from servers import HOST

CHUNK = 1 << 16
PING = b"\0\0\0\x08\xff\xff\xff\xfe\0\0\0\x0b"  # what ZooKeeper's client sends when it has nothing to ask


class Connection:
    """One client's, with a thread for each direction."""

    def __init__(self, proxy, client):
        self.proxy = proxy
        self.client = client
        self.server = socket.create_connection((HOST, proxy.target))
        for end in (client, self.server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.asked = False
        self.losing = False
        self.vanished = False

    def start(self):
        for work in (self.requests, self.answers):
            threading.Thread(target=work, daemon=True).start()

    def requests(self):
        with contextlib.suppress(OSError):
            while data := self.client.recv(CHUNK):
                self.proxy.passing.wait()
                if data == PING:
                    self.proxy.pings += 1
                else:
                    self.asked = True
                if self.proxy.listens:
                    self.proxy.heard += data
                fate = self.proxy.fate_of(data)
                if fate == "request":
                    break
                self.losing = self.losing or fate == "answer"
                self.vanished = fate == "vanish"
                self.server.sendall(data)
                if self.vanished:
                    self.proxy.lost.set()
                    return
        self.cut()

    def answers(self):
        with contextlib.suppress(OSError):
            while data := self.server.recv(CHUNK):
                if self.asked:
                    self.asked = False
                    self.proxy.count_round_trip()
                if self.losing:
                    self.proxy.before_cut()
                    self.proxy.lost.set()
                    break
                self.proxy.wait()
                self.proxy.passing.wait()
                if not self.vanished:
                    self.client.sendall(data)
        self.cut()

    def cut(self):
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.proxy.forget(self)


class Proxy:
    """target is the server's port; changing it affects only new connections. With `listens`, `heard` is what clients
    have sent."""

    def __init__(self, target, listens=False):
        self.target = target
        self.listens, self.heard = listens, b""
        self.seconds, self.delay_changes = 0.0, threading.Condition()
        self.round_trips = 0  # without pings
        self.pings = 0
        self.accepted = self.ended = 0  # connections
        self.passing = threading.Event()
        self.passing.set()
        self.lost = threading.Event()
        self.lock = threading.Lock()
        self.connections = set()
        self.losses = []
        self.before_cut = lambda: None  # when an answer is lost
        self.listener = None
        # Keeps the port for as long as the proxy lives, also while it refuses. It never listens.
        self.place = self.bound(0)
        self.port = self.place.getsockname()[1]
        self.allow()

    @staticmethod
    def bound(port):
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        return made

    @property
    def delay(self):
        """Of each answer, in seconds. A change holds for answers that are waiting, too."""
        return self.seconds

    @delay.setter
    def delay(self, seconds):
        with self.delay_changes:
            self.seconds = seconds
            self.delay_changes.notify_all()

    def wait(self):
        began = time.monotonic()
        with self.delay_changes:
            while (left := began + self.seconds - time.monotonic()) > 0:
                self.delay_changes.wait(left)

    def allow(self):
        """Takes connections; the opposite of refuse()."""
        if self.listener is not None:
            return
        self.listener = self.bound(self.port)
        self.listener.listen(64)
        threading.Thread(target=self.accept, args=[self.listener], daemon=True).start()

    def refuse(self):
        """Like a machine on which the server does not run."""
        listener, self.listener = self.listener, None
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.cut()

    def stall(self):
        """Swallows what is sent, in both directions, until go_on()."""
        self.passing.clear()

    def go_on(self):
        self.passing.set()

    def cut(self):
        """Ends all connections."""
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            connection.cut()

    def lose_answer(self, mark):
        """The next request that holds the bytes mark is answered by the server; the client never learns of it."""
        self.lose("answer", mark)

    def lose_request(self, mark):
        """The next request that holds the bytes mark does not reach the server."""
        self.lose("request", mark)

    def vanish_after(self, mark):
        """The client sends the next request that holds the bytes mark, and its host is gone: the server hears no more
        from it, not even that the connection ended."""
        self.lose("vanish", mark)

    def lose(self, fate, mark):
        with self.lock:
            self.lost.clear()
            self.losses.append((fate, mark))

    def fate_of(self, data):
        with self.lock:
            for loss in self.losses:
                if loss[1] in data:
                    self.losses.remove(loss)
                    if loss[0] == "request":
                        self.lost.set()
                    return loss[0]
        return "passed"

    def count_round_trip(self):
        with self.lock:
            self.round_trips += 1

    def forget(self, connection):
        with self.lock:
            if connection in self.connections:
                self.connections.remove(connection)
                self.ended += 1

    def accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                self.accepted += 1
                try:
                    connection = Connection(self, client)
                except OSError:  # the server is not there
                    client.close()
                    continue
                with self.lock:
                    self.connections.add(connection)
                connection.start()

    def close(self):
        self.delay = 0
        self.go_on()
        self.refuse()
        self.place.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
