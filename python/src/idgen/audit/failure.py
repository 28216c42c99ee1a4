"""The ways in which an audit ends without a report."""


class UsageError(Exception):
    """The command line is wrong: exit status 2."""


class Unreadable(Exception):
    """There is no answer: exit status 1."""
