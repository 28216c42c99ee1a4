"""What docs/deploying.md says, and processes that are started as it says."""

import contextlib
import http.client
import os
import shlex
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from clients import BUILD, new_tag, patience, wait_until
from page import of

import servers

# Headings. tests/packages/check-deb tests the packages of Debian.
OF_OTHER_TESTS = {"Spring Boot", "Go: static and cross builds", "Debian packages"}
PATH = f"{BUILD / 'venv' / 'bin'}:{BUILD / 'bin'}:{os.environ['PATH']}"


class Place:
    """A folder with the page's idgen.toml, and a database of its own on a PostgreSQL."""

    def __init__(self, server, folder):
        self.folder = folder
        self.database = new_tag()
        server.sql(f"CREATE DATABASE {self.database} OWNER app", database="postgres")
        (folder / "password").write_text(servers.PASSWORD + "\n")
        self.url = f"postgres://app@{servers.HOST}:{server.port}/{self.database}?password_file={folder}/password"
        self.environment = {
            **os.environ,
            "PATH": PATH,
            "PYTHONDONTWRITEBYTECODE": "1",
            "IDGEN_ORDERS_STORE": self.url,
            "IDGEN_EVENTS_STORE": self.url,
        }
        (folder / "idgen.toml").write_text(of("", "toml")[0].text)
        self.run(of("", "sh")[0].text)

    def write_files(self, heading):
        for block in of(heading, "python"):
            (self.folder / block.name).write_text(block.text)

    def run(self, text, **variables):
        done = subprocess.run(
            ["bash", "-euc", text],
            cwd=self.folder, env={**self.environment, **variables}, capture_output=True, text=True, check=False,
            timeout=patience(60),
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextlib.contextmanager
    def start(self, command, *more, **variables):
        """A command of the page, and what the test needs besides: a port, a file for the process id."""
        with process([*shlex.split(command), *more], self.folder, {**self.environment, **variables}) as started:
            yield started

    def workers(self):
        """Lines of `idgen worker list`, which the page has."""
        return self.run(of("Rolling restart", "sh")[0].text)


@contextlib.contextmanager
def process(command, folder, environment, name="log", stop=subprocess.Popen.terminate):
    """Ends by SIGTERM, by itself and with success."""
    log = folder / name
    with log.open("ab") as out:
        started = subprocess.Popen(
            list(map(str, command)), cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True
        )
    started.log = log
    try:
        yield started
        stop(started)
        assert started.wait(patience(60)) == 0
    except BaseException:
        print(f"{log}:\n{log.read_text()[-4000:]}")
        raise
    finally:
        if started.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def wait_for_row(condition, what):
    """condition() once it is true, for one that starts a program to see."""
    return wait_until(lambda: time.sleep(0.2) or condition(), what=what)


def request(url, method="GET"):
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=patience(60)) as answer:
        return answer.read().decode()


def wait_for(url, started):
    """The answer, once there is one."""

    def asked():
        assert started.poll() is None, started.log.read_text()[-3000:]
        with contextlib.suppress(OSError):
            return request(url)
        return None

    return wait_until(asked, what=f"{started.args[0]} starts: {started.log.read_text()[-3000:]}")


def ask_many(url, count, method="GET", threads=8):
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda _: request(url, method), range(count)))


def body_of(failure):
    if isinstance(failure, urllib.error.HTTPError):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return failure.read().decode(errors="replace")[-500:]
    return ""


class Load:
    """Clients that ask without a pause, each request by a new connection, until the end."""

    def __init__(self, ask, threads=3):
        self.answers, self.failures = [], []
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(ask, i)) for i in range(threads)]

    def run(self, ask, client):
        number = 0
        while not self.is_over.is_set():
            number += 1
            try:
                self.answers.append(ask(f"{client}-{number}"))
            except (OSError, ValueError, http.client.HTTPException) as failure:  # the last: an answer that is cut
                self.failures.append(f"{client}-{number}: {failure!r} {body_of(failure)}")
            time.sleep(0.005)

    def goes_on(self, count=30):
        """Waits for that many more answers."""
        size = len(self.answers)
        wait_until(lambda: len(self.answers) >= size + count or self.failures, what="requests are answered")
        assert not self.failures, self.failures[:3]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
