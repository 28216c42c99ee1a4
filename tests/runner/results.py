"""What a finished command says about its tests: one Result for each, from the format that its runner writes."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Failures that no machine is too slow for. They are never run again: once is enough.
FINAL = re.compile(
    r"DUPLICATE|CRASHED|was ended|\bLOST\b|idgen: not kept|Sanitizer|runtime error:|DATA RACE"
    r"|Fatal Python error: (?!Timeout)"
    r"|terminate called|Segmentation fault|SIG(SEGV|ABRT|BUS|ILL|FPE)|fatal error: |A fatal error has been detected"
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


def gtest(log: str, **_: object) -> Iterator[Result]:
    """GoogleTest's own lines. A test that has begun and not ended took the process with it."""
    begun, text = None, []
    for line in log.splitlines():
        if found := re.match(r"\[ RUN      \] (\S+)", line):
            begun, text = found[1], []
        elif found := re.match(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*?\((\d+) ms\)", line):
            status = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}[found[1]]
            yield Result(found[2], status, "\n".join(text) if status == "failed" else "", int(found[3]) / 1000)
            begun = None
        elif begun:
            text.append(line)
    if begun:
        yield Result(begun, "failed", "\n".join(["CRASHED or was ended before it ended itself", *text]))


def junit(reports: list[Path]) -> Iterator[Result]:
    for report in reports:
        try:
            root = xml.parse(report).getroot()
        except (OSError, xml.ParseError):
            continue
        for case in root.iter("testcase"):
            name = f"{case.get('classname', '')}::{case.get('name', '')}"
            bad = [child for child in case if child.tag in ("failure", "error")]
            texts = [child.get("message", "") + "\n" + (child.text or "") for child in bad]
            if bad:
                texts += [child.text or "" for child in case if child.tag in ("system-out", "system-err")]
            skipped = any(child.tag == "skipped" for child in case) or case.get("status") in ("notrun", "disabled")
            status = "failed" if bad else "skipped" if skipped else "passed"
            yield Result(name, status, "\n".join(texts), float(case.get("time") or 0))


def ctest(log: str, report: Path, **_: object) -> Iterator[Result]:
    for result in junit([report]):
        result.name = result.name.split("::")[1]
        yield result


def pytest(log: str, report: Path, **_: object) -> Iterator[Result]:
    """By its lines, which are there even if the process has ended in a test; what failed says why in the report."""
    told = {result.name.replace("::", "."): result for result in junit([report])}
    begun = None
    found_results: dict[str, Result] = {}
    over = re.search(r"^=+ (FAILURES|ERRORS|short test summary info|\d+ \w+.* in .*) =+$", log, re.M)
    for line in log[: over.start() if over else None].splitlines():
        found = re.match(
            r"(?:(\S+\.py::\S.*?) )?(PASSED|FAILED|ERROR|SKIPPED|XFAIL)\s*(?:\(.*\)\s*)?(?:\[.*%\])?$", line
        )
        if not found:
            begun = line.strip() if re.match(r"\S+\.py::\S", line) else begun
            continue
        name, word = found[1], found[2]
        name = name or begun
        if name is None:
            continue
        begun = None
        test, bracket, parameters = name.partition("[")
        case = told.get(test.replace("/", ".").replace(".py::", ".").replace("::", ".") + bracket + parameters)
        result = Result(name, "passed", case.text if case else "", case.seconds if case else 0.0)
        if word in ("FAILED", "ERROR"):
            result.status = "failed"
        elif word == "SKIPPED":
            result.status = "skipped"
        if name not in found_results or result.status == "failed":  # a teardown fails after its test has passed
            found_results[name] = result
    yield from found_results.values()
    if begun:
        yield Result(begun, "failed", "CRASHED or was ended before it ended itself\n" + log[-6000:])


def maven(log: str, report: Path, **_: object) -> Iterator[Result]:
    for result in junit(sorted(report.glob("TEST-*.xml"))):
        result.name = result.name.replace("::", "#")
        yield result


def go(log: str, **_: object) -> Iterator[Result]:
    """The events of `go test -json`, for tests, not their parts; and a package that fails without a test that does."""
    text: dict[str, list[str]] = {}
    with_failures = set()
    for line in log.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        package = event.get("Package") or event.get("ImportPath", "").split(" ")[0]
        test, is_part, _ = event.get("Test", "").partition("/")
        name = f"{package} {test}".strip()
        if "Output" in event:
            text.setdefault(name, []).append(event["Output"])
        if event.get("Action") in ("pass", "fail", "skip") and not is_part and (test or event["Action"] == "fail"):
            if not test and package in with_failures:
                continue
            status = {"pass": "passed", "fail": "failed", "skip": "skipped"}[event["Action"]]
            if status == "failed":
                with_failures.add(package)
            said = "".join(text.get(name, [])) if status == "failed" else ""
            yield Result(name, status, said, event.get("Elapsed", 0))


def lines(log: str, **_: object) -> Iterator[Result]:
    """`ok - FACT` and `not ok - FACT`, as the project's own checks write them."""
    rest = log.splitlines()
    for number, line in enumerate(rest):
        if line.startswith("ok - "):
            yield Result(line[5:], "passed")
        elif line.startswith("not ok - "):
            yield Result(line[9:], "failed", "\n".join(rest[number : number + 20]))


def files(log: str, **_: object) -> Iterator[Result]:
    for name in re.findall(r"^(\S+): \d+ (?:rows|lines)$", log, re.M):
        yield Result(name, "passed")


def build(log: str, **_: object) -> Iterator[Result]:
    """Builds have no tests."""
    return iter(())


FORMATS = {each.__name__: each for each in (gtest, ctest, pytest, maven, go, lines, files, build)}
