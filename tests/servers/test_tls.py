"""Servers that speak only TLS, with certificates of an authority made for the run."""

import datetime
import os
import shutil
import ssl

import pytest
import trustme
from clients import Asked, command, create, draw, new_tag, run, segment
from test_password import REVEALING, SECRET, Impostor, Listener

import servers


class Certificates:
    """Files of an authority, of servers' certificates and of a client's."""

    def __init__(self, folder):
        ours, others = trustme.CA(), trustme.CA()
        self.ca, self.wrong_ca = folder / "ca.pem", folder / "wrong-ca.pem"
        ours.cert_pem.write_to_path(self.ca)
        others.cert_pem.write_to_path(self.wrong_ca)
        self.right = self.issue(ours, folder, servers.HOST)
        self.of_another_name = self.issue(ours, folder, "db.example")
        past = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
        self.expired = self.issue(ours, folder, "expired.example", not_after=past)
        self.client = self.issue(ours, folder, "client.example")

    @staticmethod
    def issue(authority, folder, name, **options):
        """Certificate and key."""
        issued = authority.issue_cert(name, **options)
        files = folder / f"{name}.pem", folder / f"{name}.key"
        issued.cert_chain_pems[0].write_to_path(files[0])
        issued.private_key_pem.write_to_path(files[1])
        return files


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


def own_copies(server, files):
    """For the user that the server runs as, in its folder, readable by nobody else."""
    copies = []
    for file in files:
        copy = server.folder / file.name
        shutil.copyfile(file, copy)
        copy.chmod(0o600)
        if server.user:
            shutil.chown(copy, server.user["user"], server.user["group"])
        copies.append(str(copy))
    return copies


class TlsMySQL(servers.KINDS["mysql"]):
    def prepare(self):
        super().prepare()
        certificate, key = own_copies(self, self.certificate)
        self.options = (f"--ssl-cert={certificate}", f"--ssl-key={key}")

    def is_ready(self):
        super().is_ready()
        self.sql("ALTER USER app REQUIRE SSL", database="")
        return True

    def url(self, **parameters):
        made = super().url(**parameters)
        return made if "tls" in parameters else made.replace("&tls=off", "")


class TlsPostgres(servers.Postgres):
    def prepare(self):
        super().prepare()
        certificate, key = own_copies(self, self.certificate)
        self.options = {"ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": key}
        rules = self.data / "pg_hba.conf"
        rules.write_text(rules.read_text().replace("host all app", "hostssl all app"))


class TlsRedis(servers.Redis):
    def prepare(self):
        super().prepare()
        certificate, key = map(str, self.certificate)
        self.options = (
            *super().options,
            *("--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", str(self.authority)),
            *("--tls-auth-clients", "no"),
        )

    def command(self):
        """No port but the one for TLS."""
        command = super().command()
        command[command.index("--port")] = "--tls-port"
        return [*command, "--port", "0"]

    def cli(self, *command):
        return super().cli("--tls", "--insecure", *command)


class TlsEtcd(servers.Etcd):
    """It also requires a client certificate."""

    def prepare(self):
        super().prepare()
        certificate, key = self.certificate
        self.options = (
            *("--cert-file", certificate, "--key-file", key),
            *("--client-cert-auth", "--trusted-ca-file", self.authority),
        )

    def command(self):
        client = f"{servers.HOST}:{self.port}"
        return [str(word).replace(f"http://{client}", f"https://{client}") for word in super().command()]

    def ctl(self, *command):
        certificate, key = self.client
        where = (f"--endpoints=https://{servers.HOST}:{self.port}", "--cacert", self.authority)
        return self.run(
            *("etcdctl", *where, "--cert", certificate, "--key", key, *command),
            env={**os.environ, "ETCDCTL_API": "3"},
        ).stdout

    def is_ready(self):
        certificate, key = self.client
        self.run(
            *("curl", "--fail", "--silent", "--insecure", "--cert", certificate, "--key", key),
            f"https://{servers.HOST}:{self.port}/health",
        )
        return True


KINDS = {kind.name: kind for kind in (TlsMySQL, TlsPostgres, TlsRedis, TlsEtcd)}


def started(kind, certificates, certificate):
    class WithCertificate(KINDS[kind]):
        pass

    WithCertificate.certificate = certificate
    WithCertificate.authority, WithCertificate.client = certificates.ca, certificates.client
    return WithCertificate()


@pytest.fixture(scope="module", params=KINDS)
def server(request, certificates):
    with started(request.param, certificates, certificates.right) as made:
        yield made


def own_of(kind, certificates):
    """What any client of such a server needs."""
    return dict(zip(("tls_cert", "tls_key"), certificates.client, strict=True)) if kind == "etcd" else {}


@pytest.fixture
def url(server, certificates):
    """url(**parameters), with what any client of this server needs."""
    own = own_of(server.name, certificates)
    return lambda **parameters: server.url(**own, **parameters)


def refused(done, *parts):
    assert done.returncode != 0
    assert done.stdout == ""
    for part in parts:
        assert part in done.stderr


VERIFYING = ["verify-ca", "verify"]


@pytest.mark.parametrize("tls", ["require", *VERIFYING])
def test_ids_are_drawn_from_a_server_that_takes_no_plain_connections(url, certificates, tls):
    store = url(tls=tls, tls_ca=certificates.ca)
    with Asked(store, create(store, new_tag()), step=10, prefetch=1) as client:
        assert client.ids(35) == list(range(1, 36))


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
def test_tls_is_used_without_being_asked_for_where_the_server_has_it(kind, certificates):
    with started(kind, certificates, certificates.right) as server:
        for store in (server.url(), server.url(tls="prefer")):
            with Asked(store, create(store, new_tag()), step=10, prefetch=1) as client:
                assert client.ids(15) == list(range(1, 16))


def test_the_password_is_bound_to_the_connection_where_that_is_required(certificates, request):
    with started("postgres", certificates, certificates.right) as server:
        store = server.url(tls="require", channel_binding="require")
        assert draw(store, create(store, new_tag())).stdout == "1\n"
    plain = request.getfixturevalue("started")("postgres")
    refused(draw(plain.url(channel_binding="require"), new_tag()), "channel binding")


def test_without_tls_such_a_server_is_not_reached(server):
    refused(draw(server.url(tls="off"), new_tag(), store_timeout="2s", wait_max="2s"))


def test_whoever_answers_does_when_only_encryption_is_required(url):
    store = url(tls="require")
    assert draw(store, create(store, new_tag())).stdout == "1\n"


@pytest.mark.parametrize("tls", VERIFYING)
def test_a_certificate_of_another_authority_is_refused(url, certificates, tls):
    done = segment(url(tls=tls, tls_ca=certificates.wrong_ca), new_tag(), "create")
    refused(done, "STORE_PERMISSION", "certificate")
    assert "verify-ca" not in done.stderr, "that would not help"


@pytest.mark.parametrize("tls", VERIFYING)
def test_the_authorities_of_the_system_are_not_trusted_beside_those_that_are_named(url, certificates, tls):
    """Here the system's folder is another one for the command alone."""
    create_tag = command(url(tls=tls, tls_ca=certificates.wrong_ca), new_tag(), "segment", "create")
    trust = 'mount -t tmpfs none /etc/ssl/certs && cp "$0" /etc/ssl/certs && openssl rehash /etc/ssl/certs && exec "$@"'
    done = run(["unshare", "--mount", "sh", "-e", "-c", trust, certificates.ca, *create_tag])
    if "idgen:" not in done.stderr and done.returncode != 0:
        pytest.skip("folders cannot be mounted here: " + done.stderr)
    refused(done, "STORE_PERMISSION", "certificate")


def test_a_certificate_that_no_authority_of_the_system_has_signed_is_refused(url):
    refused(segment(url(tls="verify"), new_tag(), "create"), "STORE_PERMISSION", "certificate")


@pytest.mark.parametrize("kind", KINDS)
def test_a_certificate_for_another_name_is_refused_unless_only_its_authority_is_asked_for(kind, certificates):
    with started(kind, certificates, certificates.of_another_name) as server:
        known = {"tls_ca": certificates.ca, **own_of(kind, certificates)}
        done = segment(server.url(tls="verify", **known), new_tag(), "create")
        refused(done, "STORE_PERMISSION", "certificate", "tls=verify-ca")
        for store in (server.url(tls="require", **known), server.url(tls="verify-ca", **known)):
            assert draw(store, create(store, new_tag())).stdout == "1\n"
        stranger = {**known, "tls_ca": certificates.wrong_ca}
        refused(segment(server.url(tls="verify-ca", **stranger), new_tag(), "create"), "STORE_PERMISSION")


@pytest.mark.parametrize("kind", KINDS)
def test_a_certificate_that_has_expired_is_refused(kind, certificates):
    with started(kind, certificates, certificates.expired) as server:
        for tls in VERIFYING:
            store = server.url(tls=tls, tls_ca=certificates.ca, **own_of(kind, certificates))
            refused(segment(store, new_tag(), "create"), "STORE_PERMISSION", "certificate")


@pytest.mark.parametrize("kind", ["mysql", "redis"])  # whose libraries can be told where the system's are
def test_with_the_authorities_of_the_system_no_message_advises_to_pass_the_name_over(kind, certificates):
    with started(kind, certificates, certificates.of_another_name) as server:
        environment = {**os.environ, "SSL_CERT_FILE": str(certificates.ca)}
        done = run(command(server.url(tls="verify"), new_tag(), "segment", "create"), env=environment)
        refused(done, "STORE_PERMISSION", "certificate")
        assert not any(words in done.stderr for words in ("issuer", "self-signed")), "the authority is known"
        assert "verify-ca" not in done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_authority_of_ones_own_its_name_is_not_passed_over(kind):
    where = "/ids" if kind in ("mysql", "postgres") else ""
    done = draw(f"{kind}://app@{servers.HOST}:1{where}?tls=verify-ca", new_tag())
    refused(done, "VALUE", "tls = verify-ca needs tls_ca", "tls = verify")


def test_a_url_of_redis_over_tls_may_pass_the_name_over(certificates):
    with started("redis", certificates, certificates.of_another_name) as server:
        store = server.url(tls_ca=certificates.ca).replace("redis://", "rediss://")
        refused(segment(store, new_tag(), "create"), "STORE_PERMISSION", "tls=verify-ca")
        store += "&tls=verify-ca"
        assert draw(store, create(store, new_tag())).stdout == "1\n"


class Deaf(Listener):
    """Keeps what it hears, and answers each connection with the same words and no more."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def hear(self, client):
        first = client.recv(4096)
        self.heard += first
        client.sendall(self.answer)
        if first:
            self.hear_the_rest(client)


# MySQL's server speaks first: test_password.py.
@pytest.mark.parametrize(
    ("kind", "answer"), [("postgres", b"N"), ("redis", b"-ERR\r\n"), ("etcd", b"HTTP/1.0 400 Bad Request\r\n\r\n")]
)
@pytest.mark.parametrize("tls", ["require", *VERIFYING])
def test_a_server_that_should_speak_tls_and_does_not_hears_neither_user_nor_password(kind, answer, tls, certificates):
    where = "/ids" if kind == "postgres" else ""
    with Deaf(answer) as server:
        url = f"{kind}://some-user:some-secret@{servers.HOST}:{server.port}{where}?tls={tls}&tls_ca={certificates.ca}"
        done = draw(url, new_tag(), store_timeout="2s", wait_max="1s")
    assert done.returncode != 0
    assert server.heard, "it was asked for TLS"
    assert b"some-" not in server.heard


def test_etcd_refuses_who_has_no_certificate(certificates):
    with started("etcd", certificates, certificates.right) as server:
        refused(segment(server.url(tls="verify", tls_ca=certificates.ca), new_tag(), "create"))


@pytest.mark.parametrize("tls", VERIFYING)
def test_a_file_without_certificates_does_not_mean_that_all_are_accepted(url, tmp_path, tls):
    empty = tmp_path / "empty.pem"
    empty.touch()
    done = segment(url(tls=tls, tls_ca=empty), new_tag(), "create", store_timeout="2s", wait_max="1s")
    assert done.returncode != 0
    assert done.stdout == ""


def test_a_file_of_certificates_that_is_missing_is_named(url, tmp_path):
    missing = tmp_path / "nowhere.pem"
    refused(segment(url(tls="verify", tls_ca=missing), new_tag(), "create"), "VALUE", "tls_ca", str(missing))


newer_client = pytest.mark.skipif(servers.GENERATION != "mariadb", reason="needs MariaDB's newer client library")


def with_newer_client(words):
    """The command with the libraries beside those servers."""
    loader = next(path for folder in ("lib64", "lib") for path in (servers.TREE / folder).glob("ld-linux-*.so.*"))
    libraries = next((servers.TREE / "usr/lib").glob("*-linux-gnu"))
    return run([loader, "--library-path", libraries, *words])


@newer_client
def test_a_client_library_that_cannot_verify_an_authority_alone_is_not_trusted_with_it(certificates):
    url = f"mysql://app@{servers.HOST}:1/ids?tls=verify-ca&tls_ca={certificates.ca}"
    done = with_newer_client(command(url, new_tag(), "segment", "create"))
    refused(done, "UNSUPPORTED", "this libmariadb (3.", "tls_fingerprint=HEX")


@newer_client
@pytest.mark.parametrize("plugin", REVEALING)
def test_a_client_library_that_accepts_any_certificate_of_this_machine_does_not_show_it_the_password(
    certificates, plugin
):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificates.right)
    with Impostor(plugin, context) as server:
        done = with_newer_client(command(server.url + "?tls=verify", new_tag(), "segment", "create"))
    assert done.returncode != 0
    assert server.heard
    assert SECRET.encode() not in server.heard
