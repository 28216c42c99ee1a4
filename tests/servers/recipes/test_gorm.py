"""examples/gorm, word for word, as docs/deploying.md builds it."""

from compose import Project, check_restarts
from page import code_of
from services import EXAMPLES, check_compose, check_lines_of_idgen, check_schema, check_the_counter, tell
from test_go_builds import SECTION, static_build


def test_no_order_is_lost_and_no_id_is_there_twice_while_database_and_service_are_restarted(tmp_path):
    assert "no id twice" in tell("gorm", tmp_path, SERVICE=str(static_build()))


def test_a_service_that_ends_gives_its_numbers_back_and_a_duplicate_would_be_seen(tmp_path):
    check_the_counter("gorm", static_build(), tmp_path)


def test_the_readme_shows_all_that_idgen_adds():
    check_lines_of_idgen("gorm", ["main.go"])


def test_the_schema_is_that_of_the_command():
    check_schema("gorm", "postgres://app@db/shop")


def test_compose_describes_the_same_service():
    check_compose("gorm")
    command, *_ = code_of(SECTION, "sh")
    assert f"# {command}" in (EXAMPLES / "gorm" / "compose.yaml").read_text()


def test_compose_runs_the_service_and_no_id_comes_twice_though_all_is_restarted(engine, tmp_path):
    static_build()
    project = Project(engine, "gorm", tmp_path)
    with project.opened():
        check_restarts(project, "orders", project.check_rows)
