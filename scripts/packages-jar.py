"""scripts/packages-jar.py JAR PARTS OUT TARGET=LIBRARY...: writes the jar OUT: JAR, with the libraries of these targets
of scripts/packages in place of its own, and what scripts/packages-parts.py wrote of them into PARTS."""

import sys
import zipfile
from pathlib import Path

jar, parts, out, *libraries = sys.argv[1:]
files: dict[str, bytes] = {}
with zipfile.ZipFile(jar) as archive:
    for name in archive.namelist():
        if not name.startswith("META-INF/native/") and not name.endswith("/"):
            files[name] = archive.read(name)
for library in libraries:
    target, file = library.split("=", 1)
    processor, system, libc = target.split("-")
    platform = f"{system}-{processor}{'-musl' if libc == 'musl' else ''}"  # as NativeLoader names it
    files[f"META-INF/native/{platform}/libidgen.so"] = Path(file).read_bytes()
for licence in Path(parts, "library").iterdir():
    files[f"META-INF/licenses/idgen/{licence.name}"] = licence.read_bytes()
files["META-INF/sbom/idgen.cdx.json"] = Path(parts, "library.cdx.json").read_bytes()

# The same files make the same jar: sorted, and without the time. The manifest is first, as Java reads it.
with zipfile.ZipFile(out, "w") as archive:
    for name, data in sorted(files.items(), key=lambda file: (file[0] != "META-INF/MANIFEST.MF", file[0])):
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o100644 << 16
        archive.writestr(entry, data, compresslevel=9)
