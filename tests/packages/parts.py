#!/usr/bin/env python3
"""tests/packages/parts.py BILL LICENCES BINARY: BILL is a CycloneDX list, the folder LICENCES has a text for each part
that it names, and BINARY was made of the SQLite and by the compiler that it names."""

import json
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

bill, licences, binary = (Path(argument) for argument in sys.argv[1:])
if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill.read_text()):
    sys.exit(f"{bill}: {error}")
versions = {part["name"]: part["version"] for part in json.loads(bill.read_text())["components"]}
texts = {file.name for file in licences.iterdir() if file.stat().st_size > 100}
if texts != {"LICENSE", *(f"{name}.txt" for name in versions)}:
    sys.exit(f"{licences} has {sorted(texts)}, and the parts are {sorted(versions)}")
inside = binary.read_bytes()
for sign in f"{versions['sqlite']}\0", f"clang version {versions['llvm']} ":
    if sign.encode() not in inside:
        sys.exit(f"{bill} names what is not in {binary}: {sign}")
print(f"ok - {binary} was made of what {bill} names: {versions}")
