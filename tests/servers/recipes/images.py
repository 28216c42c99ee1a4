"""Images that buildah builds, and their commands run as a cluster would: user, host name, variables, mounted files.

There is no engine of containers here. A command gets namespaces of its own for mounts, host name and processes, and the
network of the test.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from clients import BUILD
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
        base = BUILD / "tests" / "debian-bookworm.tar"
        if not base.exists():
            new = folder / "base.tar"
            slim = [f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("doc", "locale", "man")]
            quick = ("--dpkgopt=force-unsafe-io", '--aptopt=Acquire::Languages "none"')  # as Docker's image has it
            run("mmdebstrap", "--variant=apt", *quick, *slim, PYTHON, "bookworm", new)
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
        return run("buildah", *where, *words, timeout=500)

    def build(self, name, context, *options):
        """An image from a Dockerfile, which needs no file that is not in its folder."""
        (self.folder / "pip.conf").write_text(f"[global]\ncert = {CA}.host\n")
        self.buildah(
            *("build", "--isolation", "chroot", "--pull=never", "--tag", name, *options),
            *("--volume", f"{self.folder}/pip.conf:/etc/pip.conf:ro", "--volume", f"{CA}:{CA}.host:ro", context),
        )

    def root(self, name):
        """The files of an image."""
        return Path(self.buildah("mount", self.buildah("from", "--pull=never", name).strip()).strip())

    def of(self, name, template):
        return self.buildah("inspect", "--type", "image", "--format", template, name).strip()


def build_service(folder):
    """The store, and `shop` in it, from examples/fastapi and the wheel of this build."""
    images = Images(folder)
    context = folder / "context"
    shutil.copytree(SERVICE, context)
    (wheel,) = (BUILD / "dist").glob("idgen-*.whl")
    shutil.copy(wheel, context)
    images.build("shop", context, "--build-arg", "idgen=from-wheel")
    return images


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
        return run(*self.words(command), timeout=120)

    @contextlib.contextmanager
    def start(self, *command):
        """Process 1 of its namespace, which ends by SIGTERM and with success."""
        with process(self.words(command), self.folder, None, name=self.host, stop=self.stop) as started:
            yield started

    @staticmethod
    def stop(unshare):
        (first,) = Path(f"/proc/{unshare.pid}/task/{unshare.pid}/children").read_text().split()
        os.kill(int(first), signal.SIGTERM)
