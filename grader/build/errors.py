"""Errors of the builder."""

from grader.complaint import Complaint


class BuildError(Complaint):
    """A lesson's script and its declaration do not fit together. The message names the place and the next step."""
