"""The README, CONTRIBUTING and the pages of docs/: the links and files that they name exist."""

import os
import re
from pathlib import Path

import pytest

from tests.warm_python import run_python

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "grader" / "README.md", ROOT / "grader" / "sandbox" / "README.md"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *FOLDERS, *sorted((ROOT / "docs").rglob("*.md"))]
# A path of this repository in backticks; `<name>`, `*` or `…` in it stand for something else.
PATH = re.compile(r"`((?:assets|benchmarks|docs|examples|grader|notebooks|solutions|source|tests)/[\w./-]*)`")
# Named, and rightly not here: a result that nobody has measured yet, what `make grade` writes, and the files that a
# reader is told to write or to build.
NOT_HERE = {
    "benchmarks/results/gpu.txt",
    "examples/graded/",
    "examples/graded",
    "grader/course/lesson_1/keep_largest.py",
    "solutions/1-convolution.py",
    "solutions/2-tables.py",
    "solutions/2-tables/2-tables.ipynb",
    "notebooks/2-tables/2-tables.ipynb",
    "notebooks/1-convolution/1-convolution.ipynb",
}
# A test of this repository: the file, and the function in it.
TEST = re.compile(r"`(tests/[\w./-]*\.py)::(\w+)`")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text("utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {path}, which is not there"
        if anchor:
            assert anchor in anchors(target), f"{page.name} links to {path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_is_named_exists(page: Path) -> None:
    for path in PATH.findall(page.read_text("utf-8")):
        assert path in NOT_HERE or (ROOT / path).exists(), f"{page.name} names {path}, which is not there"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_that_is_named_exists(page: Path) -> None:
    for path, name in TEST.findall(page.read_text("utf-8")):
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), f"{page.name} names {path}::{name}"


def test_the_pages_are_looked_at() -> None:
    names = {"README.md", "CONTRIBUTING.md", "design.md", "students.md", "instructors.md", "operators.md"}
    assert {page.name for page in PAGES} >= names
    assert sum(len(PATH.findall(page.read_text("utf-8"))) for page in PAGES) > 30


@pytest.mark.parametrize(
    ("page", "says"),
    [(FOLDERS[0], "1.3 PASSED 10.0"), (FOLDERS[1], "'y': tensor([2., 2.])")],
    ids=lambda value: value.parent.name if isinstance(value, Path) else "",
)
def test_the_program_of_a_folder_runs(page: Path, says: str, tmp_path: Path) -> None:
    [program] = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (tmp_path / "program.py").write_text(program, "utf-8")
    ran = run_python(str(tmp_path / "program.py"), folder=ROOT, environment=dict(os.environ))
    assert says in ran.out, ran.output
