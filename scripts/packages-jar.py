"""scripts/packages-jar.py JAR PARTS OUT TARGET=LIBRARY...: writes the jar OUT: JAR, with the libraries of these targets
of scripts/packages in place of its own, and what scripts/packages-parts.py wrote of them into PARTS."""

import sys
from pathlib import Path

import reproducible_zip

jar, parts, out, *libraries = sys.argv[1:]
files = reproducible_zip.read(jar, lambda name: not name.startswith("META-INF/native/"))
for library in libraries:
    target, file = library.split("=", 1)
    processor, system, libc = target.split("-")
    platform = f"{system}-{processor}{'-musl' if libc == 'musl' else ''}"  # as NativeLoader names it
    files[f"META-INF/native/{platform}/libidgen.so"] = Path(file).read_bytes()
for licence in Path(parts, "library").iterdir():
    files[f"META-INF/licenses/idgen/{licence.name}"] = licence.read_bytes()
files["META-INF/sbom/idgen.cdx.json"] = Path(parts, "library.cdx.json").read_bytes()
# Java reads the manifest where it is the first file.
reproducible_zip.write(out, files, lambda name: name != "META-INF/MANIFEST.MF")
