"""Each test has a deadline."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from deadline import pytest_runtest_protocol  # noqa: F401
