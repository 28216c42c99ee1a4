"""Flyway and Liquibase make idgen's tables, as docs/java.md says: its blocks, word for word."""

import os
import re
import subprocess
from itertools import count
from pathlib import Path

import idgen
import pytest
from clients import BUILD, MODULES, patience

import servers

HERE = Path(__file__).parent / "migrations"
PAGE = Path(__file__).parents[3] / "docs" / "java.md"
JDBC = {"mysql": "mariadb", "postgres": "postgresql"}
NUMBERS = count(1)


def block(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"docs/java.md has {len(found)} blocks of {language}"
    return found[0]


@pytest.fixture(scope="session")
def jars():
    """Flyway, Liquibase and the drivers, downloaded once, and idgen's jar."""
    command = ["mvn", "-B", "-q", f"-Didgen.build.dir={BUILD.resolve()}", "package"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (jar,) = (path for path in (BUILD / "dist").glob("idgen-*.jar") if re.fullmatch(r"idgen-[\d.]+\.jar", path.name))
    return f"{BUILD.resolve()}/migrations/lib/*:{jar.resolve()}"


@pytest.fixture(params=["mysql", "postgres"])
def database(request, started):
    """(server, name): a database of its own, which is empty."""
    server = started(request.param)
    name = f"migrated{next(NUMBERS)}"
    system = "" if request.param == "mysql" else "postgres"
    server.sql(f"CREATE DATABASE {name}" + ("" if request.param == "mysql" else " OWNER app"), database=system)
    if request.param == "mysql":
        server.sql(f"GRANT ALL ON {name}.* TO app", database=system)
    return server, name


@pytest.mark.parametrize("tool", ["flyway", "liquibase"])
def test_a_generator_draws_after_a_migration_without_making_anything(tool, database, jars, tmp_path):
    server, name = database
    settings = block("properties")
    assert settings.count("/postgresql\n") == 1
    vendor = "mysql" if server.name == "mysql" else "postgresql"
    (tmp_path / "flyway.properties").write_text(settings.replace("/postgresql\n", f"/{vendor}\n"))
    (tmp_path / "V2__orders.sql").write_text(block("sql"))
    (tmp_path / "changelog.xml").write_text(block("xml"))
    url = f"jdbc:{JDBC[server.name]}://{servers.HOST}:{server.port}/{name}"
    done = subprocess.run(
        ["java", "-cp", jars, HERE / "Migrate.java", tool, url, tmp_path],
        capture_output=True,
        text=True,
        timeout=patience(300),
        check=False,
        env={**os.environ, "USER_OF_IDS": "app", "PASSWORD_OF_IDS": servers.PASSWORD},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "1 true"
    assert server.sql("SELECT tag FROM idgen_segment", database=name).split() == ["orders"]
    assert len(server.sql("SELECT worker FROM idgen_worker", database=name).split()) == 1
    # The native stores find the tables that they would have made.
    store = server.url().replace("/ids", f"/{name}")
    with (
        idgen.Generator(kind="segment", tag="orders", store=store, module_path=str(MODULES)) as orders,
        idgen.Generator(worker="auto", store=store, module_path=str(MODULES)) as events,
    ):
        assert orders.next() > 1
        assert events.decode(events.next()).worker >= 0
