"""``idgen-audit``: were ids of a dump issued twice, and why? docs/audit.md has the contract.

Needs DuckDB and NumPy: ``pip install 'idgen[audit]'``. Not an interface for programs: they use ``--json``.
"""

from __future__ import annotations

import sys

_EXIT_FAILURE = 1


def main(words: list[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    try:
        import duckdb  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        print(
            f"idgen-audit: error: {error.name or 'a package'} cannot be imported ({error}). Install what an audit "
            f"needs: {sys.executable} -m pip install 'idgen[audit]'",
            file=sys.stderr,
        )
        return _EXIT_FAILURE
    from .command import main as run

    return run(words)
