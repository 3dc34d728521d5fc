"""The built notebooks: they run alone, and the student's holds no answer."""

import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import nbformat
import pytest
from jupyter_client.channels import AsyncZMQSocketChannel
from nbclient import NotebookClient
from nbformat import NotebookNode

from grader.course import lessons
from grader.submission.cells import check_cell
from tests.answers_as_code import made_by_an_edit
from tests.asking import ask
from tests.few_steps import shorten

ROOT = Path(__file__).resolve().parents[2]
LESSONS = list(lessons())


def book(folder: str, name: str) -> NotebookNode:
    return nbformat.read(ROOT / folder / name / f"{name}.ipynb", as_version=4)


@pytest.fixture(scope="session")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with Matplotlib's list of fonts, made here: a list in the home may be of another machine."""
    folder = tmp_path_factory.mktemp("matplotlib")
    environment = {**os.environ, "MPLCONFIGDIR": str(folder)}
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True, env=environment)
    return folder


@pytest.fixture(autouse=True)
def settings(fonts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLCONFIGDIR", str(fonts))


@pytest.fixture(autouse=True)
def asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AsyncZMQSocketChannel, "get_msg", ask)


def run_alone(
    notebook: NotebookNode, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, NotebookNode]:
    """Run a notebook in an empty folder, where this project cannot be imported; returns the errors by cell id."""
    hidden = folder / "hidden"
    for package in ("attention", "grader"):
        (hidden / package).mkdir(parents=True)
        (hidden / package / "__init__.py").write_text(f'raise ImportError("{package} is not here")')
    here = folder / "empty"
    here.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(hidden))
    NotebookClient(
        notebook,
        allow_errors=True,
        timeout=1200,
        kernel_name="python3",
        resources={"metadata": {"path": here}},
    ).execute()
    return {
        cell.id: output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    }


# The lab measures for half a minute; that it runs, its example class holds in the fast half. Lesson 1 draws its figures here.
@pytest.mark.parametrize(("name", "draws"), [("1-attention", True), ("2-heads", False), ("3-vlm", False)])
def test_the_solution_runs_to_its_end_alone_with_few_steps(
    name: str, draws: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = book("solutions", name)
    shorten(notebook, draws)
    runs_to_its_end(notebook, tmp_path, monkeypatch)


@pytest.mark.slow(
    held_by="tests/notebooks/test_notebooks.py::test_the_solution_runs_to_its_end_alone_with_few_steps"
)
@pytest.mark.parametrize("name", LESSONS)
def test_the_solution_runs_to_its_end_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs_to_its_end(book("solutions", name), tmp_path, monkeypatch)


def runs_to_its_end(notebook: NotebookNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if a cell raises or warns."""
    errors = run_alone(notebook, tmp_path, monkeypatch)
    assert {cell: f"{error.ename}: {error.evalue}" for cell, error in errors.items()} == {}
    warned = {
        cell.id: output.text
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "stream" and output.name == "stderr"
    }
    assert warned == {}


@pytest.mark.fast_cases("1-attention")
@pytest.mark.parametrize("name", LESSONS)
def test_unsolved_all_cells_run_and_what_is_missing_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = book("notebooks", name)
    for cell in notebook.cells:  # what is given trains in the test above, in whole
        cell.source = cell.source.replace("\ntrain_steps = None", "\ntrain_steps = 2")
        cell.metadata.pop("tags", None)  # in a front end that knows no tag, too
    assert run_alone(notebook, tmp_path, monkeypatch) == {}
    said = {cell.id: "".join(map(what_it_says, cell.get("outputs", ()))) for cell in notebook.cells}
    for exercise in lessons()[name].exercises:
        assert said[check_cell(exercise.id)].startswith(f"☐ {exercise.id} "), exercise.id
        assert f"☐\x1b[0m {exercise.id} " in said["stand"]


def what_it_says(output: NotebookNode) -> str:
    return output.get("text", "") + output.get("data", {}).get("text/plain", "")


def test_an_exception_of_an_answer_does_not_stop_what_follows() -> None:
    """A frontend runs the cells below a tagged one. nbclient does, too, unless it is asked not to."""
    notebook = book("notebooks", "1-attention")
    kept = {"setup", "tools", "exercise-1-1", "check-1-1", "two-tokens", "stand"}
    notebook.cells = [cell for cell in notebook.cells if cell.id in kept]
    answer = next(cell for cell in notebook.cells if cell.id == "exercise-1-1")
    answer.source = answer.source.replace('raise NotImplementedError("TODO 1.1")', "return query @ key")
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shapes, stand = notebook.cells[-2], notebook.cells[-1]
    assert shapes.outputs[-1].output_type == "error"
    assert "✘\x1b[0m 1.1" in stand.outputs[0].text


def test_where_nbgrader_validates_a_notebook_the_self_checks_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    notebook = book("notebooks", "1-attention")
    notebook.cells = [cell for cell in notebook.cells if cell.id in {"setup", "tools", "exercise-1-1", "check-1-1"}]
    NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True).execute()
    (error,) = notebook.cells[-1].outputs
    assert (error.ename, error.traceback) == ("NotSolved", ["☐ 1.1 attention_scores — not solved yet."])


@pytest.mark.parametrize("name", LESSONS)
def test_given_cells_can_be_run_again(name: str) -> None:
    # Provided cells define things; none may depend on having run once, e.g. by wrapping a name that it rebinds.
    for cell in book("solutions", name).cells:
        if cell.id.startswith("provided") or cell.id in ("setup", "start", "tools"):
            source = cell.source.partition("\n")[2] if cell.source.startswith("# @title") else cell.source
            assert "global " not in source, cell.id


def solution_lines(name: str) -> Iterator[str]:
    script = (ROOT / "solutions" / f"{name}.py").read_text("utf-8")
    for region in re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", script, re.DOTALL):
        yield from region.splitlines()


def hidden_lines(names: Sequence[str]) -> Iterator[str]:
    """Lines of the references' bodies, and of the mistakes, of some lessons."""
    for lesson in (lessons()[name] for name in names):
        owned = {exercise_name for exercise in lesson.exercises for exercise_name in exercise.defines}
        secret = [lesson.reference[name] for name in owned if name in lesson.reference]
        secret += [
            wrong
            for exercise in lesson.exercises
            for one in exercise.mistakes
            for wrong in one.replaces.values()
            if not made_by_an_edit(wrong)  # but for the edit it is the reference
        ]
        for definition in secret:
            if inspect.isfunction(definition) or inspect.isclass(definition):
                yield from code_lines(inspect.getsource(definition))


def code_lines(source: str) -> Iterator[str]:
    """A definition's lines without its docstrings and its signature."""
    tree = ast.parse(inspect.cleandoc("\n" + source) if source.startswith(" ") else source)
    skip: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            skip |= set(range(node.lineno, node.body[0].lineno))
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                skip |= set(range(first.lineno, first.end_lineno + 1))
    yield from (line for number, line in enumerate(source.splitlines(), 1) if number not in skip)


def drawing_lines(name: str) -> Iterator[str]:
    """Lines of what draws a lesson's trials; what is imported from the reference is given in the notebook."""
    package = import_module(f"grader.course.lesson_{name[0]}")
    modules = [
        import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)
    ]
    own = [
        function
        for module in (package, *modules)
        for function_name, function in vars(module).items()
        if function_name.startswith("draw_") and function.__module__.startswith(package.__name__)
    ]
    assert own
    for function in own:
        yield from (line.strip() for line in code_lines(inspect.getsource(function)))


# What a task itself declares: attributes, arguments and their defaults, errors, the parts of a batch.
INTERFACE = re.compile(
    r"#|\"|self\.\w+ = |super\(\)|return super\(\)|raise |def |class |[\w, ]+ = batch$|.* is None else "
)


def shown_on_purpose(name: str) -> str:
    """Code that is broken, for the student to repair; and lesson 3 goes on with lesson 2's practice, which has no points."""
    broken = [cell.source for cell in book("notebooks", name).cells if cell.id.startswith("broken-")]
    assert len(broken) == {"3-vlm": 3, "6-explain": 5}.get(name, 0)
    patterns = (ROOT / "source" / "attention" / "patterns.py").read_text("utf-8")
    return "\n".join([patterns, *broken] if name == "3-vlm" else broken)


def telling(line: str) -> bool:
    """Long enough to be an answer rather than an idiom, and not part of what the task declares."""
    line = line.strip()
    return len(line) >= 40 and not INTERFACE.match(line)


@pytest.mark.parametrize("name", LESSONS)
def test_no_answer_is_in_any_student_notebook(name: str) -> None:
    # Code alone: hints, in Markdown, are meant to be read.
    text = "\n".join(cell.source for cell in book("notebooks", name).cells if cell.cell_type == "code")
    # An optional lesson is handed out when the others have been handed in, and works with what they built.
    asked = [name] if lessons()[name].optional else LESSONS
    secret = [line.strip() for lesson in asked for line in solution_lines(lesson)]
    secret += [line.strip() for line in hidden_lines(asked)]
    assert secret
    given = shown_on_purpose(name)
    secret = [line for line in secret if line not in given]
    assert [line for line in secret if telling(line) and line in text] == []
    assert "BEGIN SOLUTION" not in text
    assert [line for line in drawing_lines(name) if telling(line) and line in text] == []


@pytest.mark.parametrize("folder", ["solutions", "notebooks"])
@pytest.mark.parametrize("name", LESSONS)
def test_no_outputs_and_no_widget_state_are_committed(folder: str, name: str) -> None:
    notebook = book(folder, name)
    assert not [cell.id for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")]
    assert set(notebook.metadata) <= {"kernelspec", "language_info", "celltoolbar"}
