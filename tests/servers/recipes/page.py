"""The samples of docs/deploying.md."""

import os
import re
import subprocess
from dataclasses import dataclass

from clients import patience
from hosts import ROOT

PAGE = ROOT / "docs" / "deploying.md"


@dataclass(frozen=True)
class Block:
    heading: str
    language: str
    name: str  # of the file that it is, if the line before says so: `web.py`:
    text: str


def blocks():
    heading, name, language, lines = "", "", None, []
    for line in PAGE.read_text().splitlines():
        if fence := re.fullmatch(r"```(\w*)", line):
            if language is None:
                language, lines = fence[1], []
            else:
                yield Block(heading, language, name, "\n".join(lines) + "\n")
                language, name = None, ""
        elif language is not None:
            lines.append(line)
        elif line.startswith("## "):
            heading = line[3:]
        elif line:
            named = re.search(r"`([^`]+)`:$", line)
            name = named[1] if named else ""


def of(heading, language):
    found = [block for block in blocks() if block.heading == heading and block.language == language]
    assert found, f"{PAGE.name} has no {language} under '{heading}'"
    return found


def code_of(heading, language):
    return [block.text for block in of(heading, language)]


def run_command(text, folder, **environment):
    """What it prints."""
    done = subprocess.run(
        ["bash", "-euc", text], cwd=folder, env={**os.environ, **environment},
        capture_output=True, text=True, check=False, timeout=patience(900),
    )  # fmt: skip
    assert done.returncode == 0, (text + done.stdout + done.stderr)[-8000:]
    return done.stdout
