"""What applies to every store (tests/store/segment_test.cpp), against the real servers."""

import contextlib
import os
import random
import re
import subprocess

import pytest
from clients import BUILD, MODULES, Asked, ascending, create, new_tag, patience


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


def drawn_in_turn(url, tag, **properties):
    """Ids of three processes in the order of the calls, but for each one's first, which was reserved before."""
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(Asked(url, tag, step=1, **properties)) for _ in range(3)]
        for process in processes:
            process.ids(1)
        chance = random.Random(tag)
        return [id for _ in range(150) for id in chance.choice(processes).ids(1)]


def test_ids_of_one_number_a_segment_rise_across_processes_as_they_are_drawn(shared):
    ascending(drawn_in_turn(shared.url(), create(shared.url(), new_tag())))


def test_ids_of_one_number_a_segment_rise_across_processes_on_a_file_too(tmp_path):
    ascending(drawn_in_turn(f"sqlite:{tmp_path / 'ids.db'}", new_tag(), store_create="true"))
