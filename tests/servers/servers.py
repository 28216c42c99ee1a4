"""Real servers for tests: each in a temporary folder, on a free loopback port, stopped by its process id.

A server can be killed and started again on the same port and folder, which the fault tests do.
"""

import atexit
import contextlib
import fcntl
import json
import os
import pwd
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hosts
from patience import patience, wait_until

START_SECONDS = patience(60)
HOST = "127.0.0.1"
PASSWORD = "s3cr3t/%"  # none of these characters fits into a URL unescaped

# IDGEN_TEST_SERVERS names servers that are newer than those that are installed: scripts/newest unpacks them.
NEWEST = {
    "mysql": "mysql-server-core mysql-client-core postgresql valkey-server etcd-server etcd-client",
    "mariadb": "mariadb-server-core mariadb-client-core redis-server",
}
NOT_NEWER = {"mariadb": {"postgres", "etcd"}}  # the other kinds of servers that a generation has as they are installed
GENERATION = os.environ.get("IDGEN_TEST_SERVERS", "")


class NotAvailableError(Exception):
    """Debian's unstable suite does not have them now, which is no fault of ours: such tests are skipped."""


def tree_of(generation):
    """The folder of such servers, made now if it is not there yet."""
    root = Path(__file__).resolve().parents[2]
    tree = root / "build" / "newest" / generation
    with (root / "build" / "newest.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run([root / "scripts" / "newest", tree, *NEWEST[generation].split()], check=False, stdout=2)
    if done.returncode == 3:
        raise NotAvailableError(
            f"the newest servers ({generation}) are not available now; see build/log/newest-download.log"
        )
    done.check_returncode()
    return tree


TREE, WHY_NONE = None, None
try:
    TREE = tree_of(GENERATION) if GENERATION else None
except NotAvailableError as error:
    WHY_NONE = str(error)
if TREE:
    os.environ["PATH"] = f"{TREE}/programs:{os.environ['PATH']}"
JARS = ":".join(str(jar) for jar in Path("/usr/share/java").glob("*.jar"))


class Port:
    """A port that nobody else takes before close(), also while no server listens there.

    It is below those from which the system takes a client's. Among processes of these tests, a lock on one byte of a
    file tells who has it.
    """

    END = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])

    def __init__(self):
        self.file = os.open(f"/tmp/idgen-ports-{os.geteuid()}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        for _ in range(self.END):
            self.number = random.randrange(self.END // 2, self.END)
            if self.lock(fcntl.F_WRLCK) and self.is_free():
                return
            self.lock(fcntl.F_UNLCK)
        raise OSError("no port is free")

    def lock(self, kind):
        """Who has forked has the lock too, so it is given back explicitly."""
        try:
            fcntl.fcntl(self.file, fcntl.F_OFD_SETLK, struct.pack("hhqqi", kind, os.SEEK_SET, self.number, 1, 0))
        except BlockingIOError:
            return False
        return True

    def is_free(self):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, self.number))
            return True
        return False

    def close(self):
        if self.file is not None:
            self.lock(fcntl.F_UNLCK)
            os.close(self.file)
            self.file = None


def reserve_port():
    """Its number is the port; close() gives it back."""
    return Port()


def free_port():
    """One that this process keeps until it ends."""
    return reserve_port().number


def unprivileged():
    """How to run servers that refuse to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def stop(pid):
    """Returns once no thread of it runs: a signal is sent before it has stopped all."""
    os.kill(pid, signal.SIGSTOP)

    def is_stopped():
        for path in Path(f"/proc/{pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):  # a thread that has ended
                if path.read_text().rpartition(")")[2].split()[0] not in "TtXZ":
                    return False
        return True

    wait_until(is_stopped, what=f"process {pid} has stopped")


class Server:
    """One server. Subclasses say how to prepare it, start it, and check that it is ready."""

    name = ""
    stop_signal = signal.SIGTERM
    grant = b""  # occurs in each request for a grant, and in no other
    remembers = True  # what it granted before a restart

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix=f"idgen-{self.name}-"))
        self.data = self.folder / "data"
        self.process = None
        self.ports = []
        self.made_by = os.getpid()
        atexit.register(self.close)
        try:
            self.port = self.reserve_port()
            self.user = unprivileged() if self.drops_root else {}
            if self.user:
                shutil.chown(self.folder, self.user["user"], self.user["group"])
            self.prepare()
            self.start()
        except BaseException:
            self.close()
            raise

    drops_root = False

    def reserve_port(self):
        self.ports.append(reserve_port())
        return self.ports[-1].number

    def prepare(self):
        self.data.mkdir()

    def command(self):
        raise NotImplementedError

    def is_ready(self):
        with socket.create_connection((HOST, self.port), timeout=patience(1)):
            return True

    def start(self):
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, **self.user
            )
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                if self.is_ready():
                    return self
            if self.process.poll() is not None or time.monotonic() > deadline:
                log = (self.folder / "log").read_text(errors="replace")
                self.stop()
                raise RuntimeError(f"{self.name} did not start:\n{log[-4000:]}")
            time.sleep(0.05)

    def run(self, *command, **options):
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, **options)
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, f"{command}: {done.stderr}", done.stdout, done.stderr)
        return done

    def kill(self):
        """Without warning, like a power switch."""
        self.process.kill()
        self.process.wait()

    def pause(self):
        stop(self.process.pid)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def restart(self):
        self.kill()
        return self.start()

    def expire(self, namespace, worker):
        """Ends the lease of a worker's owner, which may be alive, as if its time had come. CalledProcessError: a
        process has had the row locked for long; it may be stopped inside a transaction."""
        row = f"ns = '{namespace}' AND worker = {worker}"
        self.sql(f"{self.lock_limit}; UPDATE idgen_worker SET lease_until = 0 WHERE {row}")

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            self.go_on()
            try:
                self.process.wait(patience(30))
            except subprocess.TimeoutExpired:
                self.kill()

    def close(self):
        if os.getpid() != self.made_by:
            return  # a child that ends
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        while self.ports:
            self.ports.pop().close()
        atexit.unregister(self.close)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Database(Server):
    drops_root = True
    options = ()

    def sql(self, text, database="ids"):
        raise NotImplementedError

    def set_counter(self, tag, number):
        self.sql(f"UPDATE idgen_segment SET max_id = {number} WHERE tag = '{tag}'")

    def url(self, port=None, user="app", password="s3cr3t%2F%25", **parameters):
        return f"{self.name}://{user}:{password}@{HOST}:{port or self.port}/ids" + query(parameters)

    @contextlib.contextmanager
    def without(self, *tables):
        """Without what has the tables' names at the end, too."""
        for table in tables:
            self.sql(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            yield
        finally:
            for table in tables:
                self.sql(f"DROP TABLE IF EXISTS {table}")
                self.sql(f"ALTER TABLE {table}_away RENAME TO {table}")


class MariaDB(Database):
    name = "mysql"
    grant = b"UPDATE idgen_segment SET max_id = LAST_INSERT_ID"
    lock_limit = "SET SESSION innodb_lock_wait_timeout = 10"
    options = ("--skip-ssl",)  # from 11.4 on it would make itself a certificate, and proxies look into statements

    def prepare(self):
        self.socket = self.folder / "socket"
        self.run(
            "mariadb-install-db",
            "--no-defaults",
            f"--basedir={TREE or ''}/usr",
            f"--datadir={self.data}",
            f"--tmpdir={self.folder}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            **self.user,
        )

    def command(self):
        return [
            shutil.which("mariadbd") or "/usr/sbin/mariadbd",
            "--no-defaults",
            f"--datadir={self.data}",
            f"--tmpdir={self.folder}",  # a server that starts removes the temporary tables of others from its own
            f"--socket={self.socket}",
            f"--port={self.port}",
            f"--bind-address={HOST}",
            f"--pid-file={self.folder}/pid",
            "--innodb-buffer-pool-size=16M",
            "--innodb-log-file-size=8M",
            "--skip-name-resolve",
            *self.options,
        ]

    def is_ready(self):
        self.sql("SELECT 1", database="")
        if not (self.folder / "made").exists():
            self.sql(
                "CREATE DATABASE ids; CREATE USER app IDENTIFIED BY '" + PASSWORD + "'; GRANT ALL ON ids.* TO app;",
                database="",
            )
            (self.folder / "made").touch()
        return True

    def sql(self, text, database="ids"):
        base = ["mariadb", "--no-defaults", "--skip-ssl", f"--socket={self.socket}", "--user=root", "--batch"]
        return self.run(*base, "--skip-column-names", *([database] if database else []), "--execute", text).stdout

    def make_database(self, name):
        """Another one, which is the application's too."""
        self.sql(f"CREATE DATABASE {name}; GRANT ALL ON {name}.* TO app", database="")

    def kill_sessions(self):
        """All of the application's, whatever they do."""
        self.sql("KILL HARD CONNECTION USER app", database="")

    def layout(self, table):
        return self.sql(f"SHOW CREATE TABLE {table}")


class MySQL(MariaDB):
    """Of the servers of IDGEN_TEST_SERVERS=mysql."""

    options = ()

    def __init__(self, tree=TREE):
        self.program = tree / "programs"
        texts = tree / "usr/share/mysql"
        self.own = ("--no-defaults", f"--lc-messages-dir={texts}", f"--character-sets-dir={texts}/charsets")
        super().__init__()

    def prepare(self):
        self.socket = self.folder / "socket"
        self.folders = (f"--datadir={self.data}", f"--tmpdir={self.folder}")
        self.run(self.program / "mysqld", *self.own, "--initialize-insecure", *self.folders, **self.user)

    def command(self):
        return [
            *(self.program / "mysqld", *self.own, "--mysqlx=OFF", "--secure-file-priv=", "--skip-name-resolve"),
            *(*self.folders, f"--pid-file={self.folder}/pid", f"--socket={self.socket}"),
            *(f"--port={self.port}", f"--bind-address={HOST}"),
            *("--innodb-buffer-pool-size=16M", "--innodb-redo-log-capacity=8M", *self.options),
        ]

    def sql(self, text, database="ids"):
        base = [self.program / "mysql", "--no-defaults", f"--socket={self.socket}", "--user=root", "--batch"]
        return self.run(*base, "--skip-column-names", *([database] if database else []), "--execute", text).stdout

    def url(self, port=None, **parameters):
        """It logs clients in by a way that shows it the password. Proxies look into what is not encrypted."""
        open_link = {"auth": "caching_sha2_password", "tls": "off"}
        known = {"auth", "tls_fingerprint", "socket"} & parameters.keys()
        return super().url(port, **({} if known else open_link) | parameters)

    def kill_sessions(self):
        found = self.sql("SELECT id FROM information_schema.processlist WHERE user = 'app'")
        for number in found.split():
            with contextlib.suppress(subprocess.CalledProcessError):  # it has ended
                self.sql(f"KILL CONNECTION {number}")


class Postgres(Database):
    name = "postgres"
    stop_signal = signal.SIGINT  # "fast": it does not wait for its clients
    grant = b"UPDATE idgen_segment SET max_id = max_id + "
    lock_limit = "SET lock_timeout = '10s'"
    initdb_options = ()

    def prepare(self):
        found = [*Path(f"{TREE}/usr/lib/postgresql").glob("*/bin"), *Path("/usr/lib/postgresql").glob("*/bin")]
        self.bin = max(found, key=lambda path: int(path.parent.name))
        self.run(
            *(self.bin / "initdb", f"--pgdata={self.data}", "--auth=trust", "--username=root", "--no-sync"),
            *self.initdb_options,
            **self.user,
        )
        (self.data / "pg_hba.conf").write_text(
            "local all root trust\nhost all app 127.0.0.1/32 scram-sha-256\nhost replication app 127.0.0.1/32 trust\n"
        )

    def command(self):
        settings = {
            "port": self.port,
            "listen_addresses": HOST,
            "unix_socket_directories": self.folder,
            "shared_buffers": "16MB",
            **dict(self.options),
        }
        return [self.bin / "postgres", "-D", self.data, *(f"--{k}={v}" for k, v in settings.items())]

    def is_ready(self):
        self.sql("SELECT 1", database="postgres")
        if not (self.folder / "made").exists():
            self.sql(f"CREATE ROLE app LOGIN PASSWORD '{PASSWORD}'", database="postgres")
            self.make_database("ids")
            (self.folder / "made").touch()
        return True

    def sql(self, text, database="ids"):
        return self.run(
            *("psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--host", self.folder),
            *("--port", str(self.port), "--username", "root", "--dbname", database, "--command", text),
        ).stdout

    def kill(self):
        """All of it: a postmaster's children outlive it for a moment."""
        children = self.signal_children(signal.SIGKILL)
        super().kill()
        self.signal_children(signal.SIGKILL, children)
        wait_until(lambda: not any(alive(child) for child in children), what="a session's process is gone")

    def pause(self):
        super().pause()
        for child in self.signal_children(signal.SIGSTOP):
            with contextlib.suppress(ProcessLookupError):
                stop(child)

    def go_on(self):
        self.signal_children(signal.SIGCONT)
        super().go_on()

    def signal_children(self, number, children=None):
        if children is None:
            found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
            children = [int(pid) for pid in found.stdout.split()]  # none if it has ended
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)
        return children

    def make_database(self, name):
        self.sql(f"CREATE DATABASE {name} OWNER app", database="postgres")

    def kill_sessions(self):
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")

    def layout(self, table):
        columns = "column_name, data_type, character_maximum_length, is_nullable, column_default"
        checks = f"SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = '{table}'::regclass ORDER BY 1"
        return self.sql(
            f"SELECT {columns} FROM information_schema.columns WHERE table_name = '{table}' ORDER BY 1"
        ) + self.sql(checks)

    @contextlib.contextmanager
    def commits_that_fail(self, table, condition):
        """The statement succeeds, but its commit fails: a deferred constraint."""
        self.sql(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'not committed'; END $$"
        )
        self.sql(
            f"CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED "
            f"FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION refuse()"
        )
        try:
            yield
        finally:
            self.sql(f"DROP TRIGGER refuse ON {table}")


class Redis(Server):
    name = "redis"
    grant = b"EVALSHA"
    remembers = False
    options = ("--appendonly", "yes", "--appendfsync", "always", "--save", "")

    def command(self):
        return [
            *(
                "valkey-server" if GENERATION == "mysql" else "redis-server",
                "--port",
                str(self.port),
                "--bind",
                HOST,
                "--dir",
                str(self.data),
            ),
            *("--requirepass", PASSWORD, "--masterauth", PASSWORD, *self.options),
        ]

    def is_ready(self):
        return self.cli("PING").strip() == "PONG"

    def cli(self, *command, **options):
        words = ("redis-cli", "-h", HOST, "-p", str(self.port), *command)
        return self.run(*words, env={**os.environ, "REDISCLI_AUTH": PASSWORD}, **options).stdout

    def follow(self, port):
        self.cli("REPLICAOF", HOST, str(port))
        wait_until(lambda: "master_link_status:up" in self.cli("INFO", "replication"))

    def lead(self):
        self.cli("REPLICAOF", "NO", "ONE")

    def set_counter(self, tag, number):
        self.cli("HSET", f"idgen:default:{tag}", "max_id", str(number))

    def expire(self, namespace, worker):
        self.cli("HSET", f"idgen-worker:{worker}:{namespace}", "lease_until", "0")

    def url(self, port=None, password="s3cr3t%2F%25", **parameters):
        return f"redis://:{password}@{HOST}:{port or self.port}" + query(parameters)


class Etcd(Server):
    name = "etcd"
    grant = b"/v3/kv/txn"
    options = ()

    def prepare(self):
        super().prepare()
        self.peer_port = self.reserve_port()

    def command(self):
        here, peer = f"http://{HOST}:{self.port}", f"http://{HOST}:{self.peer_port}"
        return [
            *("etcd", "--data-dir", str(self.data), "--log-level", "error"),
            *("--listen-client-urls", here, "--advertise-client-urls", here),
            *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
            *("--initial-cluster", f"default={peer}", *self.options),
        ]

    def get(self, path):
        with urllib.request.urlopen(f"http://{HOST}:{self.port}{path}", timeout=patience(1)) as answer:
            return answer.read().decode()

    def is_ready(self):
        return json.loads(self.get("/health"))["health"] == "true"

    def ctl(self, *command):
        return self.run(
            "etcdctl", f"--endpoints=http://{HOST}:{self.port}", *command, env={**os.environ, "ETCDCTL_API": "3"}
        ).stdout

    def set_counter(self, tag, number):
        self.ctl("put", f"idgen/segment/default/{tag}", record(number))

    def expire(self, namespace, worker):
        found = json.loads(self.ctl("get", "--write-out=json", f"idgen/worker/{namespace}/{worker}%live"))
        for key in found.get("kvs", []):
            self.ctl("lease", "revoke", f"{key['lease']:x}")

    def url(self, port=None, **parameters):
        return f"etcd://{HOST}:{port or self.port}" + query(parameters)


class ZooKeeper(Server):
    name = "zookeeper"
    grant = b'"max_id"'
    jvm_options = ()
    connections = 200  # from one address; 60 by default

    def command(self):
        (self.folder / "zoo.cfg").write_text(
            f"dataDir={self.data}\nclientPort={self.port}\nclientPortAddress={HOST}\ntickTime=500\n"
            f"4lw.commands.whitelist=*\nadmin.enableServer=false\nforceSync=yes\nmaxClientCnxns={self.connections}\n"
        )
        return [
            *("java", "-Xmx128m", *self.jvm_options, "-cp", hosts.newest_zookeeper() if GENERATION else JARS),
            *("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(self.folder / "zoo.cfg")),
        ]

    def is_ready(self):
        return "\nMode: " in self.four_letters("srvr", patience(1))  # one that comes too early may get no answer

    def four_letters(self, word, timeout=START_SECONDS):
        with socket.create_connection((HOST, self.port), timeout=timeout) as connection:
            connection.sendall(word.encode())
            return b"".join(iter(lambda: connection.recv(4096), b"")).decode()

    def create(self, path, text):
        self.ask(1, path, text, 1, 31, "world", "anyone", 0)

    def set(self, path, text):
        self.ask(5, path, text, -1)

    def delete(self, path):
        """And all nodes below it."""
        for child in self.children(path):
            self.delete(f"{path}/{child}")
        self.ask(2, path, -1)

    def get(self, path):
        return next(texts(self.ask(4, path, False), 0, 1))

    def version(self, path):
        return struct.unpack_from(">4qi", self.ask(3, path, False))[-1]

    def children(self, path):
        answer = self.ask(8, path, False)
        return list(texts(answer, 4, *struct.unpack_from(">i", answer)))

    def ask(self, operation, path, *more):
        """One request of ZooKeeper's protocol, in a session of its own. Its own command starts Java for that."""

        def answer(body):
            stream.write(packed(body))
            stream.flush()
            return stream.read(*struct.unpack(">i", stream.read(4)))

        with (
            socket.create_connection((HOST, self.port), timeout=START_SECONDS) as connection,
            connection.makefile("rwb") as stream,
        ):
            answer(struct.pack(">iqiqi16x", 0, 0, 10_000, 0, 16))
            found = answer(struct.pack(">ii", 1, operation) + b"".join(map(packed, (path, *more))))
            answer(struct.pack(">ii", 2, -11))
        (error,) = struct.unpack_from(">i", found, 12)
        if error:
            raise KeyError(f"{path}: ZooKeeper's error {error}")
        return found[16:]

    def set_counter(self, tag, number):
        self.set(f"/idgen/segment/default/{tag}", record(number))

    def expire(self, namespace, worker):
        path = f"/idgen/worker/{namespace}/{worker}"
        for child in self.children(path):
            if child.startswith("live-"):
                self.delete(f"{path}/{child}")

    def url(self, port=None, **parameters):
        return f"zookeeper://{HOST}:{port or self.port}" + query(parameters)


def packed(value):
    """As ZooKeeper's protocol has it."""
    if isinstance(value, int):
        return struct.pack(">?" if isinstance(value, bool) else ">i", value)
    data = value.encode() if isinstance(value, str) else value
    return struct.pack(">i", len(data)) + data


def texts(data, at, count):
    for _ in range(count):
        (size,) = struct.unpack_from(">i", data, at)
        at += 4 + size
        yield data[at - size : at].decode()


def alive(pid):
    """Neither gone nor a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def record(number):
    return f'{{"max_id":{number},"grants":1,"updated_unix_ms":1}}'


def query(parameters):
    return "?" + "&".join(f"{key}={value}" for key, value in parameters.items()) if parameters else ""


KINDS = {kind.name: kind for kind in (MySQL if GENERATION == "mysql" else MariaDB, Postgres, Redis, Etcd, ZooKeeper)}
