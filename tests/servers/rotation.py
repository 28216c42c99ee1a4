"""Cases that take long: one of them a run, or all with IDGEN_TEST_FULL=1. IDGEN_TEST_SLICE says which one."""

import os

FULL = os.environ.get("IDGEN_TEST_FULL") == "1"
SLICE = int(os.environ.get("IDGEN_TEST_SLICE", "0"))


def one_of(cases):
    """For pytest.mark.parametrize."""
    cases = list(cases)
    return cases if FULL else [cases[SLICE % len(cases)]]
