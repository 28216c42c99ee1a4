"""A TCP proxy between a client and a server that does on request what networks do by chance.

It knows nothing about the protocols except the part of a request that a test tells it to look for.
"""

import contextlib
import socket
import threading
import time

from servers import HOST

CHUNK = 1 << 16


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

    def start(self):
        for work in (self.requests, self.answers):
            threading.Thread(target=work, daemon=True).start()

    def requests(self):
        with contextlib.suppress(OSError):
            while data := self.client.recv(CHUNK):
                self.proxy.passing.wait()
                self.asked = True
                fate = self.proxy.fate_of(data)
                if fate == "request":
                    break
                self.losing = self.losing or fate == "answer"
                self.server.sendall(data)
                if fate == "vanish":
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
                time.sleep(self.proxy.delay)
                self.proxy.passing.wait()
                self.client.sendall(data)
        self.cut()

    def cut(self):
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.proxy.forget(self)


class Proxy:
    """target is the server's port; changing it affects only new connections."""

    def __init__(self, target):
        self.target = target
        self.delay = 0.0  # delay of each answer, in seconds
        self.round_trips = 0
        self.ended = 0  # connections
        self.passing = threading.Event()
        self.passing.set()
        self.lost = threading.Event()
        self.lock = threading.Lock()
        self.connections = set()
        self.losses = []
        self.before_cut = lambda: None  # when an answer is lost
        self.listener = None
        self.port = 0
        self.allow()

    def allow(self):
        """Takes connections; the opposite of refuse()."""
        if self.listener is not None:
            return
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((HOST, self.port))
        self.port = self.listener.getsockname()[1]
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
                try:
                    connection = Connection(self, client)
                except OSError:  # the server is not there
                    client.close()
                    continue
                with self.lock:
                    self.connections.add(connection)
                connection.start()

    def close(self):
        self.go_on()
        self.refuse()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
