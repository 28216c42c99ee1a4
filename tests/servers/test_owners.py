"""Ids that have an owner, drawn by processes in four languages from one tag at the same time.

IDGEN_OWNED: how many ids in all; otherwise as many as a test of every day can afford.
"""

import os
import shutil
import subprocess
import sys

import idgen
import numpy as np
import pytest
from hosts import BUILD, ROOT, go_variables

HERE = ROOT / "tests" / "servers" / "owners"
IDS = int(os.environ.get("IDGEN_OWNED", 16_000_000))
OWNERS = 1_000_003
PROCESSES = 8
PATIENT = 'wait_max = "10m"\nstore_timeout = "10m"\n'
SHARDS = 12


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """How each language's process is started."""

    def run(*words):
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    folder = tmp_path_factory.mktemp("owners")
    library = BUILD / "lib"
    headers = ROOT / "capi" / "include"
    run("cc", "-O2", f"-I{headers}", HERE / "draw.c", "-o", folder / "draw-c", f"-L{library}", "-lidgen",
        f"-Wl,-rpath,{library}")  # fmt: skip
    run("javac", "-cp", ROOT / "java/target/classes", "-d", folder, HERE / "Draw.java")
    variables = ["env", f"CGO_LDFLAGS=-Wl,-rpath,{library}", *map("=".join, go_variables().items())]
    run(*variables, "go", "build", "-tags", "idgen_system", "-o", folder / "draw-go", "./tests/servers/owners/go")
    classes = os.pathsep.join(map(str, (ROOT / "java/target/classes", folder)))
    return (
        [folder / "draw-c"],
        [sys.executable, HERE / "draw.py"],
        ["java", f"-Didgen.native.path={library / 'jar' / 'libidgen.so'}", "-cp", classes, "Draw"],
        [folder / "draw-go"],
    )


def genes_of_all_owners():
    layout = idgen.Layout("business64")
    return np.array([layout.gene(owner) for owner in range(OWNERS)], dtype=np.uint64)


def test_processes_in_four_languages_never_get_an_id_twice_and_agree_on_each_owners_shard(programs, tmp_path):
    toml = tmp_path / "idgen.toml"
    toml.write_text('[orders]\nkind = "business"\nstore = "sqlite:ids.db"\nsegment.step = 100000\n' + PATIENT)
    idgen.segment_create(store=f"sqlite:{tmp_path}/ids.db", store_create=True, tag="orders")
    each = IDS // PROCESSES // 4096 * 4096
    seeds = [place * 123_457 for place in range(PROCESSES)]
    processes = [
        subprocess.Popen(
            [*map(str, programs[place % 4]), toml, "orders", str(each), str(seed), tmp_path / f"{place}.ids"]
        )
        for place, seed in enumerate(seeds)
    ]
    for process in processes:
        assert process.wait(1200) == 0, process.args

    genes = genes_of_all_owners()
    shard_of_gene = np.arange(2**16, dtype=np.uint64) * SHARDS >> np.uint64(16)
    highest = idgen.segment_show(store=f"sqlite:{tmp_path}/ids.db", tag="orders").max_id
    seen = np.zeros(highest + 1, dtype=bool)
    total = 0
    counts = np.zeros(SHARDS)
    for place, seed in enumerate(seeds):
        ids = np.fromfile(tmp_path / f"{place}.ids", dtype=np.uint64)
        assert ids.size == each
        owners = (np.arange(each) + seed) % OWNERS
        assert np.array_equal(ids >> np.uint64(47), genes[owners]), "the gene is the owner's"
        segments = ids & np.uint64(2**42 - 1)
        assert not seen[segments].any(), "nobody else has it"
        seen[segments] = True
        total += each
        counts += np.bincount(shard_of_gene[ids >> np.uint64(47)].astype(np.int64), minlength=SHARDS)
        (tmp_path / f"{place}.ids").unlink()
    assert int(seen.sum()) == total, "each is there once"
    # Owners are what is spread, not ids: about 10^6 of them on 12 shards.
    assert np.abs(counts / total * SHARDS - 1).max() < 0.02, counts
    print(f"{total} ids of {PROCESSES} processes in four languages, none twice; by shard {counts.astype(int).tolist()}")
    shutil.rmtree(tmp_path)
