"""The runner takes a slow machine for no fault, and a fault for nothing else."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import deadline
import jobs
import parts
import plan
import pytest
import results
from jobs import Job
from patience import wait_until

GTEST_FAILED = (
    "echo '[ RUN      ] A.B'; echo '[  FAILED  ] A.B (1 ms)'; echo '[==========] 1 test from 1 test suite ran.'; exit 1"
)
GTEST_PASSED = GTEST_FAILED.replace("  FAILED  ", "       OK ").replace("exit 1", "exit 0")


@pytest.fixture(autouse=True)
def logs(monkeypatch, tmp_path):
    monkeypatch.setattr(jobs, "LOGS", tmp_path / "log")


@pytest.fixture
def runner(monkeypatch, tmp_path):
    """The runner's main module, with its files in a folder of the test."""
    spec = importlib.util.spec_from_file_location("runner_main", Path(__file__).with_name("__main__.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FLAKY", tmp_path / "flaky.tsv")
    return module


def job(name, script, *needs, kind="lines", **options):
    return Job(name, ["bash", "-c", script], kind, list(needs), **options)


def ran(*all_jobs, patience=1.0):
    told = []
    jobs.run(list(all_jobs), lambda job: told.append(job.name), patience)
    return told


def test_a_job_that_fails_stops_only_those_that_need_it():
    bad = job("build/a", "exit 3", kind="build")
    needs_it = job("cpp/b", "echo ok - b", "build/a")
    other = job("java/c", "echo ok - c")
    ran(bad, needs_it, other)
    assert [needs_it.state, other.state] == ["not run", "done"]
    assert [result.status for result in other.results] == ["passed"]
    assert "status 3" in bad.failed[0].text


def test_a_failure_that_passes_three_times_alone_is_flaky_and_noted(runner):
    once = job("cpp/x", GTEST_FAILED, kind="gtest")
    once.again = lambda failed: ["bash", "-c", GTEST_PASSED]
    ran(once)
    flaky = runner.rerun([once], 1.0)
    assert [result.name for _, result in flaky] == ["A.B"]
    assert not once.failed
    runner.note_flaky(flaky)
    assert runner.FLAKY.read_text().startswith("cpp: A.B\t")
    assert runner.summary([once, job("java/y", "", kind="lines")], flaky, []) == 0


def test_a_failure_that_fails_again_is_red(runner):
    bad = job("cpp/x", GTEST_FAILED, kind="gtest")
    bad.again = lambda failed: ["bash", "-c", GTEST_FAILED]
    ran(bad)
    assert runner.rerun([bad], 1.0) == []
    assert runner.summary([bad], [], []) == 1


@pytest.mark.parametrize(
    "said", ["DUPLICATE id 7", "ERROR: AddressSanitizer: heap-use-after-free", "idgen: not kept: I4", "DATA RACE"]
)
def test_a_failure_of_safety_is_never_run_again(runner, said):
    bad = job("cpp/x", GTEST_FAILED.replace("; echo '[  F", f"; echo '{said}'; echo '[  F"), kind="gtest")
    bad.again = lambda failed: ["bash", "-c", GTEST_PASSED]
    ran(bad)
    assert runner.rerun([bad], 1.0) == []
    assert bad.failed


def test_a_process_that_crashes_is_red_at_once():
    crashed = job("cpp/x", "echo '[ RUN      ] A.B'; kill -SEGV $$", kind="gtest")
    ran(crashed)
    assert [(result.name, result.is_final) for result in crashed.failed] == [("A.B", True), ("cpp/x", True)]


def test_what_says_nothing_for_too_long_is_ended_and_says_what_it_did():
    hangs = job("cpp/x", "echo '[ RUN      ] A.B'; sleep 1000", kind="gtest")
    ran(hangs, patience=0.01)
    assert "sleep 1000" in "".join(result.text for result in hangs.failed)
    assert all(result.is_final for result in hangs.failed)


def test_jobs_of_a_part_that_share_ports_run_one_at_a_time(tmp_path):
    script = f"mkdir {tmp_path}/port && sleep 0.3 && rmdir {tmp_path}/port && echo ok - x"
    several = [job(f"recipes/{name}", script, cores=0.1, one_at_a_time=True) for name in "abc"]
    ran(*several)
    assert [each.failed for each in several] == [[], [], []]


def test_nothing_that_a_job_started_goes_on(tmp_path):
    leaves = job("cpp/x", f"sleep 1000 & echo $! >{tmp_path}/pid; echo ok - x")
    ran(leaves)
    pid = (tmp_path / "pid").read_text().strip()

    def has_ended():
        try:
            return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
        except OSError:
            return True

    assert wait_until(has_ended)


def test_a_command_that_runs_no_test_has_failed():
    empty = job("cpp/x", "true")
    ran(empty)
    assert "no test passed" in empty.failed[0].text


def test_every_format_finds_what_failed(tmp_path):
    report = tmp_path / "TEST-dev.idgen.A.xml"
    report.write_text(
        '<testsuite><testcase classname="A" name="b" time="1.5"/><testcase classname="A" name="c">'
        '<failure message="no">why</failure></testcase></testsuite>'
    )
    found = {
        "gtest": results.gtest(
            "[ RUN      ] A.B\n[       OK ] A.B (3 ms)\n[ RUN      ] A.C\nwhy[  FAILED  ] A.C (4 ms)\n"
            "[==========] 2 tests from 1 test suite ran. (7 ms total)\n",
            report,
        ),
        "maven": results.maven("[INFO] Running dev.idgen.A\n", tmp_path),
        "pytest": results.pytest("", report),
        "go": results.go(
            '{"Action":"pass","Package":"p","Test":"B"}\n{"Action":"output","Package":"p","Test":"C","Output":"why"}\n'
            '{"Action":"fail","Package":"p","Test":"C"}\n{"Action":"fail","Package":"p"}\n',
            report,
        ),
        "lines": results.lines("ok - b\nnot ok - c\n", report),
    }
    for name, each in found.items():
        assert [result.status for result in each] == ["passed", "failed"], name


@pytest.mark.parametrize(
    ("kind", "script"),
    [
        ("gtest", "echo '[ RUN      ] A.B'; echo '[  FAILED  ] A.B (1 ms)'; kill -SEGV $$"),
        ("gtest", "echo '[ RUN      ] A.B'; echo '[       OK ] A.B (1 ms)'"),  # the others were never run
        ("gtest", "echo '[ RUN      ] A.B'; echo '[ RUN      ] A.C'; echo '[       OK ] A.C (1 ms)'"),
        ("go", """echo '{"Action":"run","Package":"p","Test":"A"}'; exit 1"""),
        ("go", """echo '{"Action":"pass","Package":"p","Test":"A"}'; echo 42; exit 2"""),
        ("pytest", "echo 'tests/a.py::b PASSED'; echo 'tests/a.py::c '; kill -ABRT $$"),
        ("maven", "echo '[INFO] Running dev.idgen.ATest'; exit 1"),
        ("lines", "echo ok - a; exit 1"),
        ("lines", "echo 'ERROR: AddressSanitizer'; echo not ok - a; exit 1"),
    ],
)
def test_what_ends_too_early_is_a_failure_that_is_not_run_again(runner, kind, script, tmp_path):
    bad = job("cpp/x", script, kind=kind, report=tmp_path / "none")
    bad.again = lambda failed: ["true"]
    ran(bad)
    assert bad.failed
    assert runner.rerun([bad], 1.0) == []


def test_a_test_that_does_not_run_again_is_not_flaky(runner, tmp_path):
    bad = job("cpp/x", GTEST_FAILED, kind="gtest")
    bad.again = lambda failed: ["bash", "-c", "echo '[==========] 0 tests from 0 test suites ran.'"]
    ran(bad)
    assert runner.rerun([bad], 1.0) == []


def test_a_crash_that_ctest_reports_is_final(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text('<testsuite><testcase name="a" status="fail"><failure message=""/></testcase></testsuite>')
    log = "1/1 Test #1: a ................***Exception: SegFault  0.10 sec\n"
    assert [result.is_final for result in results.ctest(log, report)] == [True]


def test_every_path_of_the_repository_has_a_row_and_every_row_names_what_exists():
    paths = plan.git("ls-files").split()
    assert [path for path in paths if plan.row_of(path) is None] == []
    unused = [glob for glob, _, _ in plan.table() if not any(plan.fnmatchcase(path, glob) for path in paths)]
    assert unused == []


@pytest.fixture
def every_job(monkeypatch):
    """But those of the C++ tests: CMake says which there are, in a tree that is configured."""
    monkeypatch.setattr(parts, "gtest", lambda *_, **__: [])
    return [job for name, part in parts.PARTS.items() for job in part.jobs(name)]


def test_a_file_of_tests_that_has_changed_runs_wherever_it_is_run(every_job):
    chosen = plan.by_change(["tests/servers/test_conformance.py"], every_job)
    assert set(chosen) == {"asan", "newest/conformance-mysql", "newest/conformance-mariadb"}


def test_every_name_of_a_row_is_that_of_a_part_or_a_job(every_job):
    names = {name for _, _, more in plan.table() for name in more} - {"-", "modules/{file}"} - set(parts.PARTS)
    assert [name for name in names if not any(plan.matches(job, name) for job in every_job)] == []


def test_changed_tests_come_first_and_then_what_most_changes_need(every_job):
    needed = plan.by_change(["core/src/cipher/ff1.cpp", "capi/src/idgen.cpp", "tests/servers/test_fork.py"], every_job)
    assert list(needed) == ["modules/fork", "asan", "go-race", "dist", "consumers"]


def test_eight_submissions_run_everything_by_turn(every_job):
    due = [unit for number in range(plan.SLICES) for unit in plan.choose(every_job, [], number).due]
    assert sorted(due) == sorted(plan.units_of(every_job))


def test_what_changes_need_runs_within_eight_submissions_and_none_costs_more_than_the_budget(every_job):
    left = list(plan.units_of(every_job))
    for number in range(plan.SLICES):
        choice = plan.choose(every_job, left, number)
        assert choice.cost_s <= plan.BUDGET_S
        assert sorted([*choice.due, *choice.taken, *choice.left]) == sorted({*choice.due, *left})
        left = choice.left
    assert left == []


def test_documents_alone_wait_neither_for_the_turn_nor_for_what_was_left(every_job):
    assert plan.are_documents(["docs/go.md", "README.md", "tests/accepted"])
    assert not plan.are_documents(["docs/go.md", "go/id_source.go"])
    needed = list(plan.by_change(["docs/go.md"], every_job))
    choice = plan.choose(every_job, [*needed, *plan.units_of(every_job)], 0, is_code=False)
    assert "programs/docs" in [*choice.due, *choice.taken]
    assert choice.cost_s <= plan.DOCUMENTS_S
    assert sorted([*choice.due, *choice.taken, *choice.left]) == sorted(plan.units_of(every_job))


def test_what_was_left_by_a_submission_is_in_the_file_that_says_what_was_accepted(monkeypatch, tmp_path):
    monkeypatch.setattr(plan, "ACCEPTED", tmp_path / "accepted")
    plan.accept(["asan", "modules/workers"])
    assert plan.base() == plan.git("rev-parse", "HEAD").strip()
    assert plan.waiting() == ["asan", "modules/workers"]


def test_a_test_meets_its_own_deadline_before_the_runner_ends_its_job():
    recipes = (parts.ROOT / "tests/servers/recipes/conftest.py").read_text()
    of_recipes = int(re.search(r"deadline.SECONDS = (\d+)", recipes)[1])
    for part in ("python", "cli", "modules", "newest", "recipes"):
        seconds = of_recipes if part == "recipes" else deadline.SECONDS
        for each in parts.PARTS[part].jobs(part):
            # A minute after its deadline a test ends its process, and the report is read.
            assert (each.silence_s or results.FORMATS[each.format].silence_s) > seconds + 100, each.name


def test_no_test_is_flaky_twice_for_an_unknown_cause():
    rows = [line.split("\t") for line in (jobs.ROOT / "tests/flaky.tsv").read_text().splitlines()[1:]]
    unknown = [name for name, _, cause in rows if cause == "unknown"]
    assert sorted(name for name in set(unknown) if unknown.count(name) > 1) == []
