"""Converts grades to JSON lines, one line for each grade, and back without loss."""

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from math import isfinite
from typing import Any

from grader import __version__
from grader.records import CheckResult, Flag, Grade, GradebookEntry, Heatmap, Outcome, Verdict, Written


def to_json(grade: Grade) -> str:
    """Return a grade as one line of JSON, without the newline.

    The line is ASCII, so that no character of a submission can end the line or break an encoding.
    """
    return json.dumps(to_record(grade), allow_nan=False)


def entry_to_json(entry: GradebookEntry) -> str:
    """Return a gradebook entry, the gradebook's record of one submission, as one line of JSON.

    The line contains the grade, and nbgrader's data about it below the key "gradebook".
    """
    said = {
        "name": entry.student.name,
        "email": entry.student.email,
        "status": entry.status,
        "score": entry.score,
        "raw_score": entry.raw_score,
        "max_score": entry.max_score,
        "penalty": entry.penalty,
        "seconds_late": entry.seconds_late,
        "needs_manual_grade": entry.needs_manual_grade,
        "fault": entry.fault,
        "cells": {name: _values(cell) for name, cell in entry.cells.items()},
    }
    return json.dumps({**to_record(entry.grade), "gradebook": said}, allow_nan=False)


def from_json(line: str) -> Grade:
    """Return the grade in a line that `to_json` wrote.

    Raises:
        ValueError: the line is not a grade.
    """
    try:
        return from_record(json.loads(line))
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not a grade: not JSON ({error}). Grade again with --force.") from error


def to_record(grade: Grade) -> dict[str, Any]:
    """Return a grade as a dict of JSON values, in which the field `verdicts` has the key `exercises`."""
    record = _values(grade)
    del record["verdicts"]
    return {
        **record,
        "grader_version": __version__,
        "exercises": [_verdict(verdict) for verdict in grade.verdicts],
        "flags": [_values(flag) for flag in grade.flags],
        "written": [_values(written) for written in grade.written],
    }


def from_record(record: Mapping[str, Any]) -> Grade:
    """Return the grade in a dict that `to_record` made. Ignore unknown keys.

    Raises:
        ValueError: a key is missing.
    """
    try:
        values = _fields_in(Grade, record)
        values["flags"] = tuple(Flag(**_fields_in(Flag, flag)) for flag in record.get("flags", ()))
        values["written"] = tuple(Written(**_fields_in(Written, written)) for written in record.get("written", ()))
        return Grade(**values, verdicts=tuple(map(_read_verdict, record.get("exercises", ()))))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is not a grade: {error}. Grade again with --force.") from error


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain values for JSON. Every field is present, with None for a missing value."""
    record = _values(verdict)
    record["checks"] = [_values(check) for check in verdict.checks]
    record["other"] = _verdict(verdict.other) if verdict.other else None
    record["heatmaps"] = [
        {"title": heatmap.title, "got": _numbers(heatmap.got), "expected": _numbers(heatmap.expected)}
        for heatmap in verdict.heatmaps
    ]
    return record


def _read_verdict(record: Mapping[str, Any]) -> Verdict:
    values = _fields_in(Verdict, record)
    values["outcome"] = Outcome(values["outcome"])
    values["notes"] = tuple(record.get("notes", ()))
    values["stand_ins"] = tuple(record.get("stand_ins", ()))
    values["other"] = _read_verdict(record["other"]) if record.get("other") else None
    values["checks"] = tuple(
        CheckResult(**{**_fields_in(CheckResult, check), "outcome": Outcome(check["outcome"])})
        for check in record.get("checks", ())
    )
    values["heatmaps"] = tuple(
        Heatmap(title=heatmap["title"], got=_matrix(heatmap["got"]), expected=_matrix(heatmap["expected"]))
        for heatmap in record.get("heatmaps", ())
    )
    return Verdict(**values)


@cache
def _field_names(record_type: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(record_type))


def _values(value: Any) -> dict[str, Any]:
    """Return a record's fields by name. Fields that contain records stay records."""
    return {name: getattr(value, name) for name in _field_names(value.__class__)}


def _fields_in(record_type: type, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return those entries of a mapping whose keys are fields of the record type."""
    return {name: record[name] for name in _field_names(record_type) if name in record}


def _numbers(matrix: tuple[tuple[float, ...], ...]) -> list[list[float | str]]:
    # JSON has no NaN and no infinity: write their names, which float() reads in `_matrix`.
    return [[value if isfinite(value) else str(value) for value in row] for row in matrix]


def _matrix(rows: list[list[float | str]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(value) for value in row) for row in rows)
