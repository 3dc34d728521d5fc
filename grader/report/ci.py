"""Reports failures to a platform that runs the grader after each push to a repository.

The formats are JUnit XML, GitHub's workflow commands and GitLab's code quality report. Exercises
without points are practice. If such an exercise is wrong, JUnit XML lists it as skipped, and the
other two formats leave it out.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from xml.etree.ElementTree import Element, SubElement, tostring

from grader.records import Grade, Outcome, Verdict
from grader.report.text import SYMBOLS, clean, clean_lines, kind, number
from grader.submission.cells import with_marker


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """A message about an exercise, and the line of the notebook's file to which it belongs."""

    check: str  # exercise id, or the assignment where the submission was not graded
    title: str
    message: str
    line: int


def junit(grade: Grade, path: str) -> bytes:
    """Return JUnit XML with a test case for each exercise.

    If the submission was not graded, there is a single test case with an error.
    """
    suite = Element("testsuite", name=clean(grade.assignment), time=f"{grade.seconds:.3f}")
    common = {"classname": clean(grade.assignment), "file": clean(path)}
    if grade.status != "graded":
        case = SubElement(suite, "testcase", {"name": clean(grade.assignment), **common})
        SubElement(case, "error", message=_why(grade)).text = _why(grade)
    else:
        for verdict in grade.verdicts:
            seconds = sum(check.seconds for check in verdict.checks)
            case = SubElement(suite, "testcase", {"name": _named(verdict), "time": f"{seconds:.3f}", **common})
            if verdict.outcome is not Outcome.PASSED:
                outcome = SubElement(case, "failure" if verdict.max_points else "skipped", message=_said(verdict))
                outcome.text = f"{_said(verdict)}\n{clean_lines(verdict.excerpt)}".strip()
    for name, part in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(1 for _ in suite.iter(part))))
    suites = Element("testsuites")
    suites.append(suite)
    return tostring(suites, encoding="utf-8", xml_declaration=True)


def annotated(grade: Grade, source: str) -> list[Annotation]:
    """Return an annotation for each exercise that lacks points, or one annotation if nothing was graded.

    Args:
        source: the text of the notebook's file. Its line "# @exercise …" gives an exercise's line
            number.
    """
    if grade.status != "graded":
        return [Annotation(check=clean(grade.assignment), title=clean(grade.assignment), message=_why(grade), line=1)]
    lacking = [one for one in grade.verdicts if one.max_points and one.outcome is not Outcome.PASSED]
    return [
        Annotation(check=one.id, title=_named(one), message=_said(one), line=_line(source, one.id)) for one in lacking
    ]


def github(found: Sequence[Annotation], path: str) -> list[str]:
    """Return GitHub's workflow commands, one line for each annotation.

    No text in a message can act as a command. The runner reads both output streams, see
    https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
    """
    return [
        f"::error file={_escaped(path)},line={one.line},title={_escaped(one.title)}::{_escaped(one.message, ':,')}"
        for one in found
    ]


def gitlab(found: Sequence[Annotation], path: str) -> str:
    """Return GitLab's code quality report, GitLab's only report that shows a message at a line of a file.

    A fingerprint names the exercise and not the error, so a merge request shows which exercises
    were fixed. See https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
    """
    report = [
        {
            "description": f"{one.title}: {one.message}",
            "check_name": one.check,
            "fingerprint": sha256(f"{path}\x1f{one.check}".encode("utf-8", "surrogateescape")).hexdigest(),
            "severity": "major",
            "location": {"path": path, "lines": {"begin": one.line}},
        }
        for one in found
    ]
    return json.dumps(report, indent=1) + "\n"


def _escaped(text: str, allowed: str = "") -> str:
    """Return text in which no character ends a workflow command or a value of it.

    Args:
        allowed: characters that stay as they are.
    """
    for character in "%\r\n:,":
        if character not in allowed:
            text = text.replace(character, f"%{ord(character):02X}")
    return text


def _line(source: str, id: str) -> int:
    """Return the number of the line with an exercise's marker, or 1 if the file does not contain the marker."""
    marker = re.search(rf"{re.escape(with_marker(id, '').strip())}(?![\w.])", source)
    return source.count("\n", 0, marker.start()) + 1 if marker else 1


def _named(verdict: Verdict) -> str:
    return clean(f"{verdict.id} {verdict.title}")


def _said(verdict: Verdict) -> str:
    """Return the points, the likely cause and the observation of an exercise on one line."""
    worth = f"{number(verdict.points)} of {number(verdict.max_points)}" if verdict.max_points else "practice"
    said = " ".join(filter(None, (verdict.hint, verdict.message)))
    return clean(f"{worth}: {said or SYMBOLS[kind(verdict)][1]}")


def _why(grade: Grade) -> str:
    return clean(f"{grade.status}: {grade.message}")
