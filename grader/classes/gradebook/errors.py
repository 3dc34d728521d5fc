"""Errors of recording a grade, in the gradebook or in a file."""

from grader.complaint import Complaint


class RecordError(Complaint):
    """A grade could not be recorded; the message says what, where, and what to do next."""


class StudentNameError(RecordError):
    """One student's name cannot be recorded; the other students' grades can."""
