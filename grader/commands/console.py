"""Prints results on standard output, and everything else on standard error."""

from collections.abc import Collection
from dataclasses import dataclass

from rich.console import Console

from grader.complaint import Complaint


@dataclass(frozen=True)
class Terminal:
    """Standard output and standard error of a command."""

    out: Console
    err: Console

    def say(self, text: object) -> None:
        """Print a line on standard output. Brackets in the text have no special meaning."""
        self.out.print(str(text), markup=False, soft_wrap=True)

    def complain(self, text: object) -> None:
        """Print a problem, or a remark, on standard error, after the prefix "grader: "."""
        self.err.print(f"grader: {text}", markup=False, soft_wrap=True)

    def note(self, text: object) -> None:
        """Print a line on standard error, without the prefix."""
        self.err.print(str(text), markup=False, soft_wrap=True)


def check_assignment(assignment: str | None, known: Collection[str]) -> None:
    """Raise Complaint if an assignment is unknown. None means all assignments, and is always accepted."""
    if assignment is not None and assignment not in known:
        raise Complaint(f"there is no assignment {assignment!r}. Choose one of {', '.join(known)}.")
