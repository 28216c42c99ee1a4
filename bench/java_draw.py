"""The machine code of one draw in Java: java_draw.py [JAVA]. Prints what the virtual machine has made of
Generator.next(), from the words' address up to where it returns.

It needs the results of scripts/build and scripts/dist, those of `bench/run peers` (its Java program), and objdump.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PEERS = ROOT / "bench" / "peers" / "java" / "target"
BEFORE, AFTER = 8, 16  # instructions that are shown beside the atomic one
HEX = re.compile(r"\s+0x([0-9a-f]+): ([0-9a-f |]+)$")


def compiled(java: str) -> str:
    """The latest code that the second compiler made of it."""
    words = [java, "--enable-native-access=ALL-UNNAMED", f"-Didgen.library={ROOT}/build/lib/libidgen.so"]
    words += ["-XX:+UnlockDiagnosticVMOptions", "-XX:CompileCommand=print,dev.idgen.Generator::next"]
    words += ["-cp", f"{PEERS}/classes:{ROOT}/java/target/idgen-0.1.0.jar:{PEERS}/lib/*"]
    words += ["dev.idgen.peers.Peers", "counter", "3"]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    made = [part for part in re.split(r"(?m)^Compiled method ", out) if part.startswith("(c2)")]
    return made[-1]


def machine_code(text: str) -> bytes:
    code = bytearray()
    first = None
    for line in text[text.index("[MachCode]") :].split("\n"):
        if not (found := HEX.match(line)):
            continue
        at = int(found[1], 16)
        first = at if first is None else first
        found_code = bytes.fromhex(re.sub(r"[^0-9a-f]", "", found[2]))
        code += b"\x90" * (at - first - len(code)) + found_code
    return bytes(code)


def main() -> None:
    code = machine_code(compiled(sys.argv[1] if len(sys.argv) > 1 else "java"))
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        objdump = ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "--no-show-raw-insn", file.name]
        lines = subprocess.run(objdump, capture_output=True, text=True, check=True).stdout.split("\n")
    step = next(i for i, line in enumerate(lines) if "lock xadd" in line)
    print("\n".join(lines[step - BEFORE : step + AFTER]))


main()
