"""examples/spring, word for word, with the jar that was built, and the section of docs/deploying.md on it."""

import re

import pytest
from clients import run
from compose import Project, check_restarts
from hosts import ROOT
from page import code_of, run_command
from services import EXAMPLES, check_compose, check_lines_of_idgen, check_schema, check_story

SECTION = "Spring Boot"

SOURCES = ["src/main/java/shop/" + name for name in ("Shop", "OrderIds", "Order", "Orders", "OrderController")]


@pytest.fixture(scope="module")
def jar():
    """In Maven's local repository, as README.md says."""
    readme = (EXAMPLES / "spring" / "README.md").read_text()
    command = re.search(r"^mvn (install:install-file.*?) #", readme, re.MULTILINE)
    done = run(["sh", "-c", f"mvn -B -q {command[1]}"], cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def told(jar):
    """What the story printed, which leaves the service in target/."""
    (command,) = code_of(SECTION, "sh")
    return run_command(command, ROOT)


def test_no_order_is_lost_and_no_id_is_there_twice_while_database_and_service_are_restarted(told):
    check_story(told)


def test_the_page_shows_the_service_as_it_is():
    lines = {line.strip() for path in EXAMPLES.glob("spring/src/**/*.java") for line in path.read_text().splitlines()}
    samples = code_of(SECTION, "java")
    assert len(samples) == 2
    assert [line for sample in samples for line in sample.splitlines() if line.strip() not in lines] == []


def test_the_readme_shows_all_that_idgen_adds():
    sources = [f"{source}.java" for source in SOURCES]
    assert {*sources} == {str(path.relative_to(EXAMPLES / "spring")) for path in EXAMPLES.glob("spring/src/**/*.java")}
    check_lines_of_idgen("spring", [*sources, "src/main/resources/application.properties"])


def test_the_schema_is_that_of_the_command():
    check_schema("spring", "mysql://app@db/shop")


def test_compose_describes_the_same_service():
    check_compose("spring")


def test_compose_runs_the_service_and_no_id_comes_twice_though_all_is_restarted(engine, told, tmp_path):
    project = Project(engine, "spring", tmp_path)
    with project.opened():
        # 128 + SIGTERM is what a JVM ends with, once all is closed.
        check_restarts(project, "orders", project.check_rows, status=143)
