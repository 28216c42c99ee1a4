"""scripts/packages-headers.py FOLDER: copies the headers of the interpreter that runs this into FOLDER, and writes its
path into FOLDER/interpreter. Fails where it is not CPython with the GIL, or has no headers."""

import shutil
import sys
import sysconfig
from pathlib import Path

include = Path(sysconfig.get_path("include"))
if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit("not a CPython with the GIL")
if not (include / "Python.h").exists():
    sys.exit(f"no Python.h in {include}")
folder = Path(sys.argv[1])
shutil.copytree(include, folder, dirs_exist_ok=True)
# Debian's own pyconfig.h includes that of the architecture which it is compiled for, and there is only this one.
own = include.parent / str(sysconfig.get_config_var("MULTIARCH")) / include.name / "pyconfig.h"
if own.exists():
    shutil.copy(own, folder)
(folder / "interpreter").write_text(str(Path(sys.prefix) / "bin" / Path(sys.executable).name))
