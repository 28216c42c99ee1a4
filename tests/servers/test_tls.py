"""Servers that speak only TLS, with certificates of an authority made for the run."""

import shutil

import pytest
import trustme
from clients import Asked, create, draw, new_tag, segment

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
        self.client = self.issue(ours, folder, "client.example")

    @staticmethod
    def issue(authority, folder, name):
        """Certificate and key."""
        issued = authority.issue_cert(name)
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


@pytest.fixture
def url(server, certificates):
    """url(**parameters), with what any client of this server needs."""
    own = {}
    if server.name == "etcd":
        own = dict(zip(("tls_cert", "tls_key"), certificates.client, strict=True))
    return lambda **parameters: server.url(**own, **parameters)


def refused(done, *parts):
    assert done.returncode != 0
    assert done.stdout == ""
    for part in parts:
        assert part in done.stderr


@pytest.mark.parametrize("tls", ["require", "verify"])
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


def test_a_certificate_of_another_authority_is_refused(url, certificates):
    done = segment(url(tls="verify", tls_ca=certificates.wrong_ca), new_tag(), "create")
    refused(done, "STORE_PERMISSION", "certificate")


def test_a_certificate_that_no_authority_of_the_system_has_signed_is_refused(url):
    refused(segment(url(tls="verify"), new_tag(), "create"), "STORE_PERMISSION", "certificate")


@pytest.mark.parametrize("kind", KINDS)
def test_a_certificate_for_another_name_is_refused(kind, certificates):
    with started(kind, certificates, certificates.of_another_name) as server:
        own = {}
        if kind == "etcd":
            own = dict(zip(("tls_cert", "tls_key"), certificates.client, strict=True))
        refused(
            segment(server.url(tls="verify", tls_ca=certificates.ca, **own), new_tag(), "create"),
            "STORE_PERMISSION",
            "certificate",
        )
        store = server.url(tls="require", **own)
        assert draw(store, create(store, new_tag())).stdout == "1\n"


def test_etcd_refuses_who_has_no_certificate(certificates):
    with started("etcd", certificates, certificates.right) as server:
        refused(segment(server.url(tls="verify", tls_ca=certificates.ca), new_tag(), "create"))


def test_a_file_of_certificates_that_is_missing_is_named(url, tmp_path):
    missing = tmp_path / "nowhere.pem"
    refused(segment(url(tls="verify", tls_ca=missing), new_tag(), "create"), "VALUE", "tls_ca", str(missing))
