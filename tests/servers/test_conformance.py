"""What applies to every store (tests/store/segment_test.cpp), against the real servers.

The part asan runs this file with its own build, which has the test programs and modules, and neither idgen nor Python's
package.
"""

import os
import re
import subprocess

import pytest
from clients import BUILD, MODULES, patience


def run_suite(kind, url):
    environment = {**os.environ, "IDGEN_TEST_STORES": f"{kind}={url}", "IDGEN_TEST_MODULE_PATH": str(MODULES)}
    done = subprocess.run(
        [BUILD / "bin" / "server_store_test"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=patience(170),
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    passed = int(re.search(r"\[  PASSED  \] (\d+) test", done.stdout)[1])
    assert passed >= 17, done.stdout


def test_the_store_behaves_as_every_store_does(shared):
    run_suite(shared.name, shared.url())


def test_a_database_of_the_users_own_behaves_so_too():
    """For servers that cannot be started here (MySQL, TiDB): IDGEN_TEST_URL=mysql://..."""
    url = os.environ.get("IDGEN_TEST_URL")
    if not url:
        pytest.skip("IDGEN_TEST_URL names no database")
    run_suite(url.split(":")[0], url)


def test_the_statements_for_tidb_behave_so_too(started):
    run_suite("mysql", started("mysql").url(statements="transaction"))
