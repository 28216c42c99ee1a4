"""docs/watching.md and examples/watching: the page's code word for word, and the rules and the dashboard in the real
Prometheus, which scrapes a real process and a real store."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml
from clients import BUILD, IDGEN, MODULES, patience, wait_until
from hosts import ROOT

from servers import HOST, free_port

HERE = Path(__file__).parent
PAGE = (ROOT / "docs" / "watching.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "examples" / "watching"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience(300), **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fetch(url):
    with urllib.request.urlopen(url, timeout=patience(10)) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def running(*command, **options):
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def when_up(url, process):
    def look():
        assert process.poll() is None, "it has ended"
        with contextlib.suppress(OSError):
            return fetch(url)

    return wait_until(look, what=url)


# ------------------------------------------------------------------------------------------------------- the page


def test_each_python_sample_of_the_page_runs(tmp_path):
    samples = blocks("python")
    assert len(samples) == 4
    for sample in samples:
        run(sys.executable, "-W", "error", "-c", sample, cwd=tmp_path)


def test_the_route_of_the_page_serves_what_prometheus_reads():
    program = blocks("python")[0] + textwrap.dedent("""
        served = b"".join(metrics({}, lambda status, headers: print(status, headers)))
        print(served.decode())
    """)
    printed = run(sys.executable, "-c", program)
    assert printed.startswith("200 OK [('Content-Type', 'text/plain; version=0.0.4')]\n")
    run("promtool", "check", "metrics", input=printed.split("\n", 1)[1].rstrip("\n") + "\n")


def test_each_process_keeps_a_file_of_its_own_until_it_is_gone(tmp_path):
    sample = next(sample for sample in blocks("python") if "keep_written" in sample)
    program = sample + textwrap.dedent("""
        import sys
        orders = idgen.Generator(name="orders", kind="segment", store="memory", store_create=True)
        keep_written([orders], sys.argv[1], seconds=0.05)
        print("ready", flush=True)
        sys.stdin.read()
    """)
    started = []
    with contextlib.ExitStack() as processes:
        for _ in range(2):
            started.append(
                processes.enter_context(
                    running(
                        *(sys.executable, "-c", program, tmp_path),
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        text=True,
                    )
                )
            )
            assert started[-1].stdout.readline() == "ready\n"
        files = sorted(tmp_path.glob("*.prom"))
        assert files == sorted(tmp_path / f"idgen-{process.pid}.prom" for process in started)
        labels = {re.search(r'process="(\d+)@', file.read_text())[1] for file in files}
        assert labels == {str(process.pid) for process in started}
        gone, stays = started
        gone.kill()
        gone.wait()
        wait_until(lambda: list(tmp_path.glob("*.prom")) == [tmp_path / f"idgen-{stays.pid}.prom"])


def test_the_java_sample_serves_metrics(tmp_path):
    (sample,) = blocks("java")
    (jar,) = (BUILD / "dist").glob("idgen-*[0-9].jar")
    (tmp_path / "Watched.java").write_text(sample)
    port = free_port()
    with running("java", "-cp", jar, tmp_path / "Watched.java", str(port)) as process:
        text = when_up(f"http://{HOST}:{port}/metrics", process)
    assert f'process="{process.pid}@' in text
    run("promtool", "check", "metrics", input=text)


def test_the_shell_sample_reads_a_store(tmp_path):
    (sample,) = blocks("sh")
    path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
    printed = run("sh", "-e", "-c", sample, cwd=tmp_path, env={**os.environ, "PATH": path})
    assert printed.endswith('idgen_store_tag_max_id{store="sqlite:ids.db",namespace="default",tag="orders"} 0\n')


# ----------------------------------------------------------------------------------------------------- Prometheus


def test_alerts_come_when_they_should_and_only_then(tmp_path):
    shutil.copy(EXAMPLES / "alerts.yaml", tmp_path)
    shutil.copy(HERE / "alerts_test.yaml", tmp_path)
    run("promtool", "check", "rules", "alerts.yaml", cwd=tmp_path)
    assert "SUCCESS" in run("promtool", "test", "rules", "alerts_test.yaml", cwd=tmp_path)


def test_each_alert_is_shown_to_come_and_to_stay_away():
    groups = yaml.safe_load((EXAMPLES / "alerts.yaml").read_text())["groups"]
    names = {rule["alert"] for group in groups for rule in group["rules"]}
    cases = [
        case
        for test in yaml.safe_load((HERE / "alerts_test.yaml").read_text())["tests"]
        for case in test["alert_rule_test"]
    ]
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == names
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == names


def dashboard_expressions():
    dashboard = json.loads((EXAMPLES / "dashboard.json").read_text())
    assert dashboard["schemaVersion"] >= 36
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels), "two panels lie on each other"
    variables = sorted((variable["name"] for variable in dashboard["templating"]["list"]), key=len, reverse=True)
    for panel in panels:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "10s")
            for name in variables:  # the longest first: $namespace is not $name
                expression = expression.replace(f"${name}", ".*")
            assert "$" not in expression, f"a variable that the dashboard does not have: {expression}"
            yield panel["title"], expression


class Prometheus:
    def __init__(self, port):
        self.at = f"http://{HOST}:{port}"

    def series(self, expression):
        """How many the expression has now. Fails if it does not parse."""
        try:
            answer = json.loads(fetch(f"{self.at}/api/v1/query?" + urllib.parse.urlencode({"query": expression})))
        except urllib.error.HTTPError as refusal:
            raise AssertionError(f"{expression}: {refusal.read().decode()}") from None
        assert answer["status"] == "success", answer
        return len(answer["data"]["result"])

    def rules(self):
        groups = json.loads(fetch(f"{self.at}/api/v1/rules"))["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]


@pytest.fixture(scope="module")
def watched(started, tmp_path_factory):
    """Prometheus, which scrapes a process and what `idgen metrics` says of its store, every second."""
    folder = tmp_path_factory.mktemp("watched")
    service, own = free_port(), free_port()
    (folder / "ids.toml").write_text(
        '[orders]\nkind = "segment"\nnamespace = "shop"\nstore = "sqlite:ids.db"\n'
        '[events]\nnamespace = "shop"\nworker = 7\nstore = "sqlite:ids.db"\n'
    )
    rules = (EXAMPLES / "alerts.yaml").read_text()
    (folder / "alerts.yaml").write_text(rules)
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [alerts.yaml]\nscrape_configs:\n"
        + "".join(
            f"  - {{job_name: {name}, metrics_path: /{name}, static_configs: [{{targets: ['{HOST}:{service}']}}]}}\n"
            for name in ("metrics", "store")
        )
    )
    program = [sys.executable, HERE / "watching_service.py", str(service), folder, started("redis").url(), MODULES]
    server = [
        *("prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb"),
        f"--web.listen-address={HOST}:{own}",
    ]
    with running(*program) as process, (folder / "prometheus.log").open("w") as log:
        when_up(f"http://{HOST}:{service}/metrics", process)
        run(IDGEN, "metrics", "--config", "ids.toml", "--holders", "--output", "ids.prom", cwd=folder)
        with running(*server, stderr=log) as prometheus:
            when_up(f"http://{HOST}:{own}/-/ready", prometheus)
            yield Prometheus(own)


def test_each_expression_of_the_dashboard_has_series(watched):
    for title, expression in dashboard_expressions():
        wait_until(lambda e=expression: watched.series(e) > 0, what=f"{title}: {expression}")


def test_each_rule_is_evaluated_and_each_metric_in_it_is_there(watched):
    wait_until(lambda: all(rule["health"] == "ok" for rule in watched.rules()), what=str(watched.rules()))
    rules = watched.rules()
    assert len(rules) == len(re.findall("- alert:", (EXAMPLES / "alerts.yaml").read_text()))
    for rule in rules:
        for metric in set(re.findall(r"idgen_\w+", rule["query"])):
            wait_until(lambda m=metric: watched.series(m) > 0, what=f"{rule['name']}: {metric}")
    firing = {rule["name"] for rule in rules if rule["state"] == "firing"}
    assert not firing, "a service in health raises no alert"


def test_what_a_process_and_a_store_say_is_on_the_page_and_all_that_is_there_exists(watched):
    on_page = set(re.findall(r"`(idgen_\w+)`", PAGE.replace("`..._ids_left`", "")))
    calls = {"idgen_metrics"}
    said = {
        name
        for name in json.loads(fetch(f"{watched.at}/api/v1/label/__name__/values"))["data"]
        if name.startswith("idgen_")
    }
    only_after_a_failure = {"idgen_last_failure_timestamp_seconds"}
    only_on_servers = {"idgen_store_worker_clock_ahead_seconds"}
    assert said - on_page == set()
    assert on_page - calls - only_after_a_failure - only_on_servers - said == set()
