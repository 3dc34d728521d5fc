"""The one error of this room."""


class RecordError(Exception):
    """A grade could not be recorded: what, where, and what to do next."""
