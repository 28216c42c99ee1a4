"""The image of examples/fastapi, built from its Dockerfile, and the manifests of examples/kubernetes.

There is no cluster: the manifests are checked against the API's schemas, and the commands of their containers are run
in the image as they say."""

import json
import os
import re

import idgen
import kubernetes_validate
import pytest
import yaml
from clients import new_tag
from deploying import ask_many, request, wait_for, wait_for_row
from hosts import ROOT
from images import Pod, build_service, store_of_images
from page import of

import servers

MANIFESTS = ROOT / "examples" / "kubernetes"
README = MANIFESTS / "README.md"
SECRET = re.compile(r"^kubectl create secret generic (\w+) --from-file=(\w+)=", re.MULTILINE)
VERSION = "1.37"


def manifests():
    return [made for path in sorted(MANIFESTS.glob("*.yaml")) for made in yaml.safe_load_all(path.read_text())]


def manifest(kind, name):
    (found,) = (made for made in manifests() if (made["kind"], made["metadata"]["name"]) == (kind, name))
    return found


def pod_of(made):
    return made["spec"]["template"]["spec"]


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    with store_of_images(tmp_path_factory) as images:
        build_service(images)
        yield images


@pytest.fixture(scope="session")
def root(image):
    return image.root("shop")


@pytest.fixture
def cluster(started, root, tmp_path):
    return Cluster(started, root, tmp_path)


class Cluster:
    """The servers, and pods with what the manifests give them."""

    def __init__(self, started, root, folder):
        self.root, self.folder = root, folder
        for above in (folder, *folder.parents[:3]):
            above.chmod(above.stat().st_mode | 0o011)
        postgres = started("postgres")
        name = new_tag()
        self.password = "s3cr3t"
        postgres.sql(f"CREATE ROLE {name} LOGIN PASSWORD '{self.password}'", database="postgres")
        postgres.sql(f"CREATE DATABASE {name} OWNER {name}", database="postgres")
        with (postgres.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host {name} {name} 127.0.0.1/32 scram-sha-256\n")
        postgres.sql("SELECT pg_reload_conf()", database="postgres")
        self.sql = lambda text: postgres.sql(text, database=name).split()
        self.addresses = [  # what has another name and port here
            ("shop@postgres/shop", f"{name}@{servers.HOST}:{postgres.port}/{name}"),
            ("redis://redis", started("redis").url() + "/6"),
        ]

    def pod(self, made, host):
        """(Pod, container) as the manifest has it."""
        spec = pod_of(made)
        (container,) = spec["containers"]
        environment = {"PATH": "/shop/venv/bin:/usr/bin:/bin"}
        for source in container["envFrom"]:
            environment |= manifest("ConfigMap", source["configMapRef"]["name"])["data"]
        for variable in container.get("env", []):
            named = variable.get("valueFrom") == {"fieldRef": {"fieldPath": "metadata.name"}}
            environment[variable["name"]] = host if named else variable["value"]
        for name, value in environment.items():
            for there, here in self.addresses:
                value = value.replace(there, here)
            environment[name] = value
        user = spec["securityContext"]["runAsUser"]
        mounts = {}
        for mount in container["volumeMounts"]:
            (volume,) = (volume for volume in spec["volumes"] if volume["name"] == mount["name"])
            if "secret" in volume:
                assert mount["readOnly"]
                mounts[mount["mountPath"]] = self.secret(volume["secret"], spec["securityContext"]["fsGroup"])
            else:
                assert mount["mountPath"] == "/tmp"
        is_read_only = container.get("securityContext", {}).get("readOnlyRootFilesystem", False)
        return Pod(self.root, self.folder, host, environment, mounts, user, is_read_only), container

    def secret(self, volume, group):
        """As the command of README.md makes it."""
        name, key = SECRET.search(README.read_text()).groups()
        assert volume["secretName"] == name
        folder = self.folder / name
        if not folder.exists():
            folder.mkdir()
            (folder / key).write_text(self.password)
            os.chown(folder / key, 0, group)
            (folder / key).chmod(volume["defaultMode"])
        return folder

    def run(self, made, host):
        pod, container = self.pod(made, host)
        return pod.run("sh", "-c", 'cd /shop && exec "$@"', "sh", *container["command"])

    def start(self, made, host, port=None):
        pod, container = self.pod(made, host)
        if port:  # all pods share this machine's network
            pod.environment["GUNICORN_CMD_ARGS"] = f"--bind=127.0.0.1:{port} --workers=1"
        command = container.get("command", ["gunicorn", "app:app"])
        return pod.start("sh", "-c", 'cd /shop && exec "$@"', "sh", *command)


def test_the_image_has_no_compiler_runs_as_nobody_special_and_draws_ids(image, root, tmp_path):
    assert image.of("shop", "{{.OCIv1.Config.User}}") == "10001"
    assert image.of("shop", "{{.OCIv1.Config.Cmd}}") == "[gunicorn app:app]"
    assert image.of("shop", "{{.OCIv1.Config.WorkingDir}}") == "/shop"
    pod = Pod(root, tmp_path, "any", {"PATH": "/shop/venv/bin:/usr/bin:/bin"})
    found = pod.run("sh", "-c", "for tool in cc gcc g++ c++ ld make cmake; do command -v $tool; done; id -u")
    assert found.split() == ["10001"]
    program = """
import idgen
with idgen.Generator(kind="segment", tag="t", store="memory", store_create=True) as ids:
    print(ids.next_batch(3).tolist())
try:
    idgen.Generator(kind="segment", tag="t", store="postgres://app@127.0.0.1:1/ids", wait_max="0ms")
except idgen.StoreUnavailableError as down:
    print(down)  # the module was loaded, and so was libpq
"""
    drawn, refused = pod.run("python", "-c", program).splitlines()
    assert drawn == "[1, 2, 3]"
    assert "127.0.0.1:1" in refused


def test_the_manifests_are_strictly_what_the_api_takes():
    found = manifests()
    kinds = {made["kind"] for made in found}
    assert kinds == {"ConfigMap", "Job", "Deployment", "StatefulSet", "Service", "PodDisruptionBudget"}
    for made in found:
        kubernetes_validate.validate(made, VERSION, strict=True)
    wrong = manifest("Deployment", "web")
    pod_of(wrong)["containers"][0]["livenessProbes"] = {}
    with pytest.raises(kubernetes_validate.ValidationError, match="livenessProbes"):
        kubernetes_validate.validate(wrong, VERSION, strict=True)


def test_what_the_manifests_name_is_there():
    for made in manifests():
        if "template" not in made["spec"] if "spec" in made else True:
            continue
        spec = pod_of(made)
        if "selector" in made["spec"]:
            labels = made["spec"]["template"]["metadata"]["labels"]
            assert made["spec"]["selector"]["matchLabels"].items() <= labels.items()
        for container in spec["containers"]:
            ports = {port["name"] for port in container.get("ports", [])}
            for probe in (container[key] for key in container if key.endswith("Probe")):
                assert probe["httpGet"]["port"] in ports
            for source in container["envFrom"]:
                manifest("ConfigMap", source["configMapRef"]["name"])
    assert manifest("StatefulSet", "web")["spec"]["serviceName"] == "web-pods"
    manifest("Service", "web-pods")


def test_what_is_applied_again_sets_no_password_back_and_is_there():
    applied = re.findall(r"-f (\S+\.yaml)", README.read_text())
    assert {*applied} == {path.name for path in MANIFESTS.glob("*.yaml")} - {"web-statefulset.yaml"}
    assert all("kind: Secret" not in path.read_text() for path in MANIFESTS.glob("*.yaml"))


def test_either_way_to_run_the_web_pods_leaves_their_service_and_their_budget_as_they_are():
    kinds = {
        name: {made["kind"] for made in yaml.safe_load_all((MANIFESTS / f"{name}.yaml").read_text())}
        for name in ("web", "web-statefulset", "web-service")
    }
    assert kinds["web"] == {"Deployment"}
    assert kinds["web-service"] == {"Service", "PodDisruptionBudget"}
    for made in (manifest("Deployment", "web"), manifest("StatefulSet", "web")):
        labels = made["spec"]["template"]["metadata"]["labels"]
        assert manifest("Service", "web")["spec"]["selector"].items() <= labels.items()
        assert manifest("PodDisruptionBudget", "web")["spec"]["selector"]["matchLabels"].items() <= labels.items()


def test_the_image_is_built_under_the_name_that_the_manifests_have():
    (build,) = (block.text for block in of("Docker", "console"))
    images = {container["image"] for made in manifests() if "template" in made.get("spec", {})
              for container in pod_of(made)["containers"]}  # fmt: skip
    assert images == {re.search(r"--tag (\S+)", build)[1]}


def test_a_pod_has_the_time_that_it_takes_to_stop():
    text = (ROOT / "examples" / "fastapi" / "gunicorn.conf.py").read_text()
    graceful = int(re.search(r"graceful_timeout = (\d+)", text)[1])
    for made in (manifest("Deployment", "web"), manifest("StatefulSet", "web")):
        (container,) = pod_of(made)["containers"]
        name, seconds = container["lifecycle"]["preStop"]["exec"]["command"]
        assert name == "sleep"
        assert pod_of(made)["terminationGracePeriodSeconds"] > int(seconds) + graceful
        probe = container["startupProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] > 60  # open_wait


def put(port, reference):
    return int(json.loads(request(f"http://127.0.0.1:{port}/orders/{reference}?again=true", "PUT"))["id"])


def test_pods_of_deployments_place_orders_and_again_by_tasks(cluster):
    for _ in range(2):  # a deployment runs it each time
        cluster.run(manifest("Job", "shop-create"), "shop-create-x2f")
    port = servers.free_port()
    health = pod_of(manifest("Deployment", "web"))["containers"][0]["readinessProbe"]["httpGet"]["path"]
    with (
        cluster.start(manifest("Deployment", "web"), "web-7d4b9c-qwz", port) as web,
        cluster.start(manifest("Deployment", "tasks"), "tasks-5c6d-x8k"),
    ):
        assert json.loads(wait_for(f"http://127.0.0.1:{port}{health}", web))["host"] == "web-7d4b9c-qwz"
        placed = [put(port, f"r{number}") for number in range(60)]
        wait_for_row(lambda: cluster.sql("SELECT count(*) FROM orders") == ["120"], what="the tasks have run")
    assert len(set(placed)) == 60
    ids = [int(id) for id in cluster.sql("SELECT id FROM events")]
    layout = idgen.Layout(manifest("ConfigMap", "shop")["data"]["IDGEN_EVENTS_LAYOUT"])
    assert len(set(ids)) == 120
    nodes = {(layout.decode(id).datacenter, layout.decode(id).worker) for id in ids}
    assert {datacenter for datacenter, _ in nodes} == {0, 1}


def test_pods_of_a_statefulset_have_the_numbers_of_their_names(cluster):
    cluster.run(manifest("Job", "shop-create"), "shop-create-9kf")
    made = manifest("StatefulSet", "web")
    layout = idgen.Layout(manifest("ConfigMap", "shop")["data"]["IDGEN_EVENTS_LAYOUT"])
    ports = [servers.free_port() for _ in range(2)]
    with cluster.start(made, "web-0", ports[0]) as first:
        with cluster.start(made, "web-1", ports[1]) as second:
            for port, pod in zip(ports, (first, second), strict=True):
                wait_for(f"http://127.0.0.1:{port}/health", pod)
            ask_many(f"http://127.0.0.1:{ports[1]}/orders/one", 1, "PUT")
        with cluster.start(made, "web-1", ports[1]) as moved:  # to another node of the cluster
            wait_for(f"http://127.0.0.1:{ports[1]}/health", moved)
            ask_many(f"http://127.0.0.1:{ports[1]}/orders/two", 1, "PUT")
        ask_many(f"http://127.0.0.1:{ports[0]}/orders/three", 1, "PUT")
    ids = [int(id) for id in cluster.sql("SELECT events.id FROM events JOIN orders ON order_id = orders.id "
                                         "ORDER BY reference")]  # one, three, two  # fmt: skip
    assert [layout.decode(id).worker for id in ids] == [1, 0, 1]
