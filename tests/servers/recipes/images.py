"""Images that buildah builds, and their commands run as a cluster would: user, host name, variables, mounted files.

No engine of containers is needed for that. A command gets namespaces of its own for mounts, host name and processes,
and the network of the test. compose.py has the engine for what needs one.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from clients import BUILD, patience
from deploying import process
from hosts import ROOT

CA = Path("/etc/ssl/certs/ca-certificates.crt")  # of this machine, for pip; an image has it where its user needs it
PYTHON = "--include=python3-venv"  # in the base, because two stages install it, which takes long
SERVICE = ROOT / "examples" / "fastapi"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


class Images:
    """A store of images in a folder, which begins with what stands for debian:bookworm-slim."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "pip.conf").write_text(f"[global]\ncert = {CA}.host\n")
        volumes = (f"{folder}/pip.conf:/etc/pip.conf:ro", f"{CA}:{CA}.host:ro")
        self.options = ("--pull=never", *(f"--volume={volume}" for volume in volumes))  # of each build
        base = BUILD / "tests" / "debian-bookworm-slim.tar"
        if not base.exists():
            new = folder / "base.tar"
            slim = [f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("doc", "locale", "man")]
            quick = ("--dpkgopt=force-unsafe-io", '--aptopt=Acquire::Languages "none"')  # as Docker's image has it
            manuals = "--customize-hook=mkdir -p $1/usr/share/man/man1"  # and this, where Java's packages make links
            run("mmdebstrap", "--variant=apt", *quick, *slim, PYTHON, manuals, "bookworm", new)
            base.parent.mkdir(exist_ok=True)
            shutil.move(new, base)
        # Overlays need a file system that takes them; vfs copies all files for each layer.
        self.driver = "overlay"
        try:
            container = self.buildah("from", "scratch").strip()
        except AssertionError:
            self.driver = "vfs"
            container = self.buildah("from", "scratch").strip()
        self.buildah("add", container, base, "/")
        self.buildah("commit", "--rm", container, "debian:bookworm-slim")

    def buildah(self, *words):
        where = ("--root", self.folder / "images", "--runroot", self.folder / "run", "--storage-driver", self.driver)
        return run("buildah", *where, *words, timeout=patience(500))

    def build(self, name, context, *options):
        """An image from a Dockerfile, which needs no file that is not in its folder."""
        self.buildah("build", "--isolation", "chroot", "--tag", name, *self.options, *options, context)

    def root(self, name):
        """The files of an image."""
        return Path(self.buildah("mount", self.buildah("from", "--pull=never", name).strip()).strip())

    def of(self, name, template):
        return self.buildah("inspect", "--type", "image", "--format", template, name).strip()


@contextlib.contextmanager
def store_of_images(tmp_path_factory):
    """Skips the test where this needs more than its user may do. In the end, the folder is gone."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        pytest.skip("only root may build an image without an engine, and make namespaces")
    folder = tmp_path_factory.mktemp("images")
    folder.chmod(0o755)
    images = Images(folder)
    try:
        yield images
    finally:
        images.buildah("rm", "--all")
        shutil.rmtree(folder, ignore_errors=True)


def build_service(images):
    """`shop`, from examples/fastapi and the wheel of this build."""
    context = images.folder / "context"
    shutil.copytree(SERVICE, context)
    (wheel,) = (BUILD / "dist").glob("idgen-*.whl")
    shutil.copy(wheel, context)
    images.build("shop", context, "--build-arg", "idgen=from-wheel")


RUN = """
set -e
root=$1 host=$2 user=$3 writable=$4
shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2"
  shift 2
done
shift
[ "$writable" = yes ] || mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir -m 1777 "$root/dev/shm"
hostname "$host"
exec chroot "$root" setpriv --reuid="$user" --regid="$user" --groups="$user" --no-new-privs --bounding-set=-all "$@"
"""


@dataclass
class Pod:
    """What runs a command of an image: its host name, its variables, folders mounted read-only."""

    root: Path
    folder: Path
    host: str
    environment: dict = field(default_factory=dict)
    mounts: dict = field(default_factory=dict)  # {path in the image: folder}
    user: int = 10001
    is_read_only: bool = True

    def words(self, command):
        mounts = [word for path, folder in self.mounts.items() for word in (folder, path)]
        fixed = (self.root, self.host, self.user, "no" if self.is_read_only else "yes")
        return [
            *("unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", "-c", RUN, "sh", *fixed),
            *mounts, "--", "/usr/bin/env", "-i", *(f"{key}={value}" for key, value in self.environment.items()),
            *command,
        ]  # fmt: skip

    def run(self, *command):
        """What it prints."""
        return run(*self.words(command), timeout=patience(120))

    @contextlib.contextmanager
    def start(self, *command):
        """Process 1 of its namespace, which ends by SIGTERM and with success."""
        with process(self.words(command), self.folder, None, name=self.host, stop=self.stop) as started:
            yield started

    @staticmethod
    def stop(unshare):
        (first,) = Path(f"/proc/{unshare.pid}/task/{unshare.pid}/children").read_text().split()
        os.kill(int(first), signal.SIGTERM)
