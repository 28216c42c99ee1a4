"""scripts/packages-wheel.py PURE TAG TARGET MODULE COMMAND PARTS FOLDER: writes a wheel into FOLDER for the Python of
that tag (cp312) on a target of scripts/packages: the files of the wheel PURE, the extension module, the idgen command,
and what scripts/packages-parts.py wrote of them into PARTS."""

import base64
import hashlib
import re
import sys
from pathlib import Path

import reproducible_zip

pure, tag, target, module, command, parts, folder = sys.argv[1:]
processor, _, libc = target.split("-")
platforms = (
    [f"musllinux_1_2_{processor}"] if libc == "musl" else [f"manylinux2014_{processor}", f"manylinux_2_17_{processor}"]
)

files = reproducible_zip.read(pure, lambda name: not name.endswith("/RECORD"))
info = next(name for name in files if name.endswith(".dist-info/WHEEL"))
release = info.removesuffix(".dist-info/WHEEL")
lines = [line for line in files[info].decode().splitlines() if not re.match("Tag:|Root-Is-Purelib:|$", line)]
lines += ["Root-Is-Purelib: false", *(f"Tag: {tag}-{tag}-{platform}" for platform in platforms), ""]
files[info] = "\n".join(lines).encode()
licences = sorted(Path(parts, "wheel").iterdir())
for licence in licences:
    files[f"{release}.dist-info/licenses/{licence.name}"] = licence.read_bytes()
metadata = f"{release}.dist-info/METADATA"
named = "".join(f"License-File: {licence.name}\n" for licence in licences)
files[metadata] = files[metadata].replace(b"License-Expression:", named.encode() + b"License-Expression:", 1)
files[f"{release}.dist-info/sboms/idgen.cdx.json"] = Path(parts, "wheel.cdx.json").read_bytes()
files["idgen/_core.so"] = Path(module).read_bytes()
files[f"{release}.data/scripts/idgen"] = Path(command).read_bytes()

record = [
    f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
    for name, data in sorted(files.items())
]
name = f"{release}.dist-info/RECORD"
files[name] = "\n".join([*record, f"{name},,", ""]).encode()
wheel = Path(folder) / f"{release}-{tag}-{tag}-{'.'.join(platforms)}.whl"
reproducible_zip.write(wheel, files, lambda name: ".dist-info/" in name)
