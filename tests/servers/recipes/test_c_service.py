"""examples/microhttpd, word for word, against an installed idgen."""

import pytest
from clients import BUILD, run
from compose import Project, check_restarts
from services import EXAMPLES, check_compose, check_lines_of_idgen, check_schema, check_the_counter, is_ignored, tell

PROGRAM = EXAMPLES / "microhttpd" / "orders"  # where compose.yaml takes it from, wherever run.sh was started


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The prefix of a `make install`."""
    prefix = tmp_path_factory.mktemp("installed")
    done = run(["cmake", "--install", BUILD, "--prefix", prefix])
    assert done.returncode == 0, done.stderr
    return prefix


@pytest.fixture(scope="module")
def built(installed, tmp_path_factory):
    """What the story printed."""
    PROGRAM.unlink(missing_ok=True)
    folder = tmp_path_factory.mktemp("microhttpd")
    printed = tell("microhttpd", folder, PKG_CONFIG_PATH=str(installed / "lib" / "pkgconfig"))
    assert not list(folder.iterdir())
    return printed


def test_no_order_is_lost_and_no_id_is_there_twice_while_database_and_service_are_restarted(built):
    assert "no id twice" in built


def test_a_service_that_ends_gives_its_numbers_back_and_a_duplicate_would_be_seen(built, tmp_path):
    check_the_counter("microhttpd", PROGRAM, tmp_path, "IDGEN_ORDERS_STORE")


def test_what_the_script_makes_is_ignored_by_git():
    assert is_ignored(PROGRAM)


def test_the_readme_shows_all_that_idgen_adds():
    check_lines_of_idgen("microhttpd", ["orders.c", "idgen.toml"])


def test_the_schema_is_that_of_the_command():
    check_schema("microhttpd", "postgres://app@db/shop")


def test_compose_describes_the_same_service():
    check_compose("microhttpd")


def test_compose_runs_the_service_and_no_id_comes_twice_though_all_is_restarted(engine, built, installed, tmp_path):
    project = Project(engine, "microhttpd", tmp_path, IDGEN=str(installed))
    with project.opened():
        check_restarts(project, "orders", project.check_rows)
