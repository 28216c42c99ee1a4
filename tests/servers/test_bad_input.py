"""Users' mistakes: each message says what was asked, what was found and what to do, and shows no password."""

import contextlib
import socket

import pytest
from clients import IDGEN, MODULES, Asked, command, create, draw, new_tag, run, segment, show, wait_until

import servers

SECRET = "hidden-Pa55w0rd"
RETRYABLE = {"STORE_UNAVAILABLE", "STORE_FULL", "CLOCK_BACK"}
LONGEST = 495


def refused(done, status, *parts):
    """The message of a command that was refused."""
    assert done.stderr.startswith(f"idgen: error: {status}: "), done.stderr
    assert done.returncode == (75 if status in RETRYABLE else 1)
    assert done.stdout == ""
    message = done.stderr.removeprefix(f"idgen: error: {status}: ").rstrip("\n")
    assert len(message.encode()) < LONGEST, "cut off"
    assert SECRET not in message
    assert "s3cr3t" not in message
    for part in parts:
        assert part in message
    return message


def test_a_scheme_that_nobody_knows_is_answered_with_those_that_are_known():
    for url in (f"mongodb://app:{SECRET}@127.0.0.1/ids", f"mysq://app:{SECRET}@127.0.0.1/ids"):
        refused(draw(url, "orders"), "VALUE", "sqlite:", *(f"{kind}://" for kind in servers.KINDS))
    refused(draw(f"mysq://app:{SECRET}@127.0.0.1/ids", "orders"), "VALUE", "did you mean 'mysql://")


@pytest.mark.parametrize("kind", servers.KINDS)
@pytest.mark.parametrize(
    ("url", "status"),
    [  # what a module sees: what no URL may be is in tests/text/url_test.cpp
        ("{kind}://app:{secret}@127.0.0.1:1/0", "STORE_UNAVAILABLE"),
        ("{kind}://app:{secret}@no-such-host.invalid/0", "STORE_UNAVAILABLE"),
        ("{kind}://app:{secret}@127.0.0.1/0?tsl=off", "VALUE"),
        ("{kind}://app:{secret}@127.0.0.1/0?password={secret}", "VALUE"),
    ],
)
def test_no_message_shows_the_password(kind, url, status):
    message = refused(draw(url.format(kind=kind, secret=SECRET), "orders", store_timeout="1s", wait_max="1ms"), status)
    assert f"{kind}:" in message


@pytest.mark.parametrize("kind", servers.KINDS)
def test_an_environment_variable_that_is_not_set_is_named(kind):
    done = draw(f"{kind}://app:{SECRET}@127.0.0.1/0?password_env=IDGEN_TEST_UNSET", "orders")
    refused(done, "VALUE", "password_env", "IDGEN_TEST_UNSET", "not set")


@pytest.mark.parametrize("kind", servers.KINDS)
def test_a_secret_in_the_place_of_a_variables_name_is_not_shown(kind):
    done = draw(f"{kind}://app@127.0.0.1/0?password_env={SECRET}", "orders")
    refused(done, "VALUE", "password_env", "not shown", "Give the name of a variable")


@pytest.mark.parametrize("kind", ["mysql", "postgres", "redis"])
def test_a_password_of_the_environment_is_in_no_message_and_no_description(kind, started, tmp_path, monkeypatch):
    url = started(kind).url(password="", password_env="IDGEN_TEST_PASSWORD")
    monkeypatch.setenv("IDGEN_TEST_PASSWORD", SECRET)
    refused(draw(url, "orders"), "STORE_PERMISSION", f"{kind}://")
    monkeypatch.setenv("IDGEN_TEST_PASSWORD", "s3cr3t/%")
    file = tmp_path / "idgen.toml"
    file.write_text(f'[orders]\nkind = "segment"\nstore = "{url}"\ntag = "{create(url, new_tag())}"\n')
    described = run([IDGEN, "doctor", "--config", file, "--set", f"module.path={MODULES}"])
    assert described.returncode == 0, described.stderr
    assert f"{kind}://" in described.stdout
    assert "s3cr3t" not in described.stdout + described.stderr


@pytest.mark.parametrize("kind", servers.KINDS)
def test_an_unknown_parameter_is_answered_with_those_that_are_known(kind):
    refused(draw(f"{kind}://app@127.0.0.1/0?pasword_env=X", "orders"), "VALUE", "pasword_env", "'password_env'")


@pytest.mark.parametrize("kind", servers.KINDS)
def test_a_module_that_is_not_there_is_named_with_the_package_of_its_client_library(kind, tmp_path):
    done = draw(f"{kind}://app@127.0.0.1/0", "orders", module_path=tmp_path)
    refused(done, "UNSUPPORTED", f"libidgen_{kind}.so", "Debian: lib", str(tmp_path), "module.path")


@pytest.mark.parametrize("kind", servers.KINDS)
def test_a_host_that_never_answers_costs_the_timeout_and_no_more(kind):
    # Without a timeout, TCP gives up after two minutes, and run() before that.
    refused(draw(f"{kind}://app@192.0.2.1/0", "orders", store_timeout="1s", wait_max="1s"), "STORE_UNAVAILABLE")


@pytest.mark.parametrize("kind", ["mysql", "postgres", "redis"])
def test_a_wrong_password_is_refused_by_the_server_and_not_shown(kind, started):
    done = draw(started(kind).url(password=SECRET), "orders")
    refused(done, "STORE_PERMISSION", f"{kind}://")


def test_a_wrong_password_of_etcd_is_refused_by_the_server_and_not_shown():
    with servers.Etcd() as etcd:
        for words in ("user add root:s3cr3t", "user grant-role root root", "user add app:s3cr3t", "role add reader"):
            etcd.ctl(*words.split())
        etcd.ctl("role", "grant-permission", "reader", "--prefix=true", "read", "idgen/segment/")
        etcd.ctl("user", "grant-role", "app", "reader")
        etcd.ctl("auth", "enable")
        address = etcd.url().removeprefix("etcd://")
        refused(draw(f"etcd://root:{SECRET}@{address}", "orders"), "STORE_PERMISSION")
        refused(draw(f"etcd://{address}", "orders"), "STORE_PERMISSION")
        create(f"etcd://root:s3cr3t@{address}", "orders")
        assert draw(f"etcd://root:s3cr3t@{address}", "orders").stdout == "1\n"
        refused(draw(f"etcd://app:s3cr3t@{address}", "orders"), "STORE_PERMISSION")  # may read, may not write


def test_a_user_and_a_password_for_an_etcd_that_asks_for_none_is_said(started):
    refused(draw(started("etcd").url().replace("://", f"://app:{SECRET}@"), "orders"), "STORE_PERMISSION", "auth")


def test_a_wrong_password_of_zookeeper_cannot_touch_another_users_tag(started):
    server = started("zookeeper")
    root = new_tag()  # users make their own nodes, beginning at /idgen
    server.create(f"/{root}", "")
    address = server.url().removeprefix("zookeeper://") + f"/{root}"
    create(f"zookeeper://app:s3cr3t@{address}", "orders")
    for url in (f"zookeeper://app:{SECRET}@{address}", f"zookeeper://{address}"):
        refused(draw(url, "orders"), "STORE_PERMISSION")
        refused(segment(url, "orders", "advance", "--to", "5"), "STORE_PERMISSION")
    assert draw(f"zookeeper://app:s3cr3t@{address}", "orders").stdout == "1\n"


def hangs_up(server):
    try:
        with socket.create_connection((servers.HOST, server.port), timeout=0.5) as connection:
            return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_a_zookeeper_that_takes_no_more_connections_from_an_address_is_said_with_the_setting(started):
    server = started("zookeeper")
    url = server.url()
    create(url, "limited")
    with contextlib.ExitStack() as stack:
        for _ in range(server.connections):
            stack.enter_context(socket.create_connection((servers.HOST, server.port)))
        wait_until(lambda: hangs_up(server))  # it counts a connection a moment after it has taken it
        refused(draw(url, "limited", wait_max="1ms"), "STORE_UNAVAILABLE", "maxClientCnxns")
    wait_until(lambda: draw(url, "limited").stdout == "1\n")


def test_a_path_that_is_not_in_zookeeper_is_said_with_what_to_do(started):
    url = started("zookeeper").url() + "/" + new_tag()
    refused(segment(url, "orders", "create"), "STORE_MISSING", "create", "zkCli")
    refused(draw(url, "orders", store_create="true"), "STORE_MISSING", "create", "zkCli")


def test_a_database_that_is_not_there_is_said_with_what_to_do(started):
    mysql = started("mysql")
    mysql.sql(f"CREATE USER IF NOT EXISTS anywhere IDENTIFIED BY '{servers.PASSWORD}'; GRANT ALL ON *.* TO anywhere")
    url = mysql.url(user="anywhere").replace("/ids", "/nowhere")
    refused(draw(url, "orders"), "STORE_MISSING", "nowhere", "Make the database")
    postgres = started("postgres")
    refused(draw(postgres.url().replace("/ids", "/nowhere"), "orders"), "STORE_MISSING", "nowhere")


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
def test_a_table_that_is_not_there_is_said_with_what_to_do(kind, started):
    server = started(kind)
    server.make_database("bare")
    url = server.url().replace("/ids", "/bare")
    refused(draw(url, "orders"), "STORE_MISSING", "idgen_segment", "idgen segment create", "store_create = true")


@contextlib.contextmanager
def setting(server, name, value, usual):
    """It has another value for a while."""

    def configure(value):
        if server.name == "mysql":
            server.sql(f"SET GLOBAL {name} = {value}")
        elif server.name == "redis":
            server.cli("CONFIG", "SET", name, value)
        else:
            server.sql(f"ALTER SYSTEM SET {name} = {value}")
            server.sql("SELECT pg_reload_conf()")

    configure(value)
    try:
        yield
    finally:
        configure(usual)


@pytest.mark.parametrize(
    ("kind", "name", "value", "usual"),
    [("mysql", "read_only", "1", "0"), ("postgres", "default_transaction_read_only", "on", "off")],
)
def test_a_server_that_takes_no_writes_is_refused_at_the_start_and_later(kind, name, value, usual, started):
    server = started(kind)
    tag = create(server.url(), new_tag())
    with Asked(server.url(), tag, step=10, prefetch=1) as client:
        client.ids(10)
        with setting(server, name, value, usual):
            refused(draw(server.url(), tag), "STORE_PERMISSION")
            ids, failure = client.draw(1)
            assert not ids
            assert failure.startswith("STORE_PERMISSION")


LOSSES = [
    ("mysql", "innodb_flush_log_at_trx_commit", "2", "1"),
    ("postgres", "fsync", "off", "on"),
    ("postgres", "full_page_writes", "off", "on"),
    ("redis", "appendonly", "no", "yes"),
    ("redis", "appendfsync", "everysec", "always"),
    ("redis", "maxmemory-policy", "allkeys-lru", "noeviction"),
]


@pytest.mark.parametrize(("kind", "name", "value", "safe"), LOSSES)
def test_a_setting_that_can_lose_a_commit_is_refused_unless_that_is_accepted(kind, name, value, safe, started):
    server = started(kind)
    tag = create(server.url(), new_tag())
    with setting(server, name, value, safe):
        refused(draw(server.url(), tag), "STORE_UNSAFE", f"{name} = {value}", f"?accept_loss={name}")
        done = draw(server.url(accept_loss=name), tag)
        assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
        refused(draw(server.url(accept_loss="another"), tag), "STORE_UNSAFE")
    assert draw(server.url(), tag).returncode == 0


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ("ENGINE = MEMORY", "STORE_UNSAFE", ("MEMORY", "ENGINE = InnoDB")),
        *(
            (f"MODIFY max_id {rounded} NOT NULL", "STORE_VERSION", ("max_id", "must be bigint"))
            for rounded in ("FLOAT", "DOUBLE", "VARCHAR(30)")
        ),
    ],
)
def test_a_table_that_can_lose_a_commit_or_rounds_its_counter_is_refused(started, change, status, said):
    mysql = started("mysql")
    mysql.make_database("loose")
    try:
        url = mysql.url().replace("/ids", "/loose")
        create(url, "orders")
        mysql.sql(f"ALTER TABLE idgen_segment {change}", database="loose")
        refused(draw(url, "orders"), status, *said)
    finally:
        mysql.sql("DROP DATABASE loose")


def test_a_role_that_commits_asynchronously_is_overruled(started):
    postgres = started("postgres")
    tag = create(postgres.url(), new_tag())
    postgres.sql("ALTER ROLE app SET synchronous_commit = off")
    try:
        assert draw(postgres.url(), tag).stdout == "1\n"
    finally:
        postgres.sql("ALTER ROLE app RESET synchronous_commit")


def test_a_session_that_another_program_has_set_to_commit_asynchronously_is_overruled(started):
    postgres = started("postgres")
    tag = create(postgres.url(), new_tag())
    # Here the first statement does what a pooler does between two statements.
    postgres.sql(
        "CREATE TABLE seen (value text); GRANT ALL ON seen TO app;"
        "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO seen VALUES (current_setting('synchronous_commit'));"
        " PERFORM set_config('synchronous_commit', 'off', false); RETURN NEW; END $$;"
        "CREATE TRIGGER see BEFORE UPDATE ON idgen_segment FOR EACH ROW EXECUTE FUNCTION see()"
    )
    try:
        with Asked(postgres.url(), tag, step=10, prefetch=1) as client:
            assert client.ids(20) == list(range(1, 21))
        assert postgres.sql("SELECT value FROM seen").split() == ["on", "on"]
    finally:
        postgres.sql("DROP FUNCTION see CASCADE; DROP TABLE seen")


def test_a_role_whose_schemas_are_gone_is_told_so_and_not_to_try_again(started):
    postgres = started("postgres")
    postgres.sql("ALTER ROLE app SET search_path = nowhere")
    try:
        refused(segment(postgres.url(), new_tag(), "create"), "STORE_MISSING", "search_path")
    finally:
        postgres.sql("ALTER ROLE app RESET search_path")


def test_an_account_that_is_locked_or_expired_is_refused_and_not_tried_again(started):
    mysql = started("mysql")
    mysql.sql("CREATE USER other@'%' IDENTIFIED BY 's3cr3t/%'; GRANT ALL ON ids.* TO other@'%'")
    url = mysql.url().replace("app:", "other:")
    try:
        for state in ("ACCOUNT LOCK", "ACCOUNT UNLOCK PASSWORD EXPIRE"):
            mysql.sql(f"ALTER USER other@'%' {state}")
            refused(segment(url, new_tag(), "create"), "STORE_PERMISSION")
    finally:
        mysql.sql("DROP USER other@'%'")


@pytest.mark.parametrize("kind", ["mysql", "postgres", "redis"])
def test_a_newline_at_the_end_of_a_password_in_the_environment_does_not_count(kind, started, monkeypatch):
    server = started(kind)
    monkeypatch.setenv("IDGEN_TEST_PASSWORD", servers.PASSWORD + "\n")
    written = "s3cr3t%2F%25"
    url = server.url(password_env="IDGEN_TEST_PASSWORD").replace(f":{written}@", "@")
    assert written not in url
    assert draw(url, create(url, new_tag())).stdout == "1\n"


def test_a_server_that_ends_a_connection_with_each_commit_is_told_not_to(started):
    mysql = started("mysql")
    mysql.sql("SET GLOBAL completion_type = 2")
    try:
        store = mysql.url(statements="transaction")
        with Asked(store, create(store, new_tag()), step=10, prefetch=1) as client:
            assert client.ids(35) == list(range(1, 36))
    finally:
        mysql.sql("SET GLOBAL completion_type = 0")


class RedisOfACluster(servers.Redis):
    def prepare(self):
        super().prepare()
        own = ("--cluster-enabled", "yes", "--cluster-port", str(self.reserve_port()))
        self.options = (*servers.Redis.options, *own)


def test_a_server_of_a_redis_cluster_is_refused_by_every_call_at_once():
    with RedisOfACluster() as redis:
        redis.cli("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        wait_until(lambda: "cluster_state:ok" in redis.cli("CLUSTER", "INFO"))
        url = redis.url()
        snowflakes = ("next", "--kind", "snowflake", "--set", "worker=auto")
        for call in (("store", "create"), ("segment", "create", "--tag", "t"), ("segment", "show", "--tag", "t"),
                     ("next", "--kind", "segment", "--tag", "t"), ("worker", "list"), snowflakes):  # fmt: skip
            refused(run([IDGEN, *call, "--store", url]), "UNSUPPORTED", "part of a cluster")
        cosid = ("--set", "worker_source=cosid", "--set", f"worker_url={url}", "--store", "sqlite:windows.db")
        refused(run([IDGEN, *snowflakes, *cosid, "--set", "store_create=true"]), "UNSUPPORTED", "part of a cluster")
        serial = ("--set", "segment.schema=incr", "--set", "pattern={yyyy}{MM}{dd}{000000}")
        counter = ("next", "--kind", "serial", "--tag", "t", "--store", url, *serial)
        refused(run([IDGEN, *counter]), "UNSUPPORTED", "part of a cluster")


def test_a_table_that_a_crash_empties_is_refused(started):
    postgres = started("postgres")
    tag = create(postgres.url(), new_tag())
    postgres.sql("ALTER TABLE idgen_segment SET UNLOGGED")
    try:
        refused(draw(postgres.url(), tag, store_create="true"), "STORE_UNSAFE", "UNLOGGED", "SET LOGGED")
    finally:
        postgres.sql("ALTER TABLE idgen_segment SET LOGGED")
    assert draw(postgres.url(), tag).stdout == "1\n"


@pytest.mark.parametrize(
    ("kind", "status", "what"),
    [
        ("mysql", "STORE_UNSAFE", "TLS"),
        ("postgres", "STORE_UNSAFE", "SSL"),
        ("redis", "STORE_UNAVAILABLE", "TLS"),
        ("etcd", "STORE_UNAVAILABLE", "TLS"),
    ],
)
def test_tls_that_is_required_is_not_done_without(kind, status, what, started):
    server = started(kind)
    if isinstance(server, servers.MySQL):
        pytest.skip("it has TLS; one without it is in test_mysql.py")
    tag = create(server.url(), new_tag())
    for tls in ("require", "verify"):
        refused(draw(server.url(tls=tls), tag, store_timeout="2s", wait_max="1ms"), status, what)
    refused(draw(server.url(tls="yes"), tag), "VALUE", "tls", "'yes'", "require")
    assert show(server.url(), tag)["grants"] == 0


def test_a_counter_at_its_end_is_refused_before_it_wraps(shared, tag):
    largest = 2**63 - 1
    assert segment(shared.url(), tag, "advance", "--force", "--to", str(largest - 15)).returncode == 0
    done = draw(shared.url(), tag, 10, step=10, prefetch=1)
    assert done.stdout.split() == [str(number) for number in range(largest - 14, largest - 4)]
    refused(draw(shared.url(), tag, step=10), "EXHAUSTED", str(largest - 5))
    assert show(shared.url(), tag)["max_id"] == largest - 5
    assert draw(shared.url(), tag, 4, step=4).stdout.split()[-1] == str(largest - 1)
    refused(draw(shared.url(), tag, step=2), "EXHAUSTED", str(largest - 1))
    assert segment(shared.url(), tag, "advance", "--force", "--to", str(largest)).returncode == 0
    refused(draw(shared.url(), tag, step=1), "EXHAUSTED", str(largest))
    refused(segment(shared.url(), tag, "advance", "--force", "--to", str(largest)), "EXHAUSTED", str(largest))
    assert show(shared.url(), tag)["max_id"] == largest


def test_what_is_no_counter_is_damage_and_not_zero(shared, tag):
    if shared.name == "postgres":
        pytest.skip("its table takes no negative number")
    shared.set_counter(tag, -5)
    try:
        refused(draw(shared.url(), tag), "STORE_DAMAGED", "-5")
        refused(segment(shared.url(), tag, "show"), "STORE_DAMAGED", "-5")
        refused(draw(shared.url(), tag, store_create="true"), "STORE_DAMAGED", "-5")
    finally:
        shared.set_counter(tag, 5)
    assert draw(shared.url(), tag).stdout == "6\n"


def test_a_closed_standard_output_is_an_error_and_never_the_connection_to_the_server(shared, tag):
    words = [str(word) for word in command(shared.url(), tag, "next", "--kind", "segment", "-n", "3")]
    done = run(["sh", "-c", '"$@" 1>&-', "sh", *words])
    assert done.returncode == 1
    assert done.stderr == "idgen: error: cannot write to standard output: Bad file descriptor\n"
