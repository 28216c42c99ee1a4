"""Programs that draw from a store in their own language: host_drawing.py and its twins, and CosId's.

hosts.py        builds what is to be built, ahead of the tests, which otherwise build it on first use
"""

import fcntl
import functools
import math
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
LANGUAGES = ("python", "java", "go")
CLASS_PATH_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"


def changed(path):
    """When the newest file of a folder, or a file, was changed."""
    files = path.rglob("*") if path.is_dir() else [path]
    return max((file.stat().st_mtime for file in files if file.is_file()), default=0)


@functools.cache
def go_variables():
    """For Go programs with idgen as it was built. Go's cache does not see the folders of C (scripts/lib.sh)."""
    words = ["bindings/go/source-hash.sh", "capi/include", "bindings/go"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    return {"PKG_CONFIG_PATH": str(BUILD), "CGO_CPPFLAGS": f"-DIDGEN_HEADERS_HASH={found}"}


def build(made, sources, *command, folder=ROOT):
    """Makes a file again if it is older than one of its sources, while no other run of these tests makes anything."""
    (BUILD / "tests").mkdir(exist_ok=True)
    with (BUILD / "tests" / "builds").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if changed(made) < max(map(changed, sources), default=math.inf):
            environment = {**os.environ, **go_variables()}
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
            made.touch()
    return made


NATIVE_LIBRARY = f"-Didgen.native.path={BUILD / 'lib' / 'jar' / 'libidgen.so'}"


@functools.cache
def class_path():
    """Of idgen, its tests and all that they use."""
    jars = ROOT / "java" / "target" / "host-drawing-jars"  # goes where the classes go
    words = ("mvn", "-B", "-f", "java/pom.xml", "test-compile", CLASS_PATH_GOAL, f"-Dmdep.outputFile={jars}")
    build(jars, [ROOT / "java" / "src", ROOT / "java" / "pom.xml"], *words)
    classes = [ROOT / "java/target/classes", ROOT / "java/target/test-classes", jars.read_text()]
    return os.pathsep.join(map(str, classes))


@functools.cache
def command(language):
    if language == "python":
        return [sys.executable, HERE / "host_drawing.py"]
    if language == "go":
        program = BUILD / "tests" / "host-drawing"
        words = ("go", "build", "-race", "-tags", "idgen_system libsqlite3", "-o", program, ".")
        return [build(program, [], *words, folder=HERE / "host_go")]  # Go knows its sources
    limits = ["-Xmx128m", "-XX:TieredStopAtLevel=1"]
    return ["java", *limits, NATIVE_LIBRARY, "-cp", class_path(), "dev.idgen.HostDrawing"]


@functools.cache
def cosid_jar():
    """The program in cosid/, for originals.cosid. Its dependencies are downloaded once."""
    sources = [HERE / "cosid" / "src", HERE / "cosid" / "pom.xml"]
    words = ("mvn", "-B", "-q", f"-Didgen.build.dir={BUILD}", "package")
    return build(BUILD / "cosid" / "cosid-issue.jar", sources, *words, folder=HERE / "cosid")


@functools.cache
def newest_zookeeper():
    """The jars of the server in zookeeper/, as a class path."""
    pom = HERE / "zookeeper" / "pom.xml"
    words = ("mvn", "-B", "-q", "-f", pom, CLASS_PATH_GOAL, f"-Dmdep.outputFile={BUILD / 'tests' / 'zookeeper-jars'}")
    return build(BUILD / "tests" / "zookeeper-jars", [pom], *words).read_text()


if __name__ == "__main__":
    for language in LANGUAGES:
        command(language)
    cosid_jar()
