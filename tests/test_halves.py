"""The fast half of the suite, which is `make test`, holds at least one case of every guarantee."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.halves import CASES, Case, unheld

ROOT = Path(__file__).resolve().parents[1]
# Collects everything in a process of its own, for a run that did not.
COLLECT = """
import json, sys
from pathlib import Path
from dataclasses import asdict
import pytest
from tests.halves import CASES

class Tell:
    def pytest_collection_finish(self, session):
        Path(sys.argv[1]).write_text(json.dumps([asdict(case) for case in session.config.stash[CASES]]))

sys.exit(pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", "tests"], plugins=[Tell()]))
"""


@pytest.fixture(scope="module")
def cases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """Every case of the suite."""
    here = request.config.stash[CASES]
    if all_but_the_browsers() <= {case.file for case in here}:
        return here
    told = tmp_path_factory.mktemp("cases") / "cases.json"
    ran = subprocess.run(
        [sys.executable, "-c", COLLECT, str(told)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return [Case(**{**one, "fast_cases": tuple(one["fast_cases"])}) for one in json.loads(told.read_text("utf-8"))]


def test_the_fast_half_holds_a_case_of_every_guarantee(cases: list[Case]) -> None:
    assert len(cases) > 5000
    assert {case.slow for case in cases} == {True, False}
    assert unheld(cases) == []


def test_every_file_of_tests_is_run(cases: list[Case]) -> None:
    """But where there is no browser: its files are skipped as they are collected."""
    assert all_but_the_browsers() - {case.file for case in cases} == set()


def all_but_the_browsers() -> set[str]:
    """Name the files of tests that are run everywhere."""
    files = {str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("test_*.py")}
    return {file for file in files if not file.startswith("tests/browser/")}


FAST = Case("tests/test_a.py::test_fast", "", False, "", ())


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        (Case("tests/test_a.py::test_b", "", True, "", ()), "all of its cases are slow"),
        (Case("tests/test_a.py::test_b", "1.1", True, "", ("1.1", "1.2")), "names 1.2, which is no case of it"),
        (Case("tests/test_a.py::test_b", "", True, "tests/test_a.py::test_c", ()), "names tests/test_a.py::test_c"),
        (Case("tests/test_a.py::test_b", "", True, "tests/test_a.py::test_b", ()), "which is no fast test"),
    ],
)  # fmt: skip
def test_a_guarantee_that_only_slow_cases_hold_is_seen(case: Case, problem: str) -> None:
    assert any(problem in line for line in unheld([FAST, case]))


def test_a_slow_test_that_a_fast_one_stands_for_is_allowed() -> None:
    assert unheld([FAST, Case("tests/test_b.py::test_c", "", True, FAST.test, ())]) == []


def test_a_slow_case_beside_a_fast_one_is_allowed() -> None:
    both = [Case("tests/test_b.py::test_c", id, id == "2", "", ("1",)) for id in ("1", "2")]
    assert unheld(both) == []
