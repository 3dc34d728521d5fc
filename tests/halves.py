"""The two halves of the suite: `make test` runs what is not marked `slow`, `make test-rest` what is.

A case may be slow where the fast half holds the same guarantee for another case:

    @pytest.mark.fast_cases("1.4")                           # of a parametrised test: all other cases are slow
    @pytest.mark.slow(held_by="tests/hostile/test_few.py::test_it")  # a whole test: that one holds the same, fast
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Case:
    """A collected test case, and what its marks say."""

    test: str  # the node id without the case's own id
    id: str  # of a parametrised test, "" otherwise
    slow: bool
    held_by: str  # the fast test that holds the guarantee of a slow one
    fast_cases: tuple[str, ...]

    @property
    def file(self) -> str:
        return self.test.partition("::")[0]


CASES = pytest.StashKey[list[Case]]()  # in a run's config: all that was collected, before `-m` takes some out


def mark_other_cases_slow(item: pytest.Item) -> None:
    """Mark a case slow if its test names the fast ones and not this one."""
    named = item.get_closest_marker("fast_cases")
    if named and case_id(item) not in named.args:
        item.add_marker("slow")


def case_id(item: pytest.Item) -> str:
    """Return what stands between the brackets of a node id."""
    return item.callspec.id if hasattr(item, "callspec") else ""


def read_case(item: pytest.Item) -> Case:
    """Read what a collected item's marks say."""
    marks = [mark for mark in item.iter_markers("slow") if mark.kwargs]
    named = item.get_closest_marker("fast_cases")
    id = case_id(item)
    return Case(
        test=item.nodeid.removesuffix(f"[{id}]"),
        id=id,
        slow=item.get_closest_marker("slow") is not None,
        held_by=marks[0].kwargs["held_by"] if marks else "",
        fast_cases=named.args if named else (),
    )


def unheld(cases: Iterable[Case]) -> list[str]:
    """List the files and the tests of which the fast half runs nothing, and the marks that name what is not there."""
    tests: dict[str, list[Case]] = defaultdict(list)
    files: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        tests[case.test].append(case)
        files[case.file].append(case)
    fast = {test for test, own in tests.items() if not all(case.slow for case in own)}
    problems = []
    for test, own in tests.items():
        holders = {case.held_by for case in own if case.held_by}
        problems += [f"{test}: held_by names {name}, which is no fast test" for name in holders - fast]
        if test not in fast and not holders:
            problems.append(f"{test}: all of its cases are slow; name the fast ones, or held_by=")
        missing = {id for case in own for id in case.fast_cases} - {case.id for case in own}
        problems += [f"{test}: fast_cases names {id}, which is no case of it" for id in sorted(missing)]
    for file, own in files.items():
        if all(case.slow and not case.held_by for case in own):
            problems.append(f"{file}: nothing of it is fast")
    return problems
