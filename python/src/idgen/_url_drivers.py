"""The stores mysql:// and postgres:// without their modules: over a DB-API driver that the program has.

Drivers are asked in the order of _DRIVERS, and the first one is used that can do all that the URL says. None is ever
given less than the URL says: what it cannot do, it is not used for.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import ssl
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from . import _import
from ._drivers import code_of
from ._errors import Error, StoreMissingError, StorePermissionError, StoreUnsafeError, UnsupportedError
from ._store import Sink, error, text_of
from .sql import _Connection

_MYSQL, _POSTGRES = 1, 2  # IDGEN_SQL_*
_NAMES = {_MYSQL: "mysql", _POSTGRES: "postgres"}
_CAN_ALL = {_MYSQL: "PyMySQL", _POSTGRES: "psycopg"}
_MOST_RAISED = 8  # exceptions that are kept: all stores of the process share them
_NOT_VERIFYING = ("off", "prefer")

_sink = Sink(None, _MOST_RAISED)
sql_failure = _sink.sql_failure


class Address(NamedTuple):
    """idgen_sql_address_t."""

    dialect: int
    host: str
    port: int
    socket: str
    user: str
    password: str
    database: str
    tls: str
    tls_ca: str
    timeout_ms: int

    @property
    def seconds(self) -> float:
        return max(self.timeout_ms, 1) / 1000

    @property
    def whole_seconds(self) -> int:
        return -(-max(self.timeout_ms, 1) // 1000)

    @property
    def is_known(self) -> bool:
        """Whether the server cannot be another program."""
        return self.is_local or self.tls.startswith("verify")

    @property
    def is_local(self) -> bool:
        return bool(self.socket) or self.host.startswith("/")


class CannotError(Exception):
    """What a driver cannot do, in words that continue its name."""


def connect(*address: Any) -> UrlConnection:
    to = Address(*address)
    if to.is_local and to.tls not in _NOT_VERIFYING:
        raise error(
            UnsupportedError, f"tls={to.tls} over a Unix socket is left to the module: leave it out, or name a host"
        )
    found = []
    for package, module, opens in _DRIVERS[to.dialect]:
        try:
            driver = _import(module)
        except ImportError as failed:
            if not _is_absent(failed, module):
                found.append(f"{package} cannot be loaded ({text_of(failed)})")
            continue
        _import("encodings.idna")  # which sockets would load: a child that is forked meanwhile would wait without end
        try:
            return opens(driver, to)
        except CannotError as cannot:
            found.append(f"{package} {cannot}")
        except Error:
            raise
        except Exception as failed:
            if (kind := _kind_of(to, failed)) is None:
                raise
            raise error(kind, f"cannot connect by {package} to {to.socket or to.host}: {_said(failed)}") from failed
    packages = [package for package, *_ in _DRIVERS[to.dialect]]
    if found:
        raise error(
            UnsupportedError,
            f"{'; '.join(found)}. Install {_CAN_ALL[to.dialect]}, or the module",
        )
    raise error(
        UnsupportedError,
        f"there is none: `pip install {_CAN_ALL[to.dialect]}` (known are {', '.join(packages)})",
    )


def _is_absent(failed: ImportError, module: str) -> bool:
    return isinstance(failed, ModuleNotFoundError) and f"{module}.".startswith(f"{failed.name}.")


def _said(exception: BaseException) -> str:
    text = code_of(exception)[2]
    if _is_login_refused(exception):
        text += ". The server wants the password in a way that shows it, which needs tls=verify, or by an unknown one"
    return text


def _is_login_refused(exception: BaseException) -> bool:
    """libmariadb's number for it, 5010, is one without a text, so that `mariadb` raises something else."""
    code, _, text = code_of(exception)
    texts = ("Failed to create exception", "mysql_clear_password requires SSL", "Authentication plugin")
    return code in (5010, 2059, 2061) or (code == 0 and any(part in text for part in texts))


def _kind_of(to: Address, exception: BaseException) -> type[Error] | None:
    """What the modules say of a connection that fails, where drivers have no number that the core knows."""
    text = _said(exception)
    if _is_login_refused(exception):
        return StorePermissionError
    if any(
        word in text
        for word in ("does not support SSL", "doesn't support it", "refuses SSL", "has no TLS", "SSL is required")
    ):
        return StoreUnsafeError
    if "certificate" in text.lower():
        return StorePermissionError
    if to.dialect == _POSTGRES and code_of(exception)[1] == "" and "the database system is " not in text:
        if any(word in text for word in ("authentication", "role ", "pg_hba", "permission", "read-only", "standby")):
            return StorePermissionError
        if "does not exist" in text:
            return StoreMissingError
    return None


class UrlConnection(_Connection):
    """One whose statements commit by themselves. Transactions are begun and ended by statements: what the drivers'
    commit() does then differs.
    """

    def __init__(self, connection: Any, dialect: int, bound: _Bound | None = None) -> None:
        super().__init__(connection, _NAMES[dialect])
        self._bound: Any = bound or contextlib.nullcontext()

    def _is_committed(self) -> bool:
        return True

    def execute(self, sql: str, values: list[Any], has_rows: bool, is_alone: bool) -> tuple[int, int, list[Any]]:
        with self._bound:
            return super().execute(sql, values, has_rows, is_alone)

    def begin(self) -> None:
        self._send("START TRANSACTION")

    def commit(self) -> None:
        self._send("COMMIT")

    def rollback(self) -> None:
        with contextlib.suppress(Exception):
            self._send("ROLLBACK")

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._connection.close()

    def _send(self, sql: str) -> None:
        self.execute(sql, [], False, False)


# ---- Waits that the driver does not bound


class _Bound:
    """Ends a statement that gets no answer, by ending its connection: libpq waits without end. Also when the program
    ends, because a thread that gets its answer while Python goes cannot continue.
    """

    def __init__(self, connection: Any, seconds: float) -> None:
        self._connection = connection
        self._seconds = seconds
        self._lock = threading.Lock()
        self._is_running = False

    def __enter__(self) -> None:
        self._timer = threading.Timer(self._seconds, self.cut)
        self._timer.daemon = True
        self._is_running = True
        _running.add(self)
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:  # afterwards the number of its file may be another one's
            self._is_running = False
        _running.discard(self)

    def cut(self) -> None:
        import socket

        with self._lock, contextlib.suppress(Exception):
            if self._is_running:
                with socket.socket(fileno=os.dup(self._connection.fileno())) as mine:
                    mine.shutdown(socket.SHUT_RDWR)


_running: set[_Bound] = set()
# A child must not cut its parent's.
os.register_at_fork(after_in_child=_running.clear)


@atexit.register
def _cut_all() -> None:
    for bound in list(_running):
        bound.cut()


# ---- TLS of drivers that use Python's


def _context(to: Address) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=to.tls_ca if to.tls.startswith("verify") and to.tls_ca else None)
    # From Python 3.13 on: refuses the authorities that MySQL makes for itself.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", ssl.VerifyFlags(0))
    context.check_hostname = to.tls == "verify"
    if not to.tls.startswith("verify"):
        context.verify_mode = ssl.CERT_NONE
    return context


# ---- MySQL and MariaDB


def _host_of(to: Address) -> str:
    """For libraries that take the name localhost for their Unix socket, whatever the port."""
    if to.host.lower() != "localhost":
        return to.host
    if to.tls == "verify":
        raise CannotError("takes the host localhost for a Unix socket, where no name is verified")
    return "127.0.0.1"


def _check_libmariadb(to: Address, is_3_4_or_later: bool) -> None:
    if to.tls == "verify-ca":
        raise CannotError("(libmariadb) has no tls=verify-ca, only verify")
    if to.tls == "verify" and is_3_4_or_later and (to.host.startswith("127.") or to.host == "::1"):
        raise CannotError(f"(libmariadb) does not compare the name of {to.host} for tls=verify")


def _login_of(to: Address, file: str) -> dict[str, str]:
    """The options of libmariadb by which it shows the password to no server that just asks for it. `file` is the
    keyword's name.
    """
    if to.is_known:
        return {}
    path = os.path.join(os.path.dirname(__file__), "_mysql.cnf")
    if not os.path.isfile(path):
        raise CannotError(f"needs the file {path}")
    return {file: path, file.replace("file", "group"): "idgen"}


def _has_tls(connection: UrlConnection, to: Address) -> UrlConnection:
    """Where the driver continues without TLS although it was told to require it, as over libmariadb 3.3."""
    if to.tls not in _NOT_VERIFYING:
        *_, rows = connection.execute("SHOW SESSION STATUS LIKE 'Ssl_cipher'", [], True, True)
        if not rows or not rows[0][1]:
            connection.close()
            raise error(StoreUnsafeError, f"{to.host}: the server has no TLS, and tls={to.tls} requires it")
    return connection


def _session_of(to: Address) -> dict[str, Any]:
    """What mysqlclient and mariadb call by the same words."""
    return {
        "user": to.user,
        "password": to.password,
        "database": to.database,
        "connect_timeout": to.whole_seconds,
        "read_timeout": to.whole_seconds,
        "write_timeout": to.whole_seconds,
        "autocommit": True,
        "local_infile": False,  # a server could ask for a file
    }


def _mysqlclient(driver: Any, to: Address) -> UrlConnection:
    options: dict[str, Any] = {}
    tls = {"prefer": "PREFERRED", "require": "REQUIRED", "verify-ca": "VERIFY_CA", "verify": "VERIFY_IDENTITY"}
    # libmariadb's numbers begin with 3, and MySQL's do not.
    library = driver.get_client_info()
    if library.startswith("3."):
        is_3_4_or_later = not library.startswith(("3.0", "3.1", "3.2", "3.3"))
        _check_libmariadb(to, is_3_4_or_later)
        if not is_3_4_or_later:
            tls["prefer"] = "REQUIRED"  # which prefers it
        options.update(_login_of(to, "read_default_file"))
    if to.socket:
        options["unix_socket"] = to.socket
    else:
        options.update(host=_host_of(to), port=to.port)
    options["ssl_mode"] = "DISABLED" if to.is_local else tls.get(to.tls, "DISABLED")
    if to.tls.startswith("verify"):
        options["ssl"] = _authorities(to)
    connection = driver.connect(charset="utf8mb4", **_session_of(to), **options)
    return _has_tls(UrlConnection(connection, to.dialect), to)


def _authorities(to: Address) -> dict[str, str]:
    """The file of the URL, or the system's as Python finds them."""
    if to.tls_ca:
        return {"ca": to.tls_ca}
    system = ssl.get_default_verify_paths()
    if system.cafile:
        return {"ca": system.cafile}
    if system.capath:
        return {"capath": system.capath}
    raise CannotError("finds no authorities of the system: it needs tls_ca, a file of certificates")


def _pymysql(driver: Any, to: Address) -> UrlConnection:
    base = driver.connections.Connection
    if not hasattr(base, "_request_authentication"):
        raise CannotError(f"{driver.__version__} is not known")
    is_required = to.tls not in _NOT_VERIFYING

    def authenticate(self: Any) -> None:
        # Some versions of PyMySQL would continue without TLS, others would fail where TLS is only preferred.
        if self.ssl and not self.server_capabilities & driver.constants.CLIENT.SSL:
            if is_required:
                raise driver.err.OperationalError(2026, "the server has no TLS, which the URL requires")
            self.ssl = False
            self.client_flag &= ~driver.constants.CLIENT.SSL
        base._request_authentication(self)

    class Refused:
        def __init__(self, _: object) -> None:
            raise driver.err.OperationalError(2061, "not logged in")

    has_tls = to.tls != "off" and not to.is_local
    connection = type("Connection", (base,), {"_request_authentication": authenticate})(
        **({"unix_socket": to.socket} if to.socket else {"host": to.host, "port": to.port}),
        **({"ssl": _context(to)} if has_tls else {"ssl_disabled": True}),
        user=to.user,
        password=to.password,
        database=to.database,
        charset="utf8mb4",
        connect_timeout=to.seconds,
        read_timeout=to.seconds,
        write_timeout=to.seconds,
        autocommit=True,
        auth_plugin_map={} if to.is_known else {b"mysql_clear_password": Refused, b"dialog": Refused},
    )
    return UrlConnection(connection, to.dialect)


def _mariadb(driver: Any, to: Address) -> UrlConnection:
    is_3_4_or_later = tuple(map(int, driver.mariadbapi_version.split(".")[:2])) >= (3, 4)
    _check_libmariadb(to, is_3_4_or_later)
    options: dict[str, Any] = {"unix_socket": to.socket} if to.socket else {"host": _host_of(to), "port": to.port}
    options.update(_login_of(to, "default_file"))
    if to.tls not in _NOT_VERIFYING or (to.tls == "prefer" and not to.is_local and not is_3_4_or_later):
        options["ssl"] = True  # up to 3.3: prefers it
    if to.tls == "verify":
        options["ssl_verify_cert"] = True
        options.update({f"ssl_{key}": value for key, value in _authorities(to).items()})
    connection = driver.connect(**_session_of(to), **options)
    return _has_tls(UrlConnection(connection, to.dialect), to)


def _mysql_connector(driver: Any, to: Address) -> UrlConnection:
    if to.tls == "require":
        raise CannotError("has no tls=require, only verify")
    options: dict[str, Any] = {"unix_socket": to.socket} if to.socket else {"host": to.host, "port": to.port}
    if to.is_local or to.tls == "off":
        options["ssl_disabled"] = True
    elif to.tls.startswith("verify"):
        if "ca" not in (authorities := _authorities(to)):
            raise CannotError("needs tls_ca, a file of certificates, for tls=verify")
        options.update(ssl_ca=authorities["ca"], ssl_verify_cert=True, ssl_verify_identity=to.tls == "verify")
    if "read_timeout" in driver.constants.DEFAULT_CONFIGURATION:  # else the one for connecting is for answers, too
        options.update(read_timeout=to.whole_seconds, write_timeout=to.whole_seconds)
    connection = driver.connect(
        user=to.user,
        password=to.password,
        database=to.database,
        connection_timeout=to.whole_seconds,
        charset="utf8mb4",
        collation="utf8mb4_general_ci",  # its own default is not in MariaDB
        autocommit=True,
        use_pure=True,  # the other half verifies by the rules of another library
        **options,
    )
    return UrlConnection(connection, to.dialect)


# ---- PostgreSQL


def _socket_of(to: Address) -> tuple[str, int]:
    """The folder of a Unix socket, and the number that is its name."""
    if not to.socket:
        return to.host, to.port
    folder, name = os.path.split(to.socket)
    number = name.removeprefix(".s.PGSQL.")
    if name == number or not number.isdecimal():
        raise CannotError(f"has no socket={to.socket}: a socket of PostgreSQL is named .s.PGSQL.PORT")
    return folder, int(number)


def _libpq(to: Address) -> dict[str, Any]:
    """As the module has it."""
    host, port = _socket_of(to)
    options = {
        "host": host,
        "port": port,
        "user": to.user,
        "password": to.password,
        "dbname": to.database,
        "sslmode": {"off": "disable", "verify": "verify-full"}.get(to.tls, to.tls),
        "sslrootcert": to.tls_ca,
        "connect_timeout": max(2, to.whole_seconds),  # libpq's minimum
        "tcp_user_timeout": to.timeout_ms,
        "application_name": "idgen",
        "target_session_attrs": "read-write",
        "client_encoding": "UTF8",
    }
    return {key: value for key, value in options.items() if value != ""}


def _psycopg(driver: Any, to: Address) -> UrlConnection:
    # Without prepared statements: poolers that lend a connection for each transaction do not know them.
    connection = driver.connect(autocommit=True, prepare_threshold=None, **_libpq(to))
    return UrlConnection(connection, to.dialect, _Bound(connection, to.seconds))


def _psycopg2(driver: Any, to: Address) -> UrlConnection:
    connection = driver.connect(**_libpq(to))
    connection.autocommit = True
    return UrlConnection(connection, to.dialect, _Bound(connection, to.seconds))


def _pg8000(driver: Any, to: Address) -> UrlConnection:
    folder, port = _socket_of(to)
    path = f"{folder}/.s.PGSQL.{port}" if to.is_local else None
    where: dict[str, Any] = {"unix_sock": path} if path else {"host": to.host, "port": to.port}
    # None: TLS without verifying, if the server has it.
    context = False if to.tls == "off" or path else None if to.tls == "prefer" else _context(to)
    connection = driver.connect(
        to.user,
        password=to.password or None,
        database=to.database or None,
        timeout=to.seconds,
        ssl_context=context,
        application_name="idgen",
        **where,
    )
    connection.autocommit = True
    return UrlConnection(connection, to.dialect)


_Opens = Callable[[Any, Address], UrlConnection]
# Package, module, how it is opened.
_DRIVERS = cast(
    "dict[int, tuple[tuple[str, str, _Opens], ...]]",
    {
        _MYSQL: (
            # The one that has all words of tls, and shows the password to no server that just asks for it.
            ("PyMySQL", "pymysql", _pymysql),
            ("mysqlclient", "MySQLdb", _mysqlclient),
            ("mariadb", "mariadb", _mariadb),
            ("mysql-connector-python", "mysql.connector", _mysql_connector),
        ),
        _POSTGRES: (
            ("psycopg", "psycopg", _psycopg),
            ("psycopg2", "psycopg2", _psycopg2),
            ("pg8000", "pg8000.dbapi", _pg8000),
        ),
    },
)
