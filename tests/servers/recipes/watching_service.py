"""A service that test_watching.py watches: watching_service.py PORT FOLDER REDIS-URL MODULES. Draws from a generator of
each kind without a pause, and serves /metrics, and what `idgen metrics` has written into FOLDER at /store."""

import sys
import threading
import time
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import idgen


class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


port, folder, redis, modules = sys.argv[1:]
common = {"directory": folder, "module_path": modules, "namespace": "shop", "store_create": True}
generators = [
    idgen.Generator(kind="segment", name="orders", store="sqlite:ids.db", **common),
    idgen.Generator(kind="serial", name="bills", pattern="{decimal:8}", store="sqlite:ids.db", **common),
    idgen.Generator(name="events", worker=7, store="sqlite:ids.db", **common),
    idgen.Generator(
        kind="segment", name="posts", store="buffer", buffer_redis=redis, buffer_database="sqlite:ids.db", **common
    ),
]


def draw():
    while True:
        for generator in generators:
            generator.next()
        time.sleep(0.001)


def serve(environ, start_response):
    is_store = environ["PATH_INFO"] == "/store"
    text = Path(folder, "ids.prom").read_text() if is_store else idgen.metrics(generators)
    start_response("200 OK", [("Content-Type", "text/plain; version=0.0.4")])
    return [text.encode()]


threading.Thread(target=draw, daemon=True).start()
make_server("127.0.0.1", int(port), serve, handler_class=Quiet).serve_forever()
