"""What a grade's key depends on: the submission, the settings, the notebook, and the grader's own code."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from grader.classes.workers.job import Course, JobMaker, code_digest, graded_sources, source_digest
from grader.records import GradingSettings
from grader.submission.file import SubmissionFile

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "changed",
    [{"secret": "b"}, {"device": "cuda"}, {"tier": "none"}, {"run_all": True}, {"content": "{ }"}, {"draft": True}],
)
def test_what_a_grade_depends_on_is_in_its_key(tmp_path: Path, changed: dict) -> None:
    def key(content: str = "{}", draft: bool = False, **settings: object) -> str:
        file = tmp_path / "1-attention.ipynb"
        file.write_text(content)
        chosen = GradingSettings(**{"secret": "a", "device": "cpu", "tier": "full", **settings})
        make_job = JobMaker(Course(root=ROOT, settings=chosen))
        return make_job(SubmissionFile("zoë", "1-attention", tmp_path, (file.name,), draft=draft)).key

    assert key() == key()
    assert key() != key(**changed)


def test_the_student_notebook_is_in_the_code_digest() -> None:
    assert code_digest(b"one") == code_digest(b"one")
    assert code_digest(b"one") != code_digest(b"another")


@pytest.fixture
def sources(tmp_path: Path) -> tuple[Path, Path]:
    """A copy of grader/ and attention/, to change."""
    ignore = shutil.ignore_patterns("__pycache__")
    return (
        shutil.copytree(ROOT / "grader", tmp_path / "grader", ignore=ignore),
        shutil.copytree(ROOT / "source" / "attention", tmp_path / "attention", ignore=ignore),
    )


def test_a_new_module_that_grading_imports_is_in_the_code_digest(sources: tuple[Path, Path]) -> None:
    module = sources[0] / "brand_new" / "rules.py"
    module.parent.mkdir()
    grading = sources[0] / "grading" / "grade.py"
    grading.write_text("from grader.brand_new import rules\n" + grading.read_text("utf-8"), "utf-8")
    before = source_digest(*sources)
    module.write_text("BONUS = 0\n")
    planted = source_digest(*sources)
    module.write_text("BONUS = 1\n")
    assert len({before, planted, source_digest(*sources)}) == 3


@pytest.mark.parametrize("file", ["records.py", "sandbox/guest/init.py", "course/lesson_1/__init__.py"])
def test_a_changed_module_of_grading_is_in_the_code_digest(sources: tuple[Path, Path], file: str) -> None:
    before = source_digest(*sources)
    with (sources[0] / file).open("a") as module:
        module.write("\n# changed\n")
    assert source_digest(*sources) != before


def test_a_changed_reference_is_in_the_code_digest(sources: tuple[Path, Path]) -> None:
    before = source_digest(*sources)
    with (sources[1] / "masks.py").open("a") as module:
        module.write("\n# changed\n")
    assert source_digest(*sources) != before


@pytest.mark.parametrize(
    "file",
    ["report/page.py", "report/brand_new.py", "classes/results/writer.py", "cli.py", "shipped/solutions/lesson.py"],
)
def test_what_is_done_with_a_grade_is_not_in_the_code_digest(sources: tuple[Path, Path], file: str) -> None:
    before = source_digest(*sources)
    (sources[0] / file).parent.mkdir(parents=True, exist_ok=True)
    with (sources[0] / file).open("a") as module:
        module.write("\n# changed\n")
    assert source_digest(*sources) == before


def imported_modules(file: Path) -> set[str]:
    """Name the modules that a file may import, at its top level and inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_grading_imports_nothing_that_the_code_digest_leaves_out() -> None:
    """NOT_IN_A_GRADE is kept by hand: whoever imports one of its modules for a grade must take it off the list."""
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in (ROOT / "grader").rglob("*.py")
    }
    reached, unread = set(), ["grader.grading.grade", "grader.course"]
    unread += [name for name in files if name.startswith("grader.course.")]  # imported by name
    while unread:
        name = unread.pop()
        if name in files and name not in reached:
            reached.add(name)
            unread += imported_modules(files[name])
    counted = set(graded_sources(ROOT / "grader"))
    assert len(reached) > 40
    assert sorted(name for name in reached if files[name] not in counted) == []
