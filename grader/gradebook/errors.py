"""The errors of this room."""


class RecordError(Exception):
    """A grade could not be recorded: what, where, and what to do next."""


class StudentNameError(RecordError):
    """One student's name cannot be recorded. The others' can: go on with them."""
