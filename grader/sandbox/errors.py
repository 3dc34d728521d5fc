"""Errors of the sandbox. They concern the operator or are faults of the grader; a submission never causes them."""

from grader.complaint import Complaint


class IsolationError(Complaint):
    """The sandbox is not available or did not start. The message names the next step."""


class ServerLost(Exception):
    """The fork server died while it served a submission: a fault of the grader."""
