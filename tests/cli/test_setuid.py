"""A program with the rights of another user obeys that user's files, not the environment of the user who starts it."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
#include <idgen/idgen.h>
#include <stdio.h>
int main(int count, char **arguments) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_t *ids;
  uint64_t id = 0;
  (void)count;
  if (idgen_open(arguments[1], "orders", &ids, &err) || idgen_next(ids, &id, &err)) puts(err.message);
  printf("%llu\\n", (unsigned long long)id);
  return 0;
}
"""
CONFIGURATION = """
[orders]
kind = "segment"
store = "memory"
store_create = true
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a setuid program of another user")
def test_a_setuid_program_takes_no_settings_from_the_environment(tmp_path):
    program, configuration = tmp_path / "program", tmp_path / "idgen.toml"
    configuration.write_text(CONFIGURATION)
    library = ROOT / "build" / "lib"
    words = ["cc", "-x", "c", "-", f"-I{ROOT}/capi/include", f"-L{library}", "-lidgen", f"-Wl,-rpath,{library}"]
    subprocess.run([*words, "-o", program], input=PROGRAM, text=True, check=True)
    program.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)

    def told():
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        variables = {"IDGEN_ORDERS_STORE": "sqlite:/nowhere/at/all.db", "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [*nobody, program, configuration], env=variables, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()[-1], "/nowhere/at/all.db" in done.stdout

    assert told() == ("0", True), "the user's own program obeys the user's variables"
    program.chmod(0o4755)
    assert told() == ("1", False)
