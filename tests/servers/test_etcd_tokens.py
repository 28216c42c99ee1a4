"""etcd forgets its tokens: after a while, at a restart, when users or roles change. Drawing goes unaffected."""

import subprocess
import time

import pytest
from clients import IDGEN, Asked, create, draw, native_settings, new_tag, patience, run, segment

import servers

TTL_SECONDS = round(patience(1))


class WithUsers(servers.Etcd):
    """An etcd that asks for a password, and whose tokens live for a second; longer where each request takes longer."""

    def prepare(self):
        super().prepare()
        key, public = self.folder / "key", self.folder / "public"
        self.run("openssl", "genrsa", "-out", str(key), "2048")
        self.run("openssl", "rsa", "-in", str(key), "-pubout", "-out", str(public))
        self.options = ("--auth-token", self.tokens(key, public))

    def tokens(self, key, public):
        return f"jwt,pub-key={public},priv-key={key},sign-method=RS256,ttl={TTL_SECONDS}s"

    def ask_for_passwords(self):
        for words in (
            "user add root:s3cr3t",
            "user grant-role root root",
            "auth enable",
        ):
            self.ctl(*words.split())
        return self

    def url(self, port=None, **parameters):
        return super().url(port, **parameters).replace("://", "://root:s3cr3t@")


class WithSimpleTokens(WithUsers):
    """Its tokens live for minutes, but only in memory."""

    def tokens(self, key, public):
        return "simple"


def test_a_token_that_has_expired_is_renewed_and_no_refill_fails():
    with WithUsers() as etcd:
        tag = create(etcd.ask_for_passwords().url(), new_tag())
        with Asked(etcd.url(), tag, step=10, prefetch=1) as client:
            for n in range(4):
                assert client.ids(10) == list(range(10 * n + 1, 10 * n + 11))
                time.sleep(TTL_SECONDS + 0.5)  # etcd's clock cannot be simulated


def test_what_is_left_is_given_back_although_the_token_has_expired():
    with WithUsers() as etcd:
        tag = create(etcd.ask_for_passwords().url(), new_tag())
        with Asked(etcd.url(), tag, step=1000) as client:
            client.ids(3)
            time.sleep(TTL_SECONDS + 0.5)
        assert draw(etcd.url(), tag).stdout == "4\n"


def test_after_a_restart_of_etcd_the_token_that_it_has_forgotten_is_renewed():
    with WithSimpleTokens() as etcd:
        tag = create(etcd.ask_for_passwords().url(), new_tag())
        with Asked(etcd.url(), tag, step=10, prefetch=1) as client:
            assert client.ids(10) == list(range(1, 11))
            etcd.restart()
            assert client.ids(10) == list(range(11, 21))


def test_a_change_of_users_and_roles_is_not_noticed():
    with WithSimpleTokens() as etcd:
        tag = create(etcd.ask_for_passwords().url(), new_tag())
        with Asked(etcd.url(), tag, step=10, prefetch=1) as client:
            assert client.ids(10) == list(range(1, 11))
            etcd.run(
                "etcdctl",
                f"--endpoints=http://{servers.HOST}:{etcd.port}",
                "--user=root:s3cr3t",
                "role",
                "add",
                "r",
            )
            assert client.ids(10) == list(range(11, 21))


def test_a_password_that_was_changed_meanwhile_is_refused_once_the_token_is_gone():
    with WithSimpleTokens() as etcd:
        tag = create(etcd.ask_for_passwords().url(), new_tag())
        with Asked(etcd.url(), tag, step=10, prefetch=1) as client:
            client.ids(10)
            as_root = [
                "etcdctl",
                f"--endpoints=http://{servers.HOST}:{etcd.port}",
                "--user=root:s3cr3t",
            ]
            subprocess.run(
                [*as_root, "user", "passwd", "root", "--interactive=false"],
                input="other\n",
                text=True,
                check=True,
            )
            etcd.restart()
            ids, failure = client.draw(10)
            assert not ids
            assert failure.startswith("STORE_PERMISSION")


@pytest.mark.parametrize("prefix", ["", "ids%0Arm", "ids%20", "%FF"])
def test_a_prefix_that_holds_all_keys_of_the_cluster_or_is_no_plain_word_is_refused(started, prefix):
    url = started("etcd").url(prefix=prefix)
    for done in (
        segment(url, new_tag(), "show"),
        segment(url, new_tag(), "create", "--print"),
        list_tags(url),
    ):
        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith("idgen: error: VALUE: ")
        assert "prefix = '" in done.stderr
        assert "idgen/segment/" in done.stderr


def list_tags(url):
    settings = [word for pair in native_settings({}) for word in ("--set", pair)]
    return run([IDGEN, "segment", "show", "--store", url, *settings])


def test_keys_of_others_below_the_prefix_are_no_tags(started):
    etcd = started("etcd")
    url = etcd.url(prefix="shared")
    tag = create(url, new_tag())
    for key in (
        "shared",
        "shared/",
        "sharedelse",
        "shareda/%zz",
        "shareda/b/c",
        "shareda/b c",
        "shareda/",
    ):
        etcd.ctl("put", key, "not idgen's")
    done = segment(url, tag, "show")
    assert done.returncode == 0, done.stderr
    listed = list_tags(url)
    assert listed.returncode == 0, listed.stderr
    assert [line.split()[1] for line in listed.stdout.splitlines()[1:]] == [tag]
