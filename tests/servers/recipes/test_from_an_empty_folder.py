"""A new service in each language, from an empty folder to ids from PostgreSQL, by the language's own HTTP server. What
idgen adds is at most ten lines, the configuration included; imports are not counted. C's is examples/microhttpd."""

import contextlib
import os
import subprocess
import sys
import urllib.request

import pytest
from clients import BUILD, MODULES, patience, run, wait_until
from hosts import ROOT
from services import MOST_LINES, is_open, lines_of_code

from servers import Postgres, free_port

CONFIGURATION = """\
[orders]
kind = "segment"
store = "STORE"
module.path = "MODULES"
"""
PYTHON = """\
import http.server
import os

import idgen

orders = idgen.lazy("idgen.toml", "orders")


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        id = orders.next()
        self.send_response(201)
        self.end_headers()
        self.wfile.write(str(id).encode())


http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
"""
JAVA = """\
import com.sun.net.httpserver.HttpServer;
import dev.idgen.Generator;
import java.net.InetSocketAddress;
import java.nio.file.Path;

public class Service {
  public static void main(String[] args) throws Exception {
    var orders = Generator.lazy(Path.of("idgen.toml"), "orders");
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 0);
    server.createContext("/", exchange -> {
      byte[] id = Long.toString(orders.next()).getBytes();
      exchange.sendResponseHeaders(201, id.length);
      exchange.getResponseBody().write(id);
      exchange.close();
    });
    server.start();
  }
}
"""
GO = """\
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"

	idgen "github.com/idgen/idgen/go"
)

func main() {
	orders := idgen.Lazy("idgen.toml", "orders")
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			id, err := orders.Next()
			if err != nil {
				http.Error(w, "not possible now", http.StatusServiceUnavailable)
				return
			}
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, id)
		})))
}
"""


def build_go(folder):
    module = "github.com/idgen/idgen"
    for command in (
        "mod init example.com/orders",
        f"mod edit -require={module}@v0.0.0 -replace={module}={ROOT}",
        "mod tidy",
        "build -o service .",
    ):
        made = run(["go", *command.split()], cwd=folder, timeout=patience(600))  # it compiles the core
        assert made.returncode == 0, made.stderr
    return ["./service"]


def jar():
    (found,) = (path for path in (BUILD / "dist").glob("idgen-*.jar") if path.stem.count("-") == 1)
    return found


SERVICES = {
    "python": ("service.py", PYTHON, lambda folder: [sys.executable, "service.py"]),
    "java": ("Service.java", JAVA, lambda folder: ["java", "-cp", str(jar()), "Service.java"]),
    "go": ("main.go", GO, build_go),
}


@contextlib.contextmanager
def running(command, folder):
    port = free_port()
    log = folder / "log"
    with log.open("wb") as out:
        service = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, env={**os.environ, "PORT": str(port)})
    try:
        wait_until(lambda: is_open(port) or service.poll() is not None, what="the service opens")
        assert service.poll() is None, log.read_text()
        yield f"http://127.0.0.1:{port}/"
    finally:
        service.terminate()
        service.wait(60)


@pytest.mark.parametrize("language", SERVICES)
def test_a_new_service_draws_ids_from_postgres_by_ten_lines(language, tmp_path):
    name, text, build = SERVICES[language]
    with Postgres() as server:
        made = run([BUILD / "bin" / "idgen", "segment", "create", "--store", server.url(), "--tag", "orders"])
        assert made.returncode == 0, made.stderr
        configuration = CONFIGURATION.replace("STORE", server.url()).replace("MODULES", str(MODULES))
        (tmp_path / "idgen.toml").write_text(configuration)
        (tmp_path / name).write_text(text)
        with running(build(tmp_path), tmp_path) as address:
            answers = [urllib.request.urlopen(address, data=b"", timeout=patience(60)) for _ in range(20)]
            assert [(answer.status, answer.read()) for answer in answers] == [
                (201, str(id).encode()) for id in range(1, 21)
            ]
        assert int(server.sql("SELECT max_id FROM idgen_segment WHERE tag = 'orders'")) >= 20
    adds = configuration.splitlines() + [
        line for line in lines_of_code(text) if "idgen" in line.lower() or "orders" in line
    ]
    assert len(adds) <= MOST_LINES, adds
