"""What a finished command says about its tests: one Result for each, from what its test runner writes.

A log or a report that ends too early is a failure: a lost test must not look like one that passed.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Failures that no machine is too slow for: duplicates, crashes, what the core asserts, what sanitizers find. They are
# never run again.
FINAL = re.compile(
    r"DUPLICATE|CRASHED|\bLOST\b|idgen: not kept|Sanitizer|runtime error:|DATA RACE|Fatal Python error: (?!Timeout)"
    r"|terminate called|Segmentation fault|SegFault|SIG(SEGV|ABRT|BUS|ILL|FPE)|fatal error: |fatal error has been"
    r"|assert -(4|6|7|8|11) ==|exit status -(4|6|7|8|11)\b"
)


@dataclass
class Result:
    name: str
    status: str  # passed, failed, skipped
    text: str = ""  # what it said, if it failed
    seconds: float = 0.0

    @property
    def is_final(self) -> bool:
        return bool(FINAL.search(self.text))


def ended_early(name: str, text: str) -> Result:
    return Result(name, "failed", f"CRASHED or was ended before it finished:\n{text[-6000:]}")


def gtest(log: str, report: Path) -> Iterator[Result]:
    begun, text, count = None, [], 0
    for line in log.splitlines():
        if found := re.search(r"\[ RUN      \] (\S+)$", line):
            if begun:
                count += 1
                yield ended_early(begun, "\n".join(text))
            begun, text = found[1], []
        elif found := re.search(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:, .*)? \((\d+) ms\)$", line):
            status = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}[found[1]]
            count += 1
            yield Result(found[2], status, "\n".join([*text, line]) if status == "failed" else "", int(found[3]) / 1000)
            begun = None
        elif begun:
            text.append(line)
    if begun:
        yield ended_early(begun, "\n".join(text))
    finished = re.findall(r"\[==========\] (\d+) tests? from .* ran\.", log)
    if not begun and (not finished or int(finished[-1]) != count):
        yield ended_early("the test program", log)


def cases_of(report: Path) -> Iterator[tuple[xml.Element, Result]]:
    """The test cases of a report in JUnit's format; none if there is no whole report."""
    try:
        root = xml.parse(report).getroot()
    except (OSError, xml.ParseError):
        return
    for case in root.iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        texts = [f"{child.get('message', '')}\n{child.text or ''}" for child in bad]
        if bad:
            texts += [child.text or "" for child in case if child.tag in ("system-out", "system-err")]
        is_skipped = any(child.tag == "skipped" for child in case)
        status = "failed" if bad else "skipped" if is_skipped else "passed"
        yield case, Result(case.get("name", ""), status, "\n".join(texts), float(case.get("time") or 0))


def merged(results: Iterator[Result]) -> list[Result]:
    """One for each name: a test that passes has failed if its teardown does."""
    found: dict[str, Result] = {}
    for result in results:
        before = found.get(result.name)
        if before is None or (before.status != "failed" and result.status == "failed"):
            found[result.name] = result
        elif result.status == "failed":
            before.text += "\n" + result.text
    return list(found.values())


def pytest(log: str, report: Path) -> Iterator[Result]:
    """pytest writes the report when it ends. Without one, the last line of its log names the test that ended it."""

    def named() -> Iterator[Result]:
        for case, result in cases_of(report):
            file = case.get("file") or ""
            classes = case.get("classname", "")[len(file.removesuffix(".py")) + 1 :].replace(".", "::")
            result.name = "::".join(part for part in (file, classes, result.name) if part)
            yield result

    found = merged(named())
    yield from found
    if not found:
        lines = [line for line in log.splitlines() if re.match(r"\S+\.py::", line)]
        yield ended_early(lines[-1].split(" ")[0] if lines else "pytest", log)


def ctest(log: str, report: Path) -> Iterator[Result]:
    how = dict(re.findall(r"Test +#\d+: (\S+) \.*\s*(Passed|\S.*?) +[\d.]+ sec", log))
    for case, result in cases_of(report):
        said = how.get(result.name, "")
        if case.get("status") in ("notrun", "disabled") or "Not Run" in said:
            result.status, result.text = "failed", "it was not run: its program is missing"
        elif result.status == "failed":
            result.text = f"{'CRASHED: ' if 'Exception' in said else ''}{said}\n{result.text}"
        yield result


def maven(log: str, report: Path) -> Iterator[Result]:
    reported = set()
    for file in sorted(report.glob("TEST-*.xml")):
        reported.add(file.stem.removeprefix("TEST-"))
        for case, result in cases_of(file):
            result.name = f"{case.get('classname', '')}#{result.name}"
            yield result
    for name in sorted(set(re.findall(r"Running (dev\.idgen\.\S+)$", log, re.M)) - reported):
        yield ended_early(name, log)
    if re.search(r"forked VM terminated|There was a timeout|ForkedProcess.*(crash|exit)", log):
        yield ended_early("the JVM of the tests", log)


def go(log: str, report: Path) -> Iterator[Result]:
    """The events of `go test -json`, for tests, not their parts; and packages that fail without a test that does."""
    text: dict[str, list[str]] = {}
    running: dict[str, str] = {}  # test → package
    with_failures = set()
    for line in log.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if not isinstance(event, dict):
            continue
        action = event.get("Action")
        package = event.get("Package") or event.get("ImportPath", "").split(" ")[0]
        test, is_part, _ = event.get("Test", "").partition("/")
        name = f"{package} {test}".strip()
        if "Output" in event:
            text.setdefault(name, []).append(event["Output"])
        if is_part:
            continue
        if action == "run":
            running[name] = package
        elif action in ("pass", "fail", "skip") and test:
            running.pop(name, None)
            status = {"pass": "passed", "fail": "failed", "skip": "skipped"}[action]
            if status == "failed":
                with_failures.add(package)
            yield Result(name, status, "".join(text.get(name, [])) if action == "fail" else "", event.get("Elapsed", 0))
        elif action == "fail" and package not in with_failures:
            yield Result(package, "failed", "".join(text.get(package, [])))
    for name, package in running.items():
        yield ended_early(name, "".join(text.get(name, []) + text.get(package, [])))


def lines(log: str, report: Path) -> Iterator[Result]:
    """`ok - FACT` and `not ok - FACT`, as the project's own checks write them, with what comes before and after."""
    rest = log.splitlines()
    before = 0
    for number, line in enumerate(rest):
        if line.startswith("ok - "):
            yield Result(line[5:], "passed")
        elif line.startswith("not ok - "):
            yield Result(line[9:], "failed", "\n".join(rest[max(before, number - 60) : number + 20]))
        else:
            continue
        before = number + 1


def files(log: str, report: Path) -> Iterator[Result]:
    for name in re.findall(r"^(\S+): \d+ (?:rows|lines)$", log, re.M):
        yield Result(name, "passed")


def build(log: str, report: Path) -> Iterator[Result]:
    """Builds have no tests."""
    return iter(())


@dataclass
class Format:
    parse: Callable[[str, Path], Iterator[Result]]
    statuses: tuple[int, ...] = (0, 1)  # with which its command ends by itself
    silence_s: float = 400  # how long it prints nothing before it is ended
    can_run_again: bool = True  # a single test, alone


# Python's and Java's tests have deadlines of their own, which end earlier; GoogleTest has none. What is checked line by
# line does not depend on time.
FORMATS = {
    "gtest": Format(gtest, silence_s=200),
    "ctest": Format(ctest, (0, 8)),
    "pytest": Format(pytest),
    "maven": Format(maven),
    "go": Format(go),
    "lines": Format(lines, can_run_again=False),
    "files": Format(files, can_run_again=False),
    "build": Format(build, (0,), silence_s=1200, can_run_again=False),
}
