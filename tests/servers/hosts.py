"""Programs that draw from a store in their own language: host_drawing.py and its twins, built on first use."""

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
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


@functools.cache
def command(language):
    if language == "python":
        return [sys.executable, HERE / "host_drawing.py"]
    if language == "go":
        program = BUILD / "tests" / "host-drawing"
        run("go", "build", "-o", program, ".", folder=HERE / "host_go")
        return [program]
    jars = BUILD / "tests" / "host-drawing-jars"
    jars.parent.mkdir(exist_ok=True)
    run("mvn", "-B", "-f", "java/pom.xml", "test-compile", CLASS_PATH_GOAL, f"-Dmdep.outputFile={jars}")
    classes = [ROOT / "java/target/classes", ROOT / "java/target/test-classes", jars.read_text()]
    return [
        *("java", "-Xmx128m", "-XX:TieredStopAtLevel=1", f"-Didgen.native.path={BUILD / 'lib' / 'libidgen.so'}"),
        *("-cp", os.pathsep.join(map(str, classes)), "dev.idgen.HostDrawing"),
    ]
