"""The section of docs/deploying.md on static and cross builds, word for word, in examples/gorm."""

import functools
import json
import os
import re
import urllib.request

import pytest
from clients import patience, run, settings
from hosts import HERE
from page import code_of, run_command
from services import EXAMPLES, is_ignored, on_postgres, order, served

from servers import MariaDB

SECTION = "Go: static and cross builds"
FOLDER = EXAMPLES / "gorm"


@functools.cache
def static_build():
    """The program that the page's first command makes; of all tests that use it, the first builds it."""
    command, _, _, _ = code_of(SECTION, "sh")
    run_command(command, FOLDER)
    return FOLDER / "orders"


def test_the_static_program_needs_only_libc():
    static_build()
    _, ask, _, _ = code_of(SECTION, "sh")
    (shown,) = code_of(SECTION, "text")
    assert run_command(ask, FOLDER) == shown


def test_the_flags_of_the_page_compile_nothing_again_and_those_of_cgo_do(tmp_path):
    """What -ldflags says is not among what the build cache knows a package by; CGO_LDFLAGS is."""
    static_build()
    command, _, _, _ = code_of(SECTION, "sh")
    planned = command.replace("go build", "go build -n")
    plain = run_command("go build -n -o orders . 2>&1", FOLDER)
    flags = run_command(planned.replace("\n", " 2>&1\n"), FOLDER)
    new = f"-static-libstdc++ -static-libgcc -L{tmp_path}"  # nobody has built with these
    other = run_command("go build -n -o orders . 2>&1", FOLDER, CGO_LDFLAGS=new)
    assert "core_generator.cc" not in flags
    assert "core_generator.cc" not in plain
    assert "core_generator.cc" in other
    assert "sqlite3-binding.c" in other


def test_a_program_without_shared_libraries_draws_from_mariadb_in_an_empty_folder(tmp_path):
    """Over go/mysql, with the core that the builds above have compiled."""
    static_build()
    flags = "-linkmode external -extldflags -static"
    run_command(f"go build -tags with_idgen_mysql -ldflags '{flags}' -o {tmp_path}/draw .", HERE / "url_drivers_go")
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]  # who may change the root
    with MariaDB() as server:
        properties = {"kind": "segment", "store": server.url(), "tag": "orders", "store_create": "true"}
        words = ["unshare", *user, f"--root={tmp_path}", "/draw", *settings(properties)]
        assert run(words, input="3\n").stdout == "1 2 3\n"


def test_debian_has_the_packages_that_the_page_names():
    (command,) = code_of(SECTION, "console")
    for package in re.fullmatch(r"apt-get install (.*)\n", command)[1].split():
        assert run(["dpkg-query", "--show", package]).returncode == 0, package


def test_a_program_for_arm64_serves_under_an_emulator_and_refuses_ids_where_a_fork_could_repeat_them(tmp_path):
    _, _, build, serve = code_of(SECTION, "sh")
    # SQLite's C without optimisation: that is half of the time, and this service does not use it.
    run_command(build, FOLDER, CGO_CFLAGS="-O0")
    assert "AArch64" in run(["readelf", "--file-header", FOLDER / "orders-arm64"]).stdout
    with on_postgres("gorm") as (server, url), served(serve, FOLDER, tmp_path / "log", DATABASE_URL=url) as address:
        server.sql("INSERT INTO orders VALUES(7, 'a customer')")
        with urllib.request.urlopen(f"{address}/7", timeout=patience(60)) as answer:
            assert json.load(answer) == {"id": 7, "customer": "a customer"}
        status, text = order(address)
        assert status == 503
        assert "MADV_WIPEONFORK" in (tmp_path / "log").read_text()
        assert "MADV" not in text, "the client is not told why"


@pytest.mark.parametrize("program", ["orders", "orders-arm64"])
def test_what_the_commands_make_is_ignored_by_git(program):
    assert is_ignored(FOLDER / program)
