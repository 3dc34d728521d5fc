"""What the pages say that each tier needs is what the code asks for."""

import re
from pathlib import Path

import pytest

from grader.sandbox.tiers import LINUX, TIERS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ROW = re.compile(r"^\| (full|partial|none) \|(.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/operators.md"])
def test_a_table_of_tiers_names_the_kernel_that_the_code_needs(page: str) -> None:
    rows = dict(ROW.findall((ROOT / page).read_text("utf-8")))
    assert tuple(rows) == TIERS
    for tier, row in rows.items():
        assert re.findall(r"Linux ≥ (\d+\.\d+)", row) == [LINUX[tier]], f"{page}: {tier}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_names_another_kernel(page: Path) -> None:
    named = set(re.findall(r"Linux(?: ≥)? (\d+\.\d+)", page.read_text("utf-8")))
    assert named <= set(LINUX.values())


@pytest.mark.parametrize("page", ["README.md", "docs/operators.md", "docs/instructors.md", "docs/design.md"])
def test_each_page_that_speaks_of_it_says_that_grading_needs_linux(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert re.search(r"Grading needs Linux|macOS and Windows\*\* reach no tier|tiers, all on Linux", text)
