"""What a platform is told about a check: JUnit XML, GitHub's workflow commands, GitLab's code quality report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from grader.records import Grade, Outcome
from grader.report.ci import annotated, github, gitlab, junit
from tests.report.class_of_grades import ATTACKER, FAULT, FULL, HOSTILE, MISTAKEN, UNREADABLE, verdict

PATH = "work/1-attention.ipynb"
OFF = "5 queries, 7 keys, d_k = 3: weights: off by 0.49, allowed 1e-05"
SAID = f"0 of 15: Divide the scores by √d_k. {OFF}"
SOURCE = '{"cells": [\n{"source": ["# @exercise 1.10\\n"]},\n{"source": ["# @exercise 1.4\\n",\n"def attention"]}]}'
PRACTICE = replace(verdict(0, 0, message="off by 1"), id="1.P1", title="More", points=0.0, max_points=0.0)
COMMAND = re.compile(r"::error file=([^:,]*),line=(\d+),title=([^:,]*)::(.*)")


def cases(grade: Grade) -> tuple[ElementTree.Element, list[ElementTree.Element]]:
    (suite,) = ElementTree.fromstring(junit(grade, PATH))
    return suite, list(suite)


def as_the_runner_reads(line: str) -> list[str]:
    """Undo the escaping as src/Runner.Common/ActionCommand.cs of actions/runner does; % comes last."""
    match = COMMAND.fullmatch(line)
    assert match, line
    values = []
    for value in match.groups():
        for code in ("%0D", "%0A", "%3A", "%2C", "%25"):
            value = value.replace(code, chr(int(code[1:], 16)))
        values.append(value)
    return values


def test_each_exercise_is_a_test_case_with_its_message() -> None:
    suite, found = cases(MISTAKEN)
    assert [case.get("name") for case in found][3] == "1.4 Attention"
    assert {case.get("classname") for case in found} == {"1-attention"}
    assert {case.get("file") for case in found} == {PATH}
    assert [[part.tag for part in case] for case in found] == [["failure"] if place == 3 else [] for place in range(9)]
    assert found[3][0].get("message") == SAID
    assert found[3][0].text == SAID
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "9", "failures": "1", "errors": "0", "skipped": "0"}


def test_practice_is_skipped_and_not_annotated() -> None:
    practised = replace(FULL, verdicts=(*FULL.verdicts, PRACTICE))
    suite, found = cases(practised)
    assert [part.tag for part in found[-1]] == ["skipped"]
    assert found[-1][0].get("message") == "practice: off by 1"
    assert (suite.get("skipped"), suite.get("failures")) == ("1", "0")
    assert annotated(practised, SOURCE) == []


def test_what_is_not_solved_or_hangs_says_so() -> None:
    for outcome, words in ((Outcome.MISSING, "not solved"), (Outcome.TIMEOUT, "out of time")):
        one = replace(FULL, verdicts=(verdict(0, 0, outcome),))
        assert cases(one)[1][0][0].get("message") == f"0 of 5: {words}"


@pytest.mark.parametrize("grade", [UNREADABLE, FAULT])
def test_a_submission_that_was_not_graded_is_one_error(grade: Grade) -> None:
    suite, (case,) = cases(grade)
    assert [part.tag for part in case] == ["error"]
    assert case[0].get("message") == f"{grade.status}: {grade.message}"
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")
    assert [one.message for one in annotated(grade, "")] == [f"{grade.status}: {grade.message}"]


def test_github_gets_a_command_at_the_line_of_the_exercise() -> None:
    (line,) = github(annotated(MISTAKEN, SOURCE), PATH)
    assert line == f"::error file={PATH},line=3,title=1.4 Attention::{SAID}"
    (elsewhere,) = annotated(MISTAKEN, SOURCE.replace("1.4", "1.41"))
    assert elsewhere.line == 1


def test_nothing_in_a_message_ends_a_command_or_begins_one() -> None:
    title, message = "a,b: 50%2C\n::error::x", "100% of %0A\r\n::stop-commands::x"
    bad = replace(annotated(MISTAKEN, SOURCE)[0], title=title, message=message)
    (line,) = github([bad], "odd, name:1%.ipynb")
    assert len(line.splitlines()) == 1
    assert as_the_runner_reads(line) == ["odd, name:1%.ipynb", "3", title, message]


def test_gitlab_gets_a_finding_that_stays_the_same_until_it_is_mended() -> None:
    (finding,) = json.loads(gitlab(annotated(MISTAKEN, SOURCE), PATH))
    assert finding["location"] == {"path": PATH, "lines": {"begin": 3}}
    assert finding["description"] == f"1.4 Attention: {SAID}"
    assert (finding["check_name"], finding["severity"]) == ("1.4", "major")
    otherwise = replace(MISTAKEN, verdicts=tuple(replace(one, message="off by 2") for one in MISTAKEN.verdicts))
    (again,) = json.loads(gitlab(annotated(otherwise, SOURCE), PATH))
    assert again["description"] != finding["description"]
    assert again["fingerprint"] == finding["fingerprint"]
    untouched = replace(FULL, verdicts=tuple(verdict(place, 0, Outcome.MISSING) for place in range(9)))
    assert len({one["fingerprint"] for one in json.loads(gitlab(annotated(untouched, ""), PATH))}) == 9
    assert json.loads(gitlab(annotated(FULL, SOURCE), PATH)) == []


def test_hostile_text_is_well_formed_everywhere() -> None:
    _, found = cases(ATTACKER)
    assert len(found) == len(ATTACKER.verdicts)
    hostile = replace(FULL, verdicts=(verdict(0, 0, message=HOSTILE, excerpt=HOSTILE, hint=HOSTILE),))
    assert "\x1b" not in (cases(hostile)[1][0][0].text or "")
    for line in github(annotated(hostile, HOSTILE), PATH):
        line.encode("utf-8")
    json.loads(gitlab(annotated(hostile, HOSTILE), PATH))
