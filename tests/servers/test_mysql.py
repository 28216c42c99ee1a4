"""Logging in to MySQL as it is installed: its accounts use caching_sha2_password, which may ask for the password
itself, and its certificate names no host."""

import pytest
from clients import create, draw, new_tag, segment
from proxy import Proxy

import servers

SHA2 = "caching_sha2_password"


@pytest.fixture(scope="module")
def tree():
    try:
        return servers.tree_of("mysql")
    except servers.NotAvailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def mysql(tree):
    with servers.MySQL(tree) as server:
        yield server


@pytest.fixture(scope="module")
def mysql_without_tls(tree):
    class WithoutTls(servers.MySQL):
        options = ("--tls-version=",)

    with WithoutTls(tree) as server:
        yield server


def plain_url(server, port=None, **parameters):
    """What a first attempt writes, and no more than is asked for."""
    return servers.Database.url(server, port, **parameters)


def fingerprint(server, kind="sha1"):
    certificate = server.data / "server-cert.pem"
    said = server.run("openssl", "x509", "-in", certificate, "-noout", "-fingerprint", f"-{kind}").stdout
    return said.strip().partition("=")[2]


def forget_passwords(server):
    """What the server has cached of them: the next client that logs in must show it."""
    server.sql("FLUSH PRIVILEGES", database="")


def draws(store):
    done = draw(store, create(store, new_tag()))
    assert done.stdout == "1\n", done.stderr


def refused(store, *parts):
    done = segment(store, new_tag(), "create")
    assert done.returncode != 0
    for part in parts:
        assert part in done.stderr


def test_without_a_word_it_is_refused_and_one_thing_to_add_is_said(mysql):
    forget_passwords(mysql)
    refused(plain_url(mysql), "STORE_PERMISSION", f"Add auth={SHA2} to the URL", "tls=verify-ca", "tls_fingerprint=HEX")
    draws(plain_url(mysql, auth=SHA2))


@pytest.mark.parametrize("tls", [None, "prefer", "require", "off"])
def test_whoever_listens_does_not_learn_the_password(mysql, tls):
    forget_passwords(mysql)
    with Proxy(mysql.port, listens=True) as listener:
        draws(plain_url(mysql, listener.port, auth=SHA2, **({"tls": tls} if tls else {})))
        assert b"app" in listener.heard or tls != "off"
        assert servers.PASSWORD.encode() not in listener.heard
        assert (b"idgen_segment" in listener.heard) == (tls == "off"), "what else is said is encrypted"


@pytest.mark.parametrize("tls", [None, "off"])
def test_nor_where_the_server_has_no_tls(mysql_without_tls, tls):
    """The client library alone would send it as it is: it believes that what it asked for is there."""
    forget_passwords(mysql_without_tls)
    with Proxy(mysql_without_tls.port, listens=True) as listener:
        draws(plain_url(mysql_without_tls, listener.port, auth=SHA2, **({"tls": tls} if tls else {})))
        assert b"idgen_segment" in listener.heard
        assert servers.PASSWORD.encode() not in listener.heard


def test_a_server_without_tls_is_refused_where_that_is_required(mysql_without_tls):
    forget_passwords(mysql_without_tls)
    with Proxy(mysql_without_tls.port, listens=True) as listener:
        url = plain_url(mysql_without_tls, listener.port, auth=SHA2, tls="require")
        refused(url, "STORE_UNSAFE", "the server offers no TLS")
        assert servers.PASSWORD.encode() not in listener.heard


@pytest.mark.parametrize("written", [str, str.lower, lambda text: text.replace(":", "")])
def test_a_server_that_is_known_by_its_fingerprint_may_ask_for_anything(mysql, written):
    forget_passwords(mysql)
    draws(plain_url(mysql, tls_fingerprint=written(fingerprint(mysql))))


def test_a_fingerprint_of_another_certificate_is_refused(mysql, mysql_without_tls):
    wrong = fingerprint(mysql)[:-2] + ("00" if not fingerprint(mysql).endswith("00") else "01")
    refused(plain_url(mysql, tls_fingerprint=wrong), "STORE_PERMISSION", "Fingerprint")
    refused(plain_url(mysql_without_tls, tls_fingerprint=wrong), "STORE_UNSAFE", "SSL is required")


def test_a_fingerprint_that_is_none_is_refused_with_what_is_allowed(mysql):
    for wrong in ("AB:CD", "z" * 40, "é"):
        refused(plain_url(mysql, tls_fingerprint=wrong), "VALUE", "tls_fingerprint", "as 40 or 64 hexadecimal digits")
    good = fingerprint(mysql)
    refused(plain_url(mysql, tls_fingerprint=good, tls="off"), "VALUE", "leave tls = off out")
    refused(plain_url(mysql, tls_fingerprint=good, socket=mysql.socket), "VALUE", "leave socket out")


def test_a_sha256_is_taken_or_refused_by_what_the_client_library_knows(mysql):
    store = plain_url(mysql, tls_fingerprint=fingerprint(mysql, "sha256"))
    done = segment(store, new_tag(), "create")
    assert done.returncode == 0 or ("UNSUPPORTED" in done.stderr and "give its SHA-1" in done.stderr), done.stderr


def test_its_own_certificate_names_no_host_and_the_message_says_what_to_do(mysql):
    known = {"tls_ca": mysql.data / "ca.pem"}
    refused(plain_url(mysql, tls="verify", **known), "STORE_PERMISSION", "tls=verify-ca", "tls_fingerprint=HEX")
    forget_passwords(mysql)
    with Proxy(mysql.port, listens=True) as listener:
        draws(plain_url(mysql, listener.port, tls="verify-ca", **known))
        assert servers.PASSWORD.encode() not in listener.heard
        assert b"idgen_segment" not in listener.heard


def test_the_authority_of_another_server_is_not_its_own(mysql, mysql_without_tls):
    others = {"tls": "verify-ca", "tls_ca": mysql_without_tls.data / "ca.pem"}
    refused(plain_url(mysql, **others), "STORE_PERMISSION", "certificate")
    refused(plain_url(mysql_without_tls, **others), "STORE_UNSAFE", "SSL is required")


def test_by_its_socket_it_may_ask_for_anything(mysql):
    forget_passwords(mysql)
    draws(plain_url(mysql, socket=mysql.socket))


def test_an_account_that_needs_tls_is_served(mysql):
    mysql.sql("ALTER USER app REQUIRE SSL", database="")
    try:
        forget_passwords(mysql)
        draws(plain_url(mysql, auth=SHA2))
        refused(plain_url(mysql, auth=SHA2, tls="off"), "STORE_PERMISSION")
    finally:
        mysql.sql("ALTER USER app REQUIRE NONE", database="")
