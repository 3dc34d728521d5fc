"""The zip for students: the same bytes every time, all that they need, and no answer in it."""

import ast
import inspect
import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement

from grader.build.errors import BuildError
from grader.build.links import linked_pages
from grader.build.student_zip import handed_out, student_zip
from grader.course import lessons
from grader.paths import notebook_path
from tests.answers_as_code import made_by_an_edit

ROOT = Path(__file__).resolve().parents[2]
NAME = "attention-course"
LESSONS = lessons()
EXERCISES = [(name, exercise.id) for name, lesson in LESSONS.items() for exercise in lesson.exercises]
DOCUMENTED = (ast.Module, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
# The second hint of 3.2 says it in these words, and the carry-on cell needs it.
SAID = {
    "super().__init__()\nself.embedding = nn.Parameter(torch.randn(n, d_model))",
    "super().__init__()\nself.self_attn = MultiHeadAttention(d_model, num_heads)",  # 4.15 names the part
}
SHORT = 40  # characters of code; below it, an idiom that anybody writes


@cache
def members() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(student_zip(ROOT)[1])) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def copy(to: Path) -> Path:
    """What the bundle is made from, in another folder."""
    for name in ("notebooks", "assets", "docs"):
        shutil.copytree(ROOT / name, to / name)
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, to / name)
    return to


def test_it_holds_what_students_need_and_nothing_else() -> None:
    figures = {f"assets/{path.name}" for path in (ROOT / "assets").iterdir() if path.suffix in (".svg", ".png")}
    pages = {"README.md", "LICENSE", "requirements.txt", "environment.yml"}
    notebooks = {f"{name}.ipynb" for name, lesson in LESSONS.items() if not lesson.optional}
    assert len(notebooks) == 3 < len(LESSONS)  # the lab is handed out later
    linked = {name for lesson in LESSONS for name in linked_pages(notebook_path(ROOT, lesson).read_text("utf-8"))}
    assert set(members()) == {f"{NAME}/{path}" for path in figures | pages | notebooks | linked}
    assert len(figures) > 3


def test_it_is_the_same_byte_for_byte_wherever_and_whenever_it_is_made(tmp_path: Path) -> None:
    there = copy(tmp_path)
    for path in there.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o700)
    assert student_zip(there) == student_zip(ROOT)


def test_students_install_what_the_notebooks_import_and_no_grader() -> None:
    lines = members()[f"{NAME}/requirements.txt"].decode().splitlines()
    needed = {Requirement(line).name: Requirement(line) for line in lines if not line.startswith("#")}
    assert set(needed) == {"torch", "numpy", "matplotlib", "scikit-learn", "jupyterlab", "ipywidgets"}
    assert all(one.specifier for one in needed.values())
    environment = yaml.safe_load(members()[f"{NAME}/environment.yml"])
    assert {"pip": ["-r requirements.txt"]} in environment["dependencies"]


def test_its_first_page_leads_nowhere_that_is_not_in_it() -> None:
    page = members()[f"{NAME}/README.md"].decode()
    links = re.findall(r"\]\((?!https?:|#)([^)]+)\)", page)
    assert [link for link in links if f"{NAME}/{link}" not in members()] == []
    for name in LESSONS:
        assert name in page


def test_its_first_page_is_true_in_the_zip_and_in_the_repository() -> None:
    held = members()
    page = held[f"{NAME}/README.md"].decode()
    zip_part, _, clone_part = page.partition("**In a clone of the repository**")
    for file in re.findall(r"-[rf] ([\w.]+)", zip_part):
        assert f"{NAME}/{file}" in held, file
    (environment,) = set(re.findall(r"conda activate ([\w-]+)", zip_part))
    assert yaml.safe_load(held[f"{NAME}/environment.yml"])["name"] == environment
    assert "make " not in zip_part  # there is no Makefile in the zip
    targets = re.findall(r"`make ([a-z]+)`", clone_part)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert {"lab", "students"} == set(targets)
    assert all(f"\n{target}: " in makefile for target in targets)


def test_what_was_never_built_is_named(tmp_path: Path) -> None:
    there = copy(tmp_path)
    (there / "notebooks/2-heads/2-heads.ipynb").unlink()
    with pytest.raises(BuildError, match=r"2-heads\.ipynb is missing; run: grader build"):
        student_zip(there)


def test_a_page_to_which_a_notebook_leads_lies_beside_it(tmp_path: Path) -> None:
    there = copy(tmp_path)
    (there / "docs/words.md").write_text("# Words\n")
    path = there / "notebooks/1-attention/1-attention.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = "See the [words](../../docs/words.md)."
    nbformat.write(notebook, path)
    with zipfile.ZipFile(io.BytesIO(student_zip(there)[1])) as archive:
        assert archive.read(f"{NAME}/words.md") == b"# Words\n"
        assert "See the [words](words.md)." in archive.read(f"{NAME}/1-attention.ipynb").decode()


@pytest.mark.parametrize(("repository", "refused"), [("your.account/course", True), ("a/b", False), ("", False)])
def test_the_placeholder_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: str, refused: bool
) -> None:
    there = copy(tmp_path / "course")
    (there / "solutions").mkdir()
    project = there / "pyproject.toml"
    text = re.sub(r"(?m)^repository = .*$", f'repository = "{repository}"', project.read_text("utf-8"))
    project.write_text(text, "utf-8")
    monkeypatch.setenv("GRADER_COURSE", str(there))
    if refused:
        with pytest.raises(BuildError, match=r'set repository = "account/name" under \[tool\.course\]') as error:
            handed_out(there)
        assert "\n" not in str(error.value)
    else:
        name, content = handed_out(there)
        assert name == NAME
        assert zipfile.is_zipfile(io.BytesIO(content))


# ---------------------------------------------------------------- no answer is in it


def normal(code: str) -> str:
    """Code as Python reads it: without comments and docstrings, and laid out in one way."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def bodies(code: str) -> Iterator[str]:
    """The body of every function and method in it, normalised, where it says more than an idiom."""
    todo = [*ast.parse(normal(code)).body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.ClassDef):
            todo += node.body
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            text = "\n".join(ast.unparse(inner) for inner in node.body)
            if len(text) >= SHORT and text not in SAID:
                yield text


def code_of(notebook: bytes) -> str:
    cells = nbformat.reads(notebook.decode(), as_version=4).cells
    return "\n".join(
        re.sub(r"^([%!?].*)$", "", cell.source, flags=re.MULTILINE).replace("from __future__ import annotations", "")
        for cell in cells
        if cell.cell_type == "code"
    )


@cache
def bundled() -> str:
    """All code of the bundle, normalised."""
    books = [content for name, content in members().items() if name.endswith(".ipynb")]
    return "\n".join(normal(code_of(book)) for book in books)


@cache
def given() -> str:
    """All code that students get, in the bundle or later, normalised."""
    later = [notebook_path(ROOT, name).read_bytes() for name, one in LESSONS.items() if one.optional]
    return "\n".join([bundled(), *(normal(code_of(book)) for book in later)])


def unindented(text: str) -> str:
    """Without indentation: a function's body is found wherever it stands."""
    return re.sub(r"^\s+", "", text, flags=re.MULTILINE)


def leaks(secret: Iterable[str], where: str) -> list[str]:
    there = unindented(where)
    return [one for one in secret if unindented(one) in there]


def solution(assignment: str, id: str) -> list[str]:
    """What the solution of an exercise adds to the cell that the student gets."""
    solved, unsolved = (
        nbformat.read(ROOT / folder / assignment / f"{assignment}.ipynb", as_version=4).cells
        for folder in ("solutions", "notebooks")
    )
    name = f"exercise-{id.replace('.', '-')}"
    given, asked = (next(cell.source for cell in cells if cell.id == name) for cells in (solved, unsolved))
    return [body for body in bodies(given) if body not in set(bodies(asked))]


@pytest.mark.parametrize(("assignment", "id"), EXERCISES)
def test_no_solution_is_in_it(assignment: str, id: str) -> None:
    assert leaks(solution(assignment, id), given()) == []


def test_the_search_finds_solutions_where_they_are() -> None:
    there = {name: code_of((ROOT / f"solutions/{name}/{name}.ipynb").read_bytes()) for name in LESSONS}
    found = {name: normal(code) for name, code in there.items()}
    secret = {id: (assignment, solution(assignment, id)) for assignment, id in EXERCISES}
    assert [id for id, (name, bodies) in secret.items() if leaks(bodies, found[name]) != bodies] == []
    silent = [id for id, (_, bodies) in secret.items() if not bodies]
    assert len(silent) <= 3, f"too short to be told from an idiom: {silent}"


def sources(*definitions: object) -> Iterator[str]:
    for definition in definitions:
        if inspect.isfunction(definition) or inspect.isclass(definition):
            yield inspect.cleandoc("\n" + inspect.getsource(definition))


def shown_on_purpose() -> list[str]:
    """Lesson 3 goes on with lesson 2's practice, which has no points, and shows broken code for the student to repair."""
    book = nbformat.read(ROOT / "notebooks" / "3-vlm" / "3-vlm.ipynb", as_version=4)
    broken = [cell.source for cell in book.cells if cell.id.startswith("broken-")]
    assert len(broken) == 3
    patterns = (ROOT / "source" / "attention" / "patterns.py").read_text("utf-8")
    return [body for source in (patterns, *broken) for body in bodies(source)]


@pytest.mark.parametrize("assignment", LESSONS)
def test_no_reference_and_no_mistake_is_in_it(assignment: str) -> None:
    lesson = LESSONS[assignment]
    asked = {name for exercise in lesson.exercises for name in exercise.defines}
    references = [definition for name, definition in lesson.reference.items() if name in asked]
    mistakes = [
        wrong
        for exercise in lesson.exercises
        for mistake in exercise.mistakes
        for wrong in mistake.replaces.values()
        if not made_by_an_edit(wrong)  # but for the edit it is the reference
    ]
    secret = [body for source in sources(*references, *mistakes) for body in bodies(source)]
    assert len(secret) >= len(lesson.exercises)
    shown = shown_on_purpose()
    # The lab works with what the lessons before it built, and is handed out when they have been handed in.
    where = given() if lesson.optional else bundled()
    assert [leak for leak in leaks(secret, where) if not any(leak in one for one in shown)] == []
    docstrings = [inspect.getdoc(one) or "" for one in references]
    text = " ".join(json.dumps(given(), ensure_ascii=False).split())
    assert [one for one in docstrings if len(one) > 60 and " ".join(one.split()) in text] == []


@pytest.mark.parametrize("assignment", LESSONS)
def test_no_function_that_draws_hidden_inputs_is_in_it(assignment: str) -> None:
    """The self-check tries what the grader tries, on numbers of its own; how the grader's are drawn stays here."""
    package = import_module(f"grader.course.lesson_{assignment[0]}")
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    drawing = [
        value
        for module in (package, *modules)
        for name, value in vars(module).items()
        if name.startswith("draw") and inspect.isfunction(value) and value.__module__.startswith("grader.course")
    ]
    assert drawing
    assert leaks([body for source in sources(*drawing) for body in bodies(source)], given()) == []


def test_no_secret_and_no_path_of_the_grader_is_in_it() -> None:
    for name, content in members().items():
        for word in (b"BEGIN SOLUTION", b"grader.course", b"GRADER_SECRET", b"import grader", b"from attention"):
            assert word not in content, f"{word} in {name}"
