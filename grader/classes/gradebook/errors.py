"""Errors of recording a grade, in the gradebook or in a file."""


class RecordError(Exception):
    """A grade could not be recorded; the message says what, where, and what to do next."""


class StudentNameError(RecordError):
    """One student's name cannot be recorded; the other students' grades can."""
