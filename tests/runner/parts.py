"""The parts of the tests: what each is for, and its jobs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jobs import CORES, LOGS, ROOT, Job
from results import Result

BUILD = ROOT / "build"


@dataclass
class Part:
    title: str
    jobs: Callable[[str], list[Job]]
    setup: str = ""  # for what scripts/setup installs, besides what is built with


def shell(script: str) -> list[str]:
    """With the functions and the environment of scripts/lib.sh."""
    return ["bash", "-c", f"source scripts/lib.sh\nset -x\n{script}"]


# --- Builds: what jobs need. Each takes the whole machine, so that tests do not run while it compiles. The longer a
# job's seconds, the earlier it begins.

# Small test programs, which give the first results.
FIRST = ["layout_test", "text_test", "standard_ids_test", "calendar_test", "config_test", "route_test", "reserve_test"]


def builds() -> dict[str, Job]:
    def job(name: str, command: list[str], *needs: str, cores: float = CORES, seconds: float = 30) -> Job:
        return Job(f"build/{name}", command, "build", [f"build/{need}" for need in needs], cores, seconds)

    def ninja(*targets: str) -> list[str]:
        return ["ninja", "-C", "build", "-j", str(CORES), *targets]

    jobs = [
        job("first", ninja(*FIRST), seconds=900),
        job("library", ninja("idgen", "idgen_jar", "idgen_tool", "idgen_modules", "idgen_share"), "first", seconds=700),
        job("tests", ninja(), "first", seconds=600),
        job("wheel", ["scripts/dist", "python"], "library", seconds=500),
        job("jar", ["scripts/dist", "java"], "library", seconds=400),
        job("hosts", ["python", "tests/servers/hosts.py"], "library", "jar", "wheel"),
        job("whole", ["scripts/build", "dist"]),
        job("asan", ["scripts/build", "asan"], seconds=20),
        job("tsan", ["scripts/build", "tsan"], seconds=15),
    ]
    return {job.name: job for job in jobs}


# Core seconds of the builds that `make test` does not need.
BUILD_S = {"build/hosts": 60, "build/whole": 260, "build/asan": 1000, "build/tsan": 500}


# --- Jobs by the tool that runs the tests.


def lines(name: str, command: list[str], *needs: str, cores: float = 1, seconds: float = 10) -> Job:
    return Job(name, command, "lines", [f"build/{need}" for need in needs], cores, seconds)


numbers = itertools.count(1)


def pytest(name: str, paths: list[str], *needs: str, cores: float = 1, seconds: float = 10, **env: str) -> Job:
    report = LOGS / f"{name.replace('/', '-')}.xml"
    base = ["python", "-m", "pytest", "-v", "-p", "no:cacheprovider", f"--rootdir={ROOT}"]
    for option in ("tmp_path_retention_policy=failed", "junit_family=xunit1", "junit_logging=all",
                   "junit_log_passing_tests=false"):  # fmt: skip
        base += ["-o", option]
    # Short paths: podman loses a container's restart where its sockets have long ones.
    base += [f"--junitxml={report}", f"--basetemp={{TMPDIR}}/{next(numbers)}"]
    return Job(
        name, [*base, *paths], "pytest", [f"build/{need}" for need in needs], cores, seconds, env, report,
        again=lambda failed: [*base, *(result.name for result in failed)],
    )  # fmt: skip


def gtest(part: str, tree: Path, needs: str, controls: bool) -> list[Job]:
    """A job for each shard of a GoogleTest program."""
    jobs = []
    for line in (tree / "tests.tsv").read_text().splitlines():
        test, name, arguments, environment, labels = line.split("\t")
        if ("controls" in labels) != controls:
            continue
        program = str(tree / "bin" / name)
        is_first = name in FIRST and tree == BUILD

        def again(failed: list[Result], program: str = program) -> list[str]:
            names = ":".join(result.name for result in failed)
            return ["env", "-u", "GTEST_TOTAL_SHARDS", "-u", "GTEST_SHARD_INDEX", program, f"--gtest_filter={names}"]

        command = [program, *arguments.split(";")] if arguments else [program]
        job = Job(f"{part}/{test}", command, "gtest", ["build/first" if is_first else needs])
        job.cores = 0.7
        job.seconds = 800 if is_first else 30 if "sim" in name or "search" in name else 6
        job.env = dict(pair.split("=", 1) for pair in environment.split(";"))
        job.again = again
        job.targets = [name]
        jobs.append(job)
    return jobs


def ctest(name: str, tree: Path, needs: str, *options: str, cores: float = 1, seconds: float = 60, **env: str) -> Job:
    report = LOGS / f"{name.replace('/', '-')}.xml"
    base = ["ctest", "--test-dir", str(tree), "--output-on-failure", "--output-junit", str(report),
            "--test-output-size-passed", "100000", "--no-tests=error", "--timeout", "{TEST_SECONDS}"]  # fmt: skip
    return Job(
        name, [*base, *options], "ctest", [f"build/{need}" for need in needs.split()], cores, seconds, env, report,
        again=lambda failed: [*base, "-R", "|".join(f"^{re.escape(result.name)}$" for result in failed)],
    )  # fmt: skip


def compared_ids(job: Job) -> list[Result]:
    """The faults compare ids of threads, processes, killed processes and forks exactly, and say how many."""
    log = job.report.read_text(errors="replace")
    ids = sum(map(int, re.findall(r"\[ CHECKED  \] (\d+) ids .*all different", log, re.M)))
    enough = ids >= 100_000_000
    return [Result(f"{ids} ids were compared; at least 10^8 are", "passed" if enough else "failed", log[-1000:])]


# --- The parts.


# What is in ctest and no GoogleTest program; the golden vectors are another part.
IN_C = ("-LE", "gtest|faults", "-E", "^vectors_")
FAULTS = ("-L", "faults", "-j", str(CORES))


def cpp(part: str) -> list[Job]:
    faults = ctest(f"{part}/faults", BUILD, "tests", *FAULTS, cores=CORES, seconds=90)
    faults.then = compared_ids
    return [*gtest(part, BUILD, "build/tests", controls=False), faults, ctest(f"{part}/capi", BUILD, "tests", *IN_C)]


def sanitized(part: str) -> list[Job]:
    tree = BUILD / part
    return [
        *gtest(part, tree, f"build/{part}", controls=False),
        ctest(f"{part}/faults", tree, part, *FAULTS, cores=CORES, seconds=90),
        ctest(f"{part}/capi", tree, part, *IN_C),
    ]


def dist(part: str) -> list[Job]:
    """The library that users get, where the tests look for the one that was built without optimising it as a whole."""
    library = {"LD_LIBRARY_PATH": str(BUILD / "whole/lib")}
    return [
        lines(f"{part}/abi", ["tests/abi/check", "build/whole"], "whole", seconds=5),
        ctest(f"{part}/faults", BUILD, "tests whole", *FAULTS, cores=CORES, **library),
        ctest(f"{part}/capi", BUILD, "tests whole", "-R", "^capi_test$", **library),
    ]


def controls(part: str) -> list[Job]:
    jobs = gtest(part, BUILD, "build/tests", controls=True)
    for job in jobs:
        job.can_run_again = False
    return jobs


def asan(part: str) -> list[Job]:
    conformance = pytest(f"{part}/conformance", ["tests/servers/test_conformance.py"], "asan",
                         IDGEN_BUILD_DIR=str(BUILD / "asan"))  # fmt: skip
    return [*sanitized(part), conformance]


def python(part: str) -> list[Job]:
    """Side by side: what asks the type checkers, and two halves of the others."""
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "python/tests").glob("test_*.py"))]
    types = "python/tests/test_types.py"
    files.remove(types)
    return [
        pytest(f"{part}/1", files[::2], "wheel", seconds=20),
        pytest(f"{part}/2", files[1::2], "wheel", seconds=20),
        pytest(f"{part}/types", [types], "wheel", seconds=12),
    ]


def java(part: str) -> list[Job]:
    report = ROOT / "java/target/surefire-reports"
    command = shell("rm -rf java/target/surefire-reports; mvn -B -f java/pom.xml surefire:test")
    return [
        Job(
            f"{part}/tests",
            command,
            "maven",
            ["build/jar"],
            1,
            45,
            report=report,
            again=lambda failed: [
                *("mvn", "-B", "-f", "java/pom.xml", "surefire:test"),
                "-Dtest=" + ",".join(sorted({re.sub(r"[\[({].*", "", result.name).strip() for result in failed})),
            ],
        )
    ]


def go(part: str) -> list[Job]:
    """Against the library that was built; the part go-race compiles it into the package, as users do."""
    prepare = "PKG_CONFIG_PATH=$root/build LD_LIBRARY_PATH=$root/build/lib "
    return [go_tests(f"{part}/tests", prepare, '-tags "idgen_system libsqlite3"', ["build/library"], 1.5, 40)]


def go_tests(name: str, prepare: str, options: str, needs: list[str], cores: float, seconds: float) -> Job:
    base = f"{prepare}go test -json -vet=all -count=1 -timeout {{TEST_SECONDS}}s {options}"

    def again(failed: list[Result]) -> list[str]:
        names = "|".join(f"^{result.name.split()[-1]}$" for result in failed)
        packages = " ".join(sorted({result.name.split()[0] for result in failed}))
        return shell(f"{base} -run '{names}' {packages}")

    every = shell(f"{base} $(go list ./go/... | grep -v /internal/consumer)")
    return Job(name, every, "go", needs, cores, seconds, again=again)


def go_consumer(name: str) -> Job:
    command = shell("go test -json -vet=all -count=1 -timeout 900s ./go/internal/consumer")
    return Job(name, command, "go", ["build/library"], CORES, 270)


# Of the files of tests that take longer than twenty seconds, beside others on two cores of an AMD EPYC.
SECONDS = {
    "modules/host_stores": 396, "modules/host_workers": 356, "modules/thousand": 310, "modules/schemas": 309,
    "modules/cosid_machines": 232, "modules/faults": 161, "modules/workers": 141, "modules/worker_chaos": 124,
    "modules/leaf_snowflake": 102, "modules/mysql": 93, "modules/key_producer": 73, "modules/moving_over": 68,
    "modules/prefork": 62, "modules/owners": 47, "modules/originals": 46, "modules/uid_generator": 45,
    "modules/tls": 60, "modules/daily_life": 44, "modules/bad_input": 43, "modules/shop": 42, "modules/languages": 39,
    "modules/day_two": 38, "modules/buffer": 38, "modules/full_disk": 31, "modules/etcd_tokens": 28,
    "modules/password": 25, "modules/urls": 24, "modules/grants": 60, "modules/serials": 23, "modules/rights": 22,
    "modules/url_drivers_java": 82, "modules/url_drivers_python": 270,
    "recipes/fastapi": 552, "recipes/go_builds": 152, "recipes/migrations": 74, "recipes/spring": 70,
    "recipes/c_service": 60, "recipes/containers": 50, "recipes/gorm": 40, "recipes/watching": 18,
    "recipes/name_servers": 19, "recipes/from_an_empty_folder": 15, "recipes/deploying": 13, "recipes/runbooks": 15,
}  # fmt: skip


def files_of(part: str, folder: str, cores: float) -> list[Job]:
    """A job for each file of tests against servers."""
    jobs = []
    for path in sorted((ROOT / folder).glob("test_*.py")):
        name = f"{part}/{path.stem.removeprefix('test_')}"
        if name != "modules/conformance":
            # At most 12 side by side: each starts servers, which take memory.
            share = CORES if name == "modules/thousand" else max(cores, CORES / 12)
            paths = [str(path.relative_to(ROOT))]
            jobs.append(pytest(name, paths, "hosts", "tests", cores=share, seconds=SECONDS.get(name, 12)))
            if part == "recipes":  # they build images, which takes long, and start services on fixed ports
                jobs[-1].one_at_a_time = True
                jobs[-1].silence_s = 1100
    return jobs


# The files of tests that run on newer servers too: each of the generations of tests/servers/servers.py.
ON_NEWEST = """
    conformance tls faults workers schemas connections moving_over buffer key_producer uid_generator host_stores
    rights grants bad_input
"""


def packages(part: str) -> list[Job]:
    """Named after the target; each, and the packages of Debian, has a turn of its own."""
    targets = ["x86_64-linux-gnu.2.17", "x86_64-linux-musl", "aarch64-linux-gnu.2.17", "aarch64-linux-musl"]
    jobs = [
        lines(f"{part}/{target}", ["scripts/packages", target], "jar", cores=CORES, seconds=600) for target in targets
    ]
    jobs.append(
        lines(f"{part}/deb", ["bash", "-c", "scripts/deb && tests/packages/check-deb"], cores=CORES, seconds=400)
    )
    for job in jobs:
        job.silence_s = 1200  # it compiles, most of the time
    return jobs


def newest(part: str) -> list[Job]:
    """Named after the file and the generation, so that part of a name chooses both generations."""
    return [
        pytest(f"{part}/{name}-{generation}", [f"tests/servers/test_{name}.py"], "hosts", "tests", cores=0.6,
               seconds=SECONDS.get(f"modules/{name}", 12), IDGEN_TEST_SERVERS=generation)
        for name in ON_NEWEST.split() for generation in ("mysql", "mariadb")
    ]  # fmt: skip


PARTS = {
    # What `make test` runs.
    "cpp": Part("C++ and C tests of every folder, against the release build", cpp),
    "python": Part("Python tests, against the installed wheel", python),
    "java": Part("Java tests", java),
    "go": Part("Go tests and vet, against the library that was built", go),
    "cli": Part("the idgen command", lambda part: [
        pytest(f"{part}/tests", ["tests/cli"], "library", "wheel", seconds=50)]),
    "vectors": Part("golden vectors, against the slow reference", lambda part: [
        Job(f"{part}/reference", ["python", "tests/vectors/reference.py", "--check"], "files", seconds=2)]),
    "abi": Part("the C ABI: header, symbols, dependencies, baseline", lambda part: [
        lines(f"{part}/check", ["tests/abi/check"], "library")]),
    "consistency": Part("every fact the same everywhere; no line is too long", lambda part: [
        lines(f"{part}/check", ["tests/consistency/check"], "library", "wheel", "jar"),
        lines(f"{part}/locks", ["tests/consistency/locks"], cores=CORES, seconds=20)], "servers"),
    "runner": Part("the runner of the tests itself", lambda part: [
        pytest(f"{part}/tests", ["tests/runner"], seconds=15)]),
    "docs": Part("every code sample in README and docs, except Go's", lambda part: [
        lines(f"{part}/samples", ["tests/docs/check"], "library", "wheel", "jar", seconds=15)]),
    "servers": Part("every store over a network, against a real server, without faults", lambda part: [
        pytest(f"{part}/conformance", ["tests/servers/test_conformance.py"], "tests", seconds=15)], "servers"),
    # What is chosen by change or by rotation.
    "controls": Part("planted faults, each of which the simulation or the search must catch", controls),
    "models": Part("models of the protocols, every state of them, and with each rule left out", lambda part: [
        lines(f"{part}/spin", ["scripts/models"], cores=CORES, seconds=400)], "models"),
    "go-race": Part("Go tests with the core compiled in, under the race detector", lambda part: [
        go_tests(f"{part}/tests", "", "-race", [], CORES, 231)]),
    "programs": Part("Go programs outside the package, those of the documentation too", lambda part: [
        go_consumer(f"{part}/consumer"),
        lines(f"{part}/docs", ["tests/docs/check", "go"], "library", "wheel", "jar", cores=CORES, seconds=146)]),
    "consumers": Part("projects that use idgen: CMake, pkg-config, sdist, jar, Go module", lambda part: [
        lines(f"{part}/check", ["tests/consumers/check"], "whole", "wheel", "jar", cores=CORES, seconds=389)]),
    "dist": Part("what `make dist` makes: the library optimised as a whole, and its size", dist),
    "packages": Part("libidgen.so, wheels and jar for other systems, and .deb packages", packages, "packages"),
    "recipes": Part("deploying and the services of examples/, on real servers", lambda part:
        files_of(part, "tests/servers/recipes", 1), "recipes"),
    "modules": Part("stores over a network, against real servers with real faults", lambda part:
        files_of(part, "tests/servers", 0.6), "servers"),
    "newest": Part("the same on servers that are newer than those that are installed", newest, "servers"),
    "fuzz": Part("every parser, fed with unlikely input", lambda part: [
        lines(f"{part}/parsers", ["scripts/fuzz", "--runs", "30000"], cores=CORES, seconds=194)], "fuzz"),
    "asan": Part("C++ tests under the address and undefined-behaviour sanitizers", asan, "servers"),
    "tsan": Part("C++ tests under the thread sanitizer", sanitized),
}  # fmt: skip
USUAL = ["cpp", "python", "java", "go", "cli", "vectors", "abi", "consistency", "runner", "docs", "servers"]
REST = [part for part in PARTS if part not in USUAL]
