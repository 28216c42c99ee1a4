"""Cases that take long: one of them a run; all of them when the file has its turn in CI (IDGEN_TEST_SLICE=all), or
with IDGEN_TEST_FULL=1. Else IDGEN_TEST_SLICE, a number, says which one."""

import os

FULL = os.environ.get("IDGEN_TEST_FULL") == "1"
SLICE = os.environ.get("IDGEN_TEST_SLICE", "0")


def one_of(cases):
    """For pytest.mark.parametrize."""
    cases = list(cases)
    return cases if FULL or SLICE == "all" else [cases[int(SLICE) % len(cases)]]
