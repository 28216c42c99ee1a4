"""scripts/packages-wheel.py PURE TAG TARGET MODULE COMMAND PARTS FOLDER: writes a wheel into FOLDER for the Python of
that tag (cp312) on a target of scripts/packages: the files of the wheel PURE, the extension module, the idgen command,
and what scripts/packages-parts.py wrote of them into PARTS."""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

pure, tag, target, module, command, parts, folder = sys.argv[1:]
processor, _, libc = target.split("-")
platforms = (
    [f"musllinux_1_2_{processor}"] if libc == "musl" else [f"manylinux2014_{processor}", f"manylinux_2_17_{processor}"]
)

files: dict[str, bytes] = {}
with zipfile.ZipFile(pure) as archive:
    for name in archive.namelist():
        if not name.endswith(("/", "/RECORD")):
            files[name] = archive.read(name)
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
# The same files make the same wheel: sorted, and without the time.
with zipfile.ZipFile(Path(folder) / f"{release}-{tag}-{tag}-{'.'.join(platforms)}.whl", "w") as archive:
    for name, data in sorted(files.items(), key=lambda file: (".dist-info/" in file[0], file[0])):
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        mode = 0o755 if "/scripts/" in name or name.endswith(".so") else 0o644
        entry.external_attr = (0o100000 | mode) << 16
        archive.writestr(entry, data, compresslevel=9)
