"""scripts/packages-parts.py FOLDER SQLITE ZIG: what others wrote of what scripts/packages makes. Writes, in FOLDER, a
CycloneDX list of it for the library and one for a wheel, and a folder with all licences of each. SQLITE is the source
that is compiled in, ZIG the compiler."""

import json
import re
import shutil
import subprocess
import sys
import uuid
from importlib import metadata
from pathlib import Path

folder, sqlite, zig = (Path(argument) for argument in sys.argv[1:])
ROOT = Path(__file__).parents[1]


def numbers(header: str, name: str) -> str:
    return ".".join(re.findall(rf"define {name}_(?:MAJOR|MINOR|PATCH) (\d+)", Path(header).read_text()))


def component(name: str, version: str, licence: str) -> dict[str, object]:
    of = {"type": "library", "name": name, "version": version, "bom-ref": name}
    if name == "sqlite":  # by which reports of its faults name it
        of["cpe"] = f"cpe:2.3:a:sqlite:sqlite:{version}:*:*:*:*:*:*:*"
    return of | {"purl": f"pkg:generic/{name}@{version}", "licenses": [{"expression": licence}]}


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.DOTALL)
    assert match, f"{pattern} is not there"
    return match[1]


idgen = found('VERSION_STRING "(.*?)"', (ROOT / "capi/include/idgen/version.h").read_text())
amalgamation = sqlite.read_text()
compiler = subprocess.run([zig, "c++", "--version"], capture_output=True, text=True, check=True).stdout
pybind11 = metadata.distribution("pybind11")
(pybind11_licence,) = (file for file in pybind11.files or [] if file.name == "LICENSE")
debian = Path("/usr/share/doc")

# Name, version, SPDX licence, its text.
LIBRARY = [
    ("sqlite", found(r'define SQLITE_VERSION +"(.*?)"', amalgamation), "blessing",
     found(r"\*\* (The author disclaims.*?\n)\*{9}", amalgamation).replace("** ", "").replace("**", "")),
    ("tomlplusplus", numbers("/usr/include/toml++/impl/version.h", "TOML_LIB"), "MIT",
     (debian / "libtomlplusplus-dev/copyright").read_text()),
    # libc++, libc++abi, libunwind and compiler-rt, as zig brings them.
    ("llvm", found(r"clang version ([\d.]+)", compiler), "Apache-2.0 WITH LLVM-exception",
     (zig.parent / "lib/libcxx/LICENSE.TXT").read_text()),
]  # fmt: skip
WHEEL = [
    *LIBRARY,
    ("pybind11", pybind11.version, "BSD-3-Clause", Path(str(pybind11_licence.locate())).read_text()),
    ("cli11", numbers("/usr/include/CLI/Version.hpp", "CLI11_VERSION"), "BSD-3-Clause",  # of the command
     (debian / "libcli11-dev/copyright").read_text()),
]  # fmt: skip

for name, parts in ("library", LIBRARY), ("wheel", WHEEL):
    licences = folder / name
    shutil.rmtree(licences, ignore_errors=True)
    licences.mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", licences)
    for part, _, _, text in parts:
        (licences / f"{part}.txt").write_text(text)
    bill = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": component("idgen", idgen, "Apache-2.0")},
        "components": [component(*part[:3]) for part in parts],
        "dependencies": [{"ref": "idgen", "dependsOn": [part for part, *_ in parts]}],
    }  # fmt: skip
    # The same parts have the same number, so that the same sources make the same files.
    bill["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill))}"
    (folder / f"{name}.cdx.json").write_text(json.dumps(bill, indent=2) + "\n")
