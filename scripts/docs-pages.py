"""docs-pages.py FOLDER: writes the input from which mkdocs makes the HTML of the documentation: README.md as the first
page, docs/*.md, and mkdocs.yml. Links between pages stay links; a link to any other file becomes its text."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# In the order in which a newcomer would read them.
PAGES = {
    "README.md": "idgen",
    "docs/guarantees.md": "What is guaranteed",
    "docs/python.md": "Python",
    "docs/java.md": "Java",
    "docs/go.md": "Go",
    "docs/testing.md": "Testing",
    "docs/c-api.md": "C",
    "docs/command-line.md": "Command line",
    "docs/deploying.md": "Deploying",
    "docs/configuration.md": "Configuration",
    "docs/statuses.md": "Statuses",
    "docs/stores.md": "Stores",
    "docs/runbooks.md": "Runbooks",
    "docs/layouts.md": "Layouts",
    "docs/planning.md": "Which ids: three teams",
    "docs/business-ids.md": "Business ids",
    "docs/routing.md": "Shard routing",
    "docs/text.md": "Ids as text",
    "docs/serials.md": "Serial numbers",
    "docs/standard-ids.md": "UUID, ULID, ObjectId",
    "docs/hidden-ids.md": "Hidden ids",
    "docs/audit.md": "Audit",
    "docs/watching.md": "Watching",
    "docs/performance.md": "Performance",
    "docs/architecture.md": "Architecture",
    "docs/simulation.md": "Simulation",
    "docs/models.md": "Models",
    "CONTRIBUTING.md": "Contributing",
    "CHANGELOG.md": "Changelog",
}


def name_of(page: str) -> str:
    return "index.md" if page == "README.md" else Path(page).name


def with_links(page: str) -> str:
    """The page's text, with its links as they are in the folder that mkdocs reads."""

    def link(found: re.Match[str]) -> str:
        text, target = found[1], found[2]
        if target.startswith(("http://", "https://", "#")):
            return found[0]
        path, hash_, anchor = target.partition("#")
        wanted = os.path.normpath(Path(page).parent / path)
        return f"[{text}]({name_of(wanted)}{hash_}{anchor})" if wanted in PAGES else text

    fenced = re.compile(r"^```.*?^```$", re.M | re.S)
    source = (ROOT / page).read_text(encoding="utf-8")
    parts, end = [], 0
    for block in fenced.finditer(source):
        parts += [re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", link, source[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", link, source[end:])])


def main(folder: Path) -> None:
    unlisted = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} - PAGES.keys() - {"docs/README.md"}
    if unlisted:
        sys.exit(f"docs-pages.py: not in the list of pages: {', '.join(sorted(unlisted))}")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pages").mkdir(parents=True)
    for page in PAGES:
        (folder / "pages" / name_of(page)).write_text(with_links(page), encoding="utf-8")
    settings = {  # JSON is YAML
        "site_name": "idgen",
        "docs_dir": "pages",
        "use_directory_urls": False,
        "plugins": ["search"],
        "theme": {"name": "mkdocs", "color_mode": "auto", "highlightjs": False},
        "nav": [{title: name_of(page)} for page, title in PAGES.items()],
        "validation": {"links": {"anchors": "warn"}},
    }
    (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
