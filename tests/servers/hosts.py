"""Programs that draw from a store in their own language: host_drawing.py and its twins, built on first use."""

import fcntl
import functools
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
LANGUAGES = ("python", "java", "go")
CLASS_PATH_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"


def run(*command, folder=ROOT):
    """Builds something, while no other run of these tests does."""
    (BUILD / "tests").mkdir(exist_ok=True)
    with (BUILD / "tests" / "builds").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run_unlocked(*command, folder=folder)


def run_unlocked(*command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


NATIVE_LIBRARY = f"-Didgen.native.path={BUILD / 'lib' / 'libidgen.so'}"


@functools.cache
def class_path():
    """Of idgen, its tests and all that they use."""
    jars = BUILD / "tests" / "host-drawing-jars"
    run("mvn", "-B", "-f", "java/pom.xml", "test-compile", CLASS_PATH_GOAL, f"-Dmdep.outputFile={jars}")
    classes = [ROOT / "java/target/classes", ROOT / "java/target/test-classes", jars.read_text()]
    return os.pathsep.join(map(str, classes))


@functools.cache
def command(language):
    if language == "python":
        return [sys.executable, HERE / "host_drawing.py"]
    if language == "go":
        program = BUILD / "tests" / "host-drawing"
        run("go", "build", "-o", program, ".", folder=HERE / "host_go")
        return [program]
    limits = ["-Xmx128m", "-XX:TieredStopAtLevel=1"]
    return ["java", *limits, NATIVE_LIBRARY, "-cp", class_path(), "dev.idgen.HostDrawing"]
