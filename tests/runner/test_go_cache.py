"""Go's cache of builds does not look outside a package's folder; scripts/lib.sh tells it what has changed there."""

import shutil
import subprocess

import parts
import pytest

PACKAGE = """package number

// #include "../capi/include/number.h"
// int of_core(void);
import "C"

func Number() int { return int(C.NUMBER) }
"""
WITH_CORE = PACKAGE.replace("C.NUMBER", "C.of_core()")
# A package of its own: go build takes a main package for another one after any change of a flag.
PROGRAM = """package main

import "example.com/number"

func main() { println(number.Number()) }
"""


@pytest.mark.parametrize(
    ("package", "changed", "text"),
    [
        (PACKAGE, "capi/include/number.h", "#define NUMBER {}"),
        (WITH_CORE, "core/number.cpp", 'extern "C" int of_core() {{ return {}; }}'),
    ],
    ids=["header", "source"],
)
def test_a_go_program_is_built_again_after_a_change_in_the_folders_of_c(tmp_path, package, changed, text):
    for file in ("scripts/lib.sh", "bindings/go/source-hash.sh"):
        (tmp_path / file).parent.mkdir(parents=True)
        shutil.copy(parts.ROOT / file, tmp_path / file)
    (tmp_path / "capi/include").mkdir(parents=True)
    (tmp_path / "capi/include/number.h").touch()
    (tmp_path / "core").mkdir()
    (tmp_path / "go").mkdir()
    (tmp_path / "go/go.mod").write_text("module example.com/number\n")
    (tmp_path / "go/number.go").write_text(package)
    (tmp_path / "go/main").mkdir()
    (tmp_path / "go/main/main.go").write_text(PROGRAM)
    if package is WITH_CORE:
        (tmp_path / "go/core.cc").write_text('#include "../core/number.cpp"\n')
    for number in "1", "2":
        (tmp_path / changed).write_text(text.format(number))
        done = subprocess.run(
            ["bash", "-c", 'source "$1/scripts/lib.sh" && cd go && go run ./main', "bash", tmp_path],
            cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stderr == number + "\n", done.stdout + done.stderr


def test_no_job_of_go_takes_other_flags_than_those_that_tell_its_cache():
    for part in ("go", "go-race", "programs"):
        for job in parts.PARTS[part].jobs(part):
            assert "CGO_" not in " ".join(job.command), job.name
