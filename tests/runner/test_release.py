"""scripts/release on a small repository, with files that nothing built, and with a server of this test."""

import hashlib
import http.server
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
import zipfile

import parts
import pytest

SOURCES = """.gitignore scripts/lib.sh scripts/release scripts/version bindings/go/source-hash.sh java/pom.xml
capi/include/idgen/version.h python/pyproject.toml go/version.go go.mod"""
CREDENTIALS = {"TWINE_PASSWORD": "pypi-token", "CENTRAL_TOKEN": "Y2VudHJhbDp0b2tlbg==", "GH_TOKEN": "github-token"}
METADATA = "Metadata-Version: 2.1\nName: idgen\nVersion: 1.2.3\nDescription-Content-Type: text/markdown\n\n# idgen\n"
WHEELS = [f"idgen-1.2.3-cp312-cp312-{system}_x86_64.whl" for system in ("manylinux_2_17", "musllinux_1_2")]
JARS = [f"idgen-1.2.3{which}.jar" for which in ("", "-sources", "-javadoc")]
SDIST = "idgen-1.2.3.tar.gz"
DEB = "libidgen1_1.2.3-1.debian12_amd64.deb"
# gh is always this one; so is twine where scripts/setup packages did not install it.
GH = """#!/bin/sh
[ "$2" != view ] || exit 1
echo "$GH_TOKEN $GH_REPO $*" >>"$GH_CALLS"
"""
TWINE = """#!/bin/sh
[ "$1" = upload ] || exit 0
while [ $# -gt 0 ]; do
  case $1 in --repository-url) url=$2 ;; *.whl | *.gz) files="$files $1" ;; esac
  shift
done
for file in $files; do curl -sSf -u "$TWINE_USERNAME:$TWINE_PASSWORD" -F "content=@$file" "$url" || exit; done
"""


def git(folder, *words):
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def program(folder, name, text):
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def make_artifacts(folder):
    for name in WHEELS:
        (folder / "packages" / name[-24:]).mkdir(parents=True)
        with zipfile.ZipFile(folder / "packages" / name[-24:] / name, "w") as wheel:
            wheel.writestr("idgen-1.2.3.dist-info/METADATA", METADATA)
            wheel.writestr("idgen-1.2.3.dist-info/WHEEL", "Wheel-Version: 1.0\n")
            wheel.writestr("idgen-1.2.3.dist-info/RECORD", "")
    with tarfile.open(folder / SDIST, "w:gz") as sdist:
        for name in ("PKG-INFO", "pyproject.toml"):
            entry = tarfile.TarInfo(f"idgen-1.2.3/{name}")
            entry.size = len(METADATA)
            sdist.addfile(entry, io.BytesIO(METADATA.encode()))
    (folder / "packages/deb").mkdir()
    # Those that are for this machine alone, or of another version, are not released.
    others = ["idgen-1.2.3.jar", "idgen-1.2.3-cp312-cp312-linux_x86_64.whl", "packages/idgen-1.2.2.jar"]
    for name in [f"packages/{JARS[0]}", *JARS[1:], f"packages/deb/{DEB.replace('.debian', '~debian')}", *others]:
        (folder / name).write_bytes(name.encode())


@pytest.fixture(scope="module")
def gpg_home():
    # Not in tmp_path: the path of the agent's socket may be short only.
    with tempfile.TemporaryDirectory() as home:
        key = ["--passphrase", "", "--quick-generate-key", "releases", "ed25519", "sign", "1d"]
        subprocess.run(["gpg", "--homedir", home, "--batch", "--quiet", *key], check=True)
        yield home
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=True)


@pytest.fixture
def server():
    """Maven Central and PyPI. It refuses the paths that begin with one of `refused`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            path = self.path.partition("?")[0]
            self.server.asked.append((path, self.headers["Authorization"], body))
            refused = any(path.startswith(beginning) for beginning in self.server.refused)
            answers = {"/api/v1/publisher/upload": b"id-1", "/api/v1/publisher/status": self.server.state}
            answer = b"no such token" if refused else answers.get(path, b"")
            self.send_response(403 if refused else 200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        found.asked, found.refused, found.state = [], [], b'{"deploymentState":"PUBLISHING"}'
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def project(tmp_path, monkeypatch, server, gpg_home):
    """A repository with an origin, and a module below go/. project(WORD...) is scripts/release."""
    root = tmp_path / "tree"
    for file in SOURCES.split():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(parts.ROOT / file, root / file)
    (root / "core").mkdir()
    (root / "go/mysql").mkdir()
    (root / "go/mysql/go.mod").write_text(
        "module github.com/idgen/idgen/go/mysql\nrequire github.com/idgen/idgen v0.0.1\n"
    )
    (root / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (2026-12-01)\n\nWhat is new.\n\n## 1.2.2\n\nOld.\n")
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", "gh", GH)
    if not shutil.which("twine"):
        program(tmp_path / "bin", "twine", TWINE)
    for name in CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    url = f"http://127.0.0.1:{server.server_port}"
    for name, value in {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "GH_CALLS": tmp_path / "gh",
        "IDGEN_PYPI_URL": f"{url}/legacy/",
        "IDGEN_CENTRAL_URL": url,
        "GNUPGHOME": gpg_home,
        "GIT_CONFIG_GLOBAL": tmp_path / "gitconfig",
    }.items():
        monkeypatch.setenv(name, str(value))
    (tmp_path / "gitconfig").write_text("[user]\nname = tester\nemail = tester@example.com\n")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "origin")
    git(root, "init", "-q", "-b", "main")
    git(root, "remote", "add", "origin", str(tmp_path / "origin"))
    git(root, "add", "-A")
    subprocess.run([root / "scripts/version", "1.2.3"], check=True)
    git(root, "commit", "-qam", "all")
    make_artifacts(tmp_path / "made")

    def release(*words, status=0):
        command = [root / "scripts/release", "--artifacts", tmp_path / "made", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    release.root, release.out, release.origin = root, root / "build/dist/release", tmp_path / "origin"
    release.gh = tmp_path / "gh"
    return release


@pytest.fixture
def credentials(monkeypatch):
    for name, value in {**CREDENTIALS, "GPG_KEY": "releases"}.items():
        monkeypatch.setenv(name, value)


def test_the_version_is_written_into_every_copy(project):
    assert (project.root / "go/mysql/go.mod").read_text().endswith("idgen v1.2.3\n")
    assert 'const Version = "1.2.3"' in (project.root / "go/version.go").read_text()
    assert '\nversion = "1.2.3"\n' in (project.root / "python/pyproject.toml").read_text()
    pom = project.root / "java/pom.xml"
    assert "  <version>1.2.3</version>\n  <packaging>" in pom.read_text()
    version = [project.root / "scripts/version"]
    assert subprocess.run(version, capture_output=True, check=True, text=True).stdout == ""
    pom.write_text(pom.read_text().replace("1.2.3", "1.2.4"))
    assert subprocess.run(version, capture_output=True, check=True, text=True).stdout == "java/pom.xml\n"


def edit(name, old, new):
    def change(root):
        (root / name).write_text((root / name).read_text().replace(old, new))
        git(root, "commit", "-qam", "a change")

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda root: (root / "new").touch(), "not committed:\n?? new"),
        (lambda root: git(root, "tag", "v1.2.3"), "the tag v1.2.3 exists"),
        (lambda root: git(root, "push", "-q", "origin", "main:refs/tags/go/mysql/v1.2.3"), "go/mysql/v1.2.3 exists"),
        (lambda root: git(root, "checkout", "-qb", "other"), "not on 'other'"),
        (edit("CHANGELOG.md", "1.2.3", "1.2.30"), "CHANGELOG.md has no heading '## 1.2.3'"),
        (edit("java/pom.xml", "1.2.3", "1.2.2"), "scripts/version 1.2.3 corrects them: java/pom.xml"),
        (edit("java/pom.xml", "scm>", "sources>"), "the element scm"),
    ],
)  # fmt: skip
def test_a_release_is_refused(project, change, said):
    change(project.root)
    assert said in project("--dry-run", status=1)


def test_all_missing_credentials_are_named_at_once(project):
    said = project(status=1)
    for name in (*CREDENTIALS, "GPG_KEY"):
        assert f"the variable {name} (" in said
    assert not project.out.exists()


def test_a_branch_that_cannot_be_pushed_is_refused(project, credentials, server):
    git(project.root, "push", "-q", "origin", "main")
    git(project.root, "commit", "-q", "--amend", "-m", "another")
    assert "git cannot push main to origin" in project(status=1)
    assert server.asked == []


def test_what_failed_before_the_files_are_signed_takes_them_again(project, credentials, tmp_path):
    (tmp_path / "made" / SDIST).rename(tmp_path / SDIST)
    assert f"no such file in {tmp_path / 'made'}: {SDIST}" in project(status=1)
    (tmp_path / SDIST).rename(tmp_path / "made" / SDIST)
    assert "done before" not in project()


def test_a_version_that_is_not_dated_is_refused(project, credentials):
    edit("CHANGELOG.md", "2026-12-01", "unreleased")(project.root)
    project("--dry-run")
    assert "a release has its date there" in project(status=1)


def test_a_dry_run_makes_everything_and_shows_nobody(project, server, tmp_path):
    said = project("--dry-run")
    assert server.asked == []
    assert git(project.root, "tag") == git(project.origin, "for-each-ref") == ""
    assert not project.gh.exists()
    for command in (
        "git tag --sign",
        "git push --atomic origin main v1.2.3 go/mysql/v1.2.3",
        "twine upload",
        "gh release",
    ):
        assert f"would run: {command}" in said
    assert "would run: curl " in said

    with tempfile.TemporaryDirectory() as home:

        def gpg(*words):
            subprocess.run(["gpg", "--homedir", home, "--batch", "--quiet", *words], check=True, capture_output=True)

        gpg("--import", project.out / "dry-run-key.asc")
        gpg("--verify", project.out / "SHA256SUMS.asc", project.out / "SHA256SUMS")
        with zipfile.ZipFile(project.out / "central.zip") as bundle:
            bundle.extractall(tmp_path / "bundle")
            found = {name for name in bundle.namelist() if not name.endswith("/")}
        for name in (*JARS, "idgen-1.2.3.pom"):
            file = tmp_path / "bundle/dev/idgen/idgen/1.2.3" / name
            gpg("--verify", f"{file}.asc", file)
            for sum in ("md5", "sha1"):
                wanted = hashlib.new(sum, file.read_bytes()).hexdigest()
                assert file.with_name(f"{name}.{sum}").read_text().strip() == wanted
                found.remove(f"dev/idgen/idgen/1.2.3/{name}.{sum}")
            found -= {f"dev/idgen/idgen/1.2.3/{name}", f"dev/idgen/idgen/1.2.3/{name}.asc"}
        assert found == set()
    sums = dict(reversed(line.split("  ")) for line in (project.out / "SHA256SUMS").read_text().splitlines())
    assert sorted(sums) == sorted([*WHEELS, *JARS, SDIST, DEB, "idgen-1.2.3.pom"])
    for name, sum in sums.items():
        assert hashlib.sha256((project.out / name).read_bytes()).hexdigest() == sum
    assert (project.out / JARS[0]).read_text() == f"packages/{JARS[0]}"
    assert (project.out / "notes.md").read_text() == "\nWhat is new.\n\n"


def test_a_release_continues_where_a_server_refused_it(project, credentials, server):
    server.refused = ["/api/v1/publisher/upload"]
    said = project(status=1)
    assert "Is CENTRAL_TOKEN valid? It answered: no such token" in said
    assert "continues with central" in said
    server.refused = ["/legacy/"]
    said = project(status=1)
    assert "Is TWINE_PASSWORD valid?" in said
    assert "The step pypi failed. Done before: build collect check sign tag central." in said
    assert git(project.origin, "for-each-ref") == ""
    assert "has begun" in project("--dry-run", status=1)

    server.refused = []
    server.asked.clear()
    said = project()
    assert "== central: done before" in said
    assert not any(secret in said for secret in CREDENTIALS.values())
    names = sorted([SDIST, *WHEELS])
    assert len(server.asked) == len(names)
    for name in names:
        body = [body for _, _, body in server.asked if f'filename="{name}"'.encode() in body]
        assert len(body) == 1
        assert (project.out / name).read_bytes() in body[0]
    # __token__:pypi-token
    assert {(path, token) for path, token, _ in server.asked} == {("/legacy/", "Basic X190b2tlbl9fOnB5cGktdG9rZW4=")}

    for tag in ("v1.2.3", "go/mysql/v1.2.3"):
        assert git(project.origin, "rev-parse", f"{tag}^{{commit}}") == git(project.root, "rev-parse", "HEAD")
        git(project.root, "verify-tag", tag)
    created, uploaded = project.gh.read_text().splitlines()
    assert created.startswith("github-token idgen/idgen release create v1.2.3 --verify-tag")
    files = [f"build/dist/release/{name}" for name in ("SHA256SUMS", "SHA256SUMS.asc", DEB)]
    assert uploaded.endswith(f"release upload v1.2.3 --clobber {' '.join(files)}")


def test_central_gets_the_bundle_and_says_what_it_thinks_of_it(project, credentials, server):
    server.state = b'{"deploymentState":"FAILED","errors":["no such namespace"]}'
    assert "no such namespace" in project(status=1)
    upload, status = server.asked
    assert upload[:2] == ("/api/v1/publisher/upload", "Bearer Y2VudHJhbDp0b2tlbg==")
    assert b'name="bundle"; filename="central.zip"' in upload[2]
    assert (project.out / "central.zip").read_bytes() in upload[2]
    assert status[:2] == ("/api/v1/publisher/status", "Bearer Y2VudHJhbDp0b2tlbg==")
    server.state = b'{"deploymentState":"PUBLISHING"}'
    server.asked.clear()
    project()
    assert server.asked[0][0] == "/api/v1/publisher/upload"
