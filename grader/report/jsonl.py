"""Grades as JSON: one object per line, the contract's keys and what else a Grade holds; lossless."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from math import isfinite
from typing import Any

from grader import __version__
from grader.records import CheckResult, Flag, Grade, Heatmap, Outcome, Verdict


def to_json(grade: Grade) -> str:
    """One line. ASCII, so that no character of a submission can end the line or break an encoding."""
    return json.dumps(to_record(grade), allow_nan=False)


def from_json(line: str) -> Grade:
    """The grade that `to_json` wrote.

    Raises:
        ValueError: the line is no grade.
    """
    try:
        return from_record(json.loads(line))
    except json.JSONDecodeError as error:
        raise ValueError(f"this is no grade: not JSON ({error}). Grade again with --force.") from error


def to_record(grade: Grade) -> dict[str, Any]:
    """The grade as JSON values: a Grade's `verdicts` are the contract's `exercises`."""
    record = _values(grade)
    del record["verdicts"]
    return {
        **record,
        "grader_version": __version__,
        "exercises": [_verdict(verdict) for verdict in grade.verdicts],
        "flags": [_values(flag) for flag in grade.flags],
    }


def from_record(record: Mapping[str, Any]) -> Grade:
    """The grade that `to_record` wrote. Keys that this version does not know are left out.

    Raises:
        ValueError: a key that a grade needs is not there.
    """
    try:
        values = _known(Grade, record)
        values["flags"] = tuple(Flag(**_known(Flag, flag)) for flag in record.get("flags", ()))
        return Grade(**values, verdicts=tuple(_from_verdict(one) for one in record.get("exercises", ())))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no grade: {error}. Grade again with --force.") from error


def _verdict(verdict: Verdict) -> dict[str, Any]:
    record = _values(verdict)
    record["checks"] = [_values(check) for check in verdict.checks]
    record["other"] = _verdict(verdict.other) if verdict.other else None
    record["heatmaps"] = [
        {"title": one.title, "got": _numbers(one.got), "expected": _numbers(one.expected)}
        for one in verdict.heatmaps
    ]
    return record


def _from_verdict(record: Mapping[str, Any]) -> Verdict:
    values = _known(Verdict, record)
    values["outcome"] = Outcome(values["outcome"])
    values["notes"] = tuple(record.get("notes", ()))
    values["stand_ins"] = tuple(record.get("stand_ins", ()))
    values["other"] = _from_verdict(record["other"]) if record.get("other") else None
    values["checks"] = tuple(
        CheckResult(**{**_known(CheckResult, one), "outcome": Outcome(one["outcome"])})
        for one in record.get("checks", ())
    )
    values["heatmaps"] = tuple(
        Heatmap(title=one["title"], got=_matrix(one["got"]), expected=_matrix(one["expected"]))
        for one in record.get("heatmaps", ())
    )
    return Verdict(**values)


@cache
def _names(record_type: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(record_type))


def _values(one: Any) -> dict[str, Any]:
    return {name: getattr(one, name) for name in _names(one.__class__)}


def _known(record_type: type, record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in _names(record_type) if name in record}


def _numbers(matrix: tuple[tuple[float, ...], ...]) -> list[list[float | str]]:
    # JSON has no NaN and no infinity; float() reads these words back.
    return [[value if isfinite(value) else str(value) for value in row] for row in matrix]


def _matrix(rows: list[list[float | str]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(value) for value in row) for row in rows)
