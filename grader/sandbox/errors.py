"""Errors of the sandbox that concern the operator or are faults of the grader, never of a submission."""

from grader.complaint import Complaint


class IsolationError(Complaint):
    """The sandbox is not available or did not start; the message names the next step."""


class ServerLost(Exception):
    """The fork server died while it served a submission: a fault of the grader."""
