#!/usr/bin/env python3
"""Copies the core's sources for the simulator, with the faults of faults.txt in them, each behind a switch.

    plant.py ROOT OUT FILE...

Writes OUT/FILE for each FILE below ROOT, and OUT/planted_faults.inc, the table of faults. The sources themselves know
nothing of this: what users get is compiled from the files as they are. In a copy

  - every std::atomic of the hot page, and every one that says which page that is, is one whose steps the test sees
    (planted.hpp);
  - every text that faults.txt names is replaced by one with a switch, which is off unless a test turns it on.

A text that faults.txt names and that is not in its file, or is there twice, is an error: the line has changed, and its
fault with it.
"""

import itertools
import re
import sys
from pathlib import Path

FAULTS = Path(__file__).with_name("faults.txt")
# Those whose atomics a test steps through.
STEPPED = {
    "core/include/idgen/handle.hpp",
    "core/src/generator/generator.hpp",
    "core/src/reserve/counter.hpp",
    "core/src/reserve/hot_page.hpp",
}


class Mistake(Exception):
    pass


def read_faults(text: str) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str, int]]]:
    """Faults (name, who must catch it, what it is) and edits (file, old, new, line). See the top of faults.txt."""
    faults: list[tuple[str, str, str]] = []
    edits: list[tuple[str, str, str, int]] = []
    file, old, new, began = "", [], [], 0
    in_simulator = set()

    def end_edit() -> None:
        if old or new:
            if not (file and old and new):
                raise Mistake(f"faults.txt:{began}: an edit needs a file, what it replaces (-) and what by (+)")
            edits.append((file, "\n".join(old), "\n".join(new), began))
        old.clear()
        new.clear()

    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("-"):
            if new:
                end_edit()
            began = number if not old else began
            old.append(line[2:])
        elif line.startswith("+"):
            new.append(line[2:])
        elif line.startswith("    ") and faults and not faults[-1][2]:
            faults[-1] = (*faults[-1][:2], line.strip())
        elif not line.strip() or line.startswith("#"):
            end_edit()
        elif found := re.fullmatch(r"fault (\w+) (search|simulation|relaxed)( in the simulator)?", line):
            end_edit()
            faults.append((found[1], found[2], ""))
            if found[3]:
                in_simulator.add(found[1])
        elif found := re.fullmatch(r"in (\S+)", line):
            end_edit()
            file = found[1]
        else:
            raise Mistake(f"faults.txt:{number}: {line!r} is not understood")
    end_edit()
    for name, _, what in faults:
        if not what:
            raise Mistake(f"faults.txt: {name} is not described")
        if name not in in_simulator and not any(f"FAULT({name})" in new for _, _, new, _ in edits):
            raise Mistake(f"faults.txt: {name} is planted nowhere")
    for _, _, new, line in edits:
        for used in re.findall(r"FAULT\((\w+)\)", new):
            if all(used != name for name, _, _ in faults):
                raise Mistake(f"faults.txt:{line}: {used} is not declared")
    return faults, edits


def planted(file: str, text: str, edits: list[tuple[str, str, str, int]]) -> str:
    places: list[tuple[int, int, str]] = []
    for _, old, new, line in edits:
        count = text.count(old)
        if count != 1:
            raise Mistake(
                f"faults.txt:{line}: this text is in {file} {count} times, not once:\n{old}\n"
                "Write there how the fault looks in the present source"
            )
        start = text.index(old)
        places.append((start, start + len(old), re.sub(r"\bFAULT\(", "IDGEN_FAULT(", new)))
    places.sort()
    for one, other in itertools.pairwise(places):
        if one[1] > other[0]:
            raise Mistake(f"faults.txt: two edits of {file} overlap: {text[other[0] : other[1]]!r}")
    for start, end, new in reversed(places):
        text = text[:start] + new + text[end:]
    if file in STEPPED:
        text = text.replace("std::atomic<", "::idgen::planted::Atomic<")
    return text


def write(path: Path, text: str) -> None:
    """Leaves a file alone that is right already: what includes it is then not compiled again."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main() -> int:
    root, out, files = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    try:
        faults, edits = read_faults(FAULTS.read_text())
        for file in {edit[0] for edit in edits} - set(files):
            raise Mistake(f"faults.txt: there is no {file}")
        for file in files:
            text = planted(file, (root / file).read_text(), [edit for edit in edits if edit[0] == file])
            head = f'#include "sim/planted.hpp"\n#line 1 "{root / file}"\n'
            write(out / file, head + text)
        rows = "".join(f'FAULT({name}, {by}, "{what}")\n' for name, by, what in faults)
        write(out / "planted_faults.inc", rows)
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
