"""Archives whose bytes depend on their files alone: not on the time, nor on the order in which the files were found."""

import zipfile
from collections.abc import Callable
from pathlib import Path


def read(path: str | Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The files, without the folders, of an archive."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/") and wanted(name)}


def write(path: str | Path, files: dict[str, bytes], position: Callable[[str], bool]) -> None:
    """Those of which `position` is false come first. Programs and libraries can be executed."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in sorted(files.items(), key=lambda file: (position(file[0]), file[0])):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if "/scripts/" in name or name.endswith(".so") else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data, compresslevel=9)
