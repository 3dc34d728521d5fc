"""`grader export`: the kept grades in a service's format."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from grader.build.autograder import autograder
from grader.course import lessons
from grader.report.export import export
from grader.secret import SecretError, course_secret
from grader.store import Store


def run(
    service: str, *, root: Path, to: Path | None, assignment: str | None, out: Console, err: Console
) -> int:
    """Write the export; returns the exit status."""
    grades = [
        grade for grade in Store(root / ".grader" / "grades").all() if assignment in (None, grade.assignment)
    ]
    if not grades:
        err.print("grader: no grade is kept here yet; run: grader grade PATH", markup=False, soft_wrap=True)
        return 2
    text = export(service, grades)
    if to is None:
        out.file.write(text)
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, "utf-8", newline="")
        err.print(f"wrote {to}", markup=False, soft_wrap=True)
    return 0


def write_autograder(
    to: Path, *, root: Path, assignment: str | None, isolation: str, out: Console, err: Console
) -> int:
    """Write the zip that grades one assignment at Gradescope; returns the exit status."""
    known = tuple(lessons())
    if assignment not in known:
        said = f"no assignment {assignment!r}" if assignment else "which assignment? Pass --assignment"
        err.print(f"grader: {said}; there are {', '.join(known)}", markup=False, soft_wrap=True)
        return 2
    try:
        content = autograder(root, assignment=assignment, isolation=isolation, secret=course_secret(root))
    except (SecretError, FileNotFoundError) as error:
        err.print(f"grader: {error}", markup=False, soft_wrap=True)
        return 2
    to.parent.mkdir(parents=True, exist_ok=True)
    to.touch(mode=0o600)
    to.chmod(0o600)  # the secret is in it
    to.write_bytes(content)
    out.print(
        f"wrote {to}: it holds the course secret and the reference; upload it to Gradescope alone",
        markup=False,
        soft_wrap=True,
    )
    return 0
