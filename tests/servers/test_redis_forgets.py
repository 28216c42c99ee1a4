"""Redis may forget what it has acknowledged. Then nothing more is granted until somebody has raised the tag."""

import ctypes
import re

import pytest
from clients import BUILD, IDGEN, MODULES, Asked, Generator, create, draw, new_tag, run, segment, show, wait_until
from proxy import Proxy

import servers

MODULE = ("--set", f"module.path={MODULES}")
RELAXED = {"accept_loss": "appendonly"}


class WithoutLog(servers.Redis):
    """A Redis that remembers only what it has dumped."""

    options = ("--appendonly", "no", "--appendfsync", "always", "--save", "", "--repl-diskless-sync-delay", "0")

    def url(self, port=None, **parameters):
        return super().url(port, **RELAXED, **parameters)


@pytest.fixture
def redis():
    with WithoutLog() as server:
        yield server


def is_refused(url, tag, status):
    """Again and again, not only at first."""
    for _ in range(3):
        done = draw(url, tag)
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.startswith(f"idgen: error: {status}")
        assert "idgen segment " in done.stderr


def stopped(client):
    """The status that a process gets instead of an id."""
    ids, failure = client.draw(1)
    assert not ids
    return failure.split(" ")[0]


def is_granted_after_advance(url, tag, highest):
    done = segment(url, tag, "advance", "--to", str(highest))
    assert done.returncode == 0, done.stderr
    assert int(draw(url, tag).stdout) > highest


def test_after_a_restart_from_an_older_dump_nothing_is_granted_until_the_tag_is_lifted(redis):
    tag = create(redis.url(), new_tag())
    with Asked(redis.url(), tag, step=10, prefetch=1) as client:
        client.ids(30)
        redis.cli("SAVE")
        highest = client.ids(30)[-1]
        redis.restart()
        assert show(redis.url(), tag)["max_id"] == 30  # it has forgotten
        assert stopped(client) == "STORE_REGRESSED"
        is_refused(redis.url(), tag, "STORE_REGRESSED")
        is_granted_after_advance(redis.url(), tag, highest)
        # The process that was refused has kept nothing: it continues above all ids ever issued.
        assert wait_until(lambda: client.draw(1)[0])[0] > highest


def test_after_a_restart_with_a_dump_that_is_complete_the_tag_has_to_be_lifted_as_well(redis):
    tag = create(redis.url(), new_tag())
    highest = int(draw(redis.url(), tag).stdout)
    redis.cli("SAVE")
    redis.restart()
    is_refused(redis.url(), tag, "STORE_REGRESSED")
    is_granted_after_advance(redis.url(), tag, highest)


def test_after_a_failover_to_a_replica_that_lags_nothing_is_granted_until_the_tag_is_lifted(redis):
    with WithoutLog() as replica, Proxy(redis.port) as replication, Proxy(redis.port) as service:
        url = redis.url(service.port)
        replica.follow(replication.port)
        tag = create(url, new_tag())
        with Asked(url, tag, step=10, prefetch=1) as client:
            client.ids(30)
            wait_until(lambda: replica.cli("HGET", f"idgen:default:{tag}", "max_id").strip() == "30")
            replication.refuse()  # from now on it lags
            highest = client.ids(30)[-1]
            redis.kill()
            replica.lead()
            service.target = replica.port
            # The first attempt may find the broken connection, the next one finds the new master.
            failure = wait_until(lambda: (found := client.draw(1)[1]) and not found.startswith("STORE_UNAV") and found)
            assert failure.startswith("STORE_REGRESSED")
        assert show(url, tag)["max_id"] == 30
        is_refused(url, tag, "STORE_REGRESSED")
        is_granted_after_advance(url, tag, highest)


def test_a_replica_that_comes_and_goes_stops_nobody_but_the_first_one_does(redis):
    tag = create(redis.url(), new_tag())
    with WithoutLog() as replica, Asked(redis.url(), tag, step=10, prefetch=1) as client:
        highest = client.ids(10)[-1]
        replica.follow(redis.port)  # because of it the master takes a new replication id
        is_refused(redis.url(), tag, "STORE_REGRESSED")
        is_granted_after_advance(redis.url(), tag, highest)
        last = wait_until(lambda: client.draw(1)[0])
        replica.restart()
        replica.follow(redis.port)
        assert client.ids(100)[0] > last[0]


def test_a_replica_grants_nothing(redis):
    tag = create(redis.url(), new_tag())
    with WithoutLog() as replica:
        replica.follow(redis.port)
        done = draw(replica.url(), tag)
        assert done.returncode == 1
        assert done.stderr.startswith("idgen: error: STORE_PERMISSION")
        assert "master" in done.stderr


def test_a_master_that_becomes_a_replica_stops_who_is_connected_to_it(redis):
    tag = create(redis.url(), new_tag())
    with WithoutLog() as other, Asked(redis.url(), tag, step=10, prefetch=1) as client:
        client.ids(10)
        redis.follow(other.port)
        assert stopped(client) == "STORE_PERMISSION"
        redis.lead()  # without the tag, which the other never had
        assert stopped(client)
        is_refused(redis.url(), tag, "TAG_UNKNOWN")


def test_after_flushall_the_tag_is_unknown_until_it_is_made_and_lifted(redis):
    tag = create(redis.url(), new_tag())
    with Asked(redis.url(), tag, step=10, prefetch=1) as client:
        highest = client.ids(30)[-1]
        redis.cli("FLUSHALL")
        assert stopped(client) == "TAG_UNKNOWN"
        is_refused(redis.url(), tag, "TAG_UNKNOWN")
        create(redis.url(), tag)
        # Made, but not raised: a process that has drawn from it before notices.
        failure = wait_until(lambda: (found := client.draw(1)[1]) and not found.startswith("TAG_UNKNOWN") and found)
        assert failure.startswith("STORE_REGRESSED")
    is_granted_after_advance(redis.url(), tag, highest)


def test_a_rewind_is_accepted_only_by_who_asks_for_it(redis):
    tag = create(redis.url(), new_tag())
    assert draw(redis.url(), tag).stdout == "1\n"
    redis.cli("SAVE")
    redis.restart()
    is_refused(redis.url(), tag, "STORE_REGRESSED")
    done = draw(servers.Redis.url(redis, accept_loss="appendonly,rewind"), tag)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1


def test_scripts_that_are_flushed_are_sent_again(redis):
    tag = create(redis.url(), new_tag())
    with Asked(redis.url(), tag, step=10, prefetch=1) as client:
        client.ids(10)
        redis.cli("SCRIPT", "FLUSH")
        assert client.ids(20) == list(range(11, 31))


def is_not_made_anew(url, tag, **properties):
    for _ in range(3):
        done = draw(url, tag, store_create="true", **properties)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("idgen: error: TAG_UNKNOWN")
        assert "there before" in done.stderr
        assert "idgen segment advance" in done.stderr


def test_a_tag_that_is_gone_is_not_made_anew_by_store_create(redis):
    tag = new_tag()
    highest = int(draw(redis.url(), tag, store_create="true").stdout)
    redis.cli("DEL", f"idgen:default:{tag}")
    is_not_made_anew(redis.url(), tag)
    create(redis.url(), tag)
    is_granted_after_advance(redis.url(), tag, highest)


def test_a_tag_that_was_made_after_the_dump_is_not_made_anew_by_store_create(redis):
    older, tag = new_tag(), new_tag()
    draw(redis.url(), older, store_create="true")
    redis.cli("SAVE")
    assert draw(redis.url(), tag, store_create="true").stdout == "1\n"
    redis.restart()
    is_not_made_anew(redis.url(), tag)
    # If a rewind is accepted, ids may be issued twice, and describe says so; but not for a tag that the server knows is
    # gone.
    accepting = servers.Redis.url(redis, accept_loss="appendonly,rewind")
    assert draw(accepting, tag, store_create="true").stdout == "1\n"
    redis.cli("DEL", f"idgen:default:{tag}")
    is_not_made_anew(accepting, tag)


def test_a_replica_that_took_over_before_its_first_tag_makes_none_anew_by_store_create(redis):
    with WithoutLog() as replica, Proxy(redis.port) as replication:
        replica.follow(replication.port)
        replication.refuse()  # from now on it lags
        tag = new_tag()
        highest = int(draw(redis.url(), tag, store_create="true").stdout)
        redis.kill()
        replica.lead()
        is_not_made_anew(replica.url(), tag)
        create(replica.url(), tag)
        is_granted_after_advance(replica.url(), tag, highest)
        assert draw(replica.url(), new_tag(), store_create="true").stdout == "1\n"  # of this life


@pytest.mark.parametrize("schema", ["idgen", "cosid"])
def test_a_tag_that_advance_has_taken_over_is_not_made_anew_by_store_create(redis, schema):
    tag = new_tag()
    if schema == "cosid":
        redis.cli("SET", f"cosid:{{cosid.{tag}}}.adder", "30")  # as CosId makes it
    else:
        redis.cli("HSET", f"idgen:cosid:{tag}", "max_id", "30", "grants", "3")  # as it comes from another server
    properties = {"schema": schema, "namespace": "cosid"}
    done = segment(redis.url(), tag, "advance", "--to", "30", **properties)
    assert done.returncode == 0, done.stderr
    assert int(draw(redis.url(), tag, **properties).stdout) > 30
    redis.cli("DEL", *redis.cli("KEYS", f"*{tag}*").split())
    is_not_made_anew(redis.url(), tag, **properties)


def test_the_key_of_what_is_known_of_all_tags_is_no_tag(redis):
    tag = create(redis.url(), new_tag())
    listed = run([IDGEN, "segment", "show", "--store", redis.url(), *MODULE])
    assert [line.split()[1] for line in listed.stdout.splitlines()[1:]] == [tag]


def test_what_is_printed_to_make_a_tag_makes_it_as_idgen_does(redis):
    made, printed = create(redis.url(), new_tag()), new_tag()
    for words in ([], ["--namespace", 'a b"\n:c']):
        text = segment(redis.url(), printed, "create", "--print", *words).stdout
        label = redis.cli("HGET", f"idgen:default:{made}", "label").strip()
        redis.cli(input=text.replace("MASTER_REPLID", label))
        done = segment(redis.url(), printed, "show", *words)
        assert done.returncode == 0, (text, done.stderr)
        assert draw(redis.url(), printed, namespace=words[1] if words else "default").stdout == "1\n"
    assert redis.cli("HGET", "idgen:store", f"idgen:default:{printed}").strip() == "1"


def described(url):
    """What idgen_describe says."""
    generator = Generator(store=url, tag=new_tag(), store_create="true")
    text, size = ctypes.create_string_buffer(1 << 16), ctypes.c_size_t(1 << 16)
    generator.call("describe", text, ctypes.byref(size))
    generator.call("close")
    return text.value.decode()


def test_a_server_that_comes_back_empty_begins_anew_with_store_create_and_describe_says_so(redis):
    tag = new_tag()
    assert draw(redis.url(), tag, store_create="true").stdout == "1\n"
    text = described(redis.url())
    assert "no id is issued twice, unless the server comes back empty" in text
    assert (
        "ids ARE ISSUED TWICE. A restart or an eviction is enough for that, because of accept_loss = appendonly" in text
    )
    redis.cli("CONFIG", "SET", "appendonly", "no")
    redis.restart()  # nothing was ever dumped
    assert draw(redis.url(), tag, store_create="true").stdout == "1\n"


def test_what_describe_says_without_an_accepted_loss():
    with servers.Redis() as redis:
        text = described(redis.url())
        assert "Only FLUSHALL or the loss of its files does that" in text


class WorkerScripts:
    """The scripts of workers' windows, one at a time: what a process does between two of its calls may be anything."""

    def __init__(self, server, namespace, worker):
        self.server = server
        self.keys = [f"idgen-worker:{worker}:{namespace}", "idgen-workers"]
        header = (BUILD / "../modules/redis/worker_scripts.hpp").resolve().read_text()
        self.texts = dict(re.findall(r'const char\* (kWorker\w+) = R"\((.*?)\)"', header, re.DOTALL))

    def run(self, name, *arguments):
        text = self.texts["kWorkerPrelude"] + self.texts[name]
        return self.server.cli("EVAL", text, str(len(self.keys)), *self.keys, *arguments).splitlines()


def test_a_worker_that_is_made_and_deleted_between_two_calls_of_another_process_is_noticed(redis):
    lead_ms = 15_000
    scripts = WorkerScripts(redis, new_tag(), 7)
    scripts.run("kWorkerSettle", str(lead_ms))
    _, now, fence, owner, begins = scripts.run("kWorkerRead")
    assert (fence, owner) == ("0", "")

    def asks(first, owner):  # for a window of 1 s above what was read
        end = str(int(first) + 1000)
        return scripts.run("kWorkerReplace", "0", "", first, "1", owner, end, "holder", now, "1000", "1000", "60000")

    assert asks(begins, "aa") == ["ok"]
    redis.cli("DEL", scripts.keys[0])
    assert asks(begins, "bb") == ["changed"]  # or it would have aa's window too
    scripts.run("kWorkerSettle", str(lead_ms))
    _, _, fence, owner, above = scripts.run("kWorkerRead")
    assert (fence, owner) == ("0", "")
    assert int(above) > int(begins)
    assert asks(above, "bb") == ["ok"]


def test_no_move_and_no_import_repairs_what_redis_has_forgotten(redis, tmp_path):
    """Each raises a tag, and none of them knows up to where its ids are in use: only an operator does (`advance`)."""
    url, file = redis.url(), f"sqlite:{tmp_path}/ids.db"
    tag, moved = create(url, new_tag()), create(file, new_tag())
    source = create(url, new_tag())
    for name in (tag, source):
        assert draw(url, name, 100).returncode == 0
    create(file, tag)

    def move(before, after, name, *more):
        return run([IDGEN, "segment", "move", "--from", before, "--to", after, "--tag", name, *MODULE, *more])

    done = move(file, url, moved)
    assert done.returncode == 0, done.stderr
    redis.cli("SAVE")
    stood = {name: show(url, name)["max_id"] for name in (tag, moved)}
    for name in (tag, moved):
        assert draw(url, name, 60).returncode == 0
    redis.restart()
    tries = [
        move(url, file, tag),
        move(url, url.replace(servers.HOST, "localhost"), tag),
        move(file, url, tag),
        move(file, url, moved, "--resume"),
        segment(url, tag, "import", "--from-tag", source),
        segment(url, tag, "create", "--if-missing"),
        segment(url, tag, "retire", "--force"),
    ]
    for done in tries:
        assert done.returncode != 0, done.stdout
        assert "STORE_REGRESSED" in done.stderr, done.stderr
    for name in (tag, moved):
        assert show(url, name)["max_id"] == stood[name]
        is_refused(url, name, "STORE_REGRESSED")
    assert "EXHAUSTED" not in draw(file, tag).stderr, "it was not retired"


def test_no_create_says_that_a_counter_of_cosids_is_there_when_redis_has_forgotten_of_it(redis):
    """ "It exists" says that its next number is above all in use."""
    tag, cosid = new_tag(), {"schema": "cosid", "namespace": "cosid"}

    def tries():
        return [segment(redis.url(), tag, "create", *more, **cosid) for more in ((), ("--if-missing",))]

    redis.cli("SET", f"cosid:{{cosid.{tag}}}.adder", "30")  # as CosId makes it
    done = segment(redis.url(), tag, "advance", "--to", "30", **cosid)
    assert done.returncode == 0, done.stderr
    exists, made = tries()
    assert "TAG_EXISTS" in exists.stderr
    assert made.returncode == 0, made.stderr
    redis.cli("SAVE")
    assert draw(redis.url(), tag, 60, **cosid).returncode == 0
    redis.restart()
    for done in tries():
        assert done.returncode == 1
        assert "STORE_REGRESSED" in done.stderr, done.stderr
    assert segment(redis.url(), tag, "advance", "--to", "90", **cosid).returncode == 0
    assert tries()[1].returncode == 0
    assert int(draw(redis.url(), tag, **cosid).stdout) > 90
