"""A class on one lesson: this grader, stock `nbgrader autograde`, `otter run`, and the floor, in one run.

    python -m benchmarks.throughput [--assignment 1-attention] [--submissions 30] [--jobs 2] [--without otter]

The same notebooks and the same cells for each; the programs from start to end as they are installed, with their stock
executors. nbgrader and otter grade one notebook at a time, and have no way to grade two; this grader has as many
jobs as there are cores. In otter's copies the self-check cells are taken out, because its test files call them.

The floor is the bare code of the cells that grading needs: given cells that do not only draw, and the student's cells,
executed once in one warm interpreter without checks, isolation or records. Its CPU time divided by the
jobs is what nothing can be faster than.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time

from benchmarks import publish
from benchmarks.classes import check_all_graded, grader, make_course, mixed, run
from examples.make import Example, content
from grader.course import lessons
from grader.paths import course_root

SCRIPTS = Path(sys.executable).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--assignment", choices=list(lessons()), default="1-attention")
    parser.add_argument("--submissions", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--without", action="append", default=[], choices=["nbgrader", "otter"])
    parser.add_argument("--only-floor", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_floor:
        print(json.dumps(floor(options.assignment, options.submissions)))
        return
    if "otter" not in options.without and find_spec("otter") is None:
        sys.exit("otter-grader is missing. Run: pip install -c constraints.txt -e '.[bench]', or pass --without otter")
    with tempfile.TemporaryDirectory() as folder:
        seconds = measure(Path(folder), options.assignment, options.submissions, options.jobs, options.without)
    ours = seconds["grader"]
    figures = {f"vs_{name}": seconds[name] / ours for name in ("nbgrader", "otter") if name in seconds}
    figures["vs_floor"] = ours / (seconds["floor"] / options.jobs)
    figures |= {"assignment": options.assignment, "submissions": options.submissions, "jobs": options.jobs}
    figures |= {f"{name}_s": value for name, value in seconds.items()}
    figures |= {package: version(package) for package in ("nbgrader", "otter-grader") if find_spec("otter")}
    rows = [
        {
            "what": name,
            "seconds": value,
            "seconds each": value / options.submissions,
            "per minute": 60 * options.submissions / value,
            "over this grader": value / ours,
        }
        for name, value in seconds.items()
    ]
    publish("throughput", figures, rows)


def measure(folder: Path, assignment: str, submissions: int, jobs: int, without: list[str]) -> dict[str, float]:
    """Wall seconds of each program over the class; the floor's are CPU seconds."""
    for prepare in lessons()[assignment].prepare:  # once a machine, whatever the class
        prepare()
    course = make_course(folder / "ours", {assignment: mixed(assignment, submissions)})
    seconds = {}
    started = perf_counter()
    grader(course, "--jobs", str(jobs)).wait()
    seconds["grader"] = perf_counter() - started
    check_all_graded(course, submissions)
    command = [
        sys.executable,
        "-m",
        "benchmarks.throughput",
        "--only-floor",
        "--assignment",
        assignment,
        "--submissions",
        str(submissions),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    ran = subprocess.run(command, cwd=course_root(), env=environment, capture_output=True, text=True, check=True)
    seconds["floor"] = json.loads(ran.stdout.splitlines()[-1])
    if "nbgrader" not in without:
        seconds["nbgrader"] = nbgrader(folder / "nbgrader", course, assignment)
    if "otter" not in without:
        seconds["otter"] = otter(folder / "otter", course, assignment)
    return seconds


def nbgrader(folder: Path, course: Path, assignment: str) -> float:
    """Seconds of `nbgrader autograde`, after its own generate_assignment."""
    shutil.copytree(course / "submitted", folder / "submitted")
    shutil.copytree(course / "solutions" / assignment, folder / "source" / assignment)
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'bench'\n")
    program = [sys.executable, "-m", "nbgrader"]
    run([*program, "generate_assignment", assignment], folder)
    started = perf_counter()
    run([*program, "autograde", assignment], folder)
    seconds = perf_counter() - started
    made = len(list((folder / "autograded").glob(f"*/{assignment}/{assignment}.ipynb")))
    if made != len(list((folder / "submitted").iterdir())):
        raise RuntimeError(f"nbgrader graded {made}")
    return seconds


def otter(folder: Path, course: Path, assignment: str) -> float:
    """Seconds of `otter run` over the class, after `otter generate` of the same self-checks."""
    (folder / "tests").mkdir(parents=True)
    for exercise in lessons()[assignment].exercises:
        question = f"q{exercise.id.replace('.', '_')}"
        (folder / "tests" / f"{question}.py").write_text(
            "from otter.test_files import test_case\n\nOK_FORMAT = False\n"
            f"name, points = '{question.replace('_', '-')}', {exercise.points or 1}\n\n\n"
            f"@test_case()\ndef test_exercise(check):\n    check({exercise.id!r})\n"
        )
    program = [str(SCRIPTS / "otter")]
    run([*program, "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment"], folder)
    books = sorted((course / "submitted").glob(f"*/{assignment}/{assignment}.ipynb"))
    for book in books:
        notebook = json.loads(book.read_text("utf-8"))
        notebook["cells"] = [
            cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade")
        ]
        (folder / book.parts[-3]).mkdir()
        (folder / f"{book.parts[-3]}.ipynb").write_text(json.dumps(notebook), "utf-8")
    started = perf_counter()
    for book in books:
        student = book.parts[-3]
        run([*program, "run", "-a", "autograder.zip", "-o", student, f"{student}.ipynb"], folder)
    seconds = perf_counter() - started
    if not all((folder / book.parts[-3] / "results.json").is_file() for book in books):
        raise RuntimeError("otter graded nothing")
    return seconds


def floor(assignment: str, submissions: int) -> float:
    """CPU seconds of the bare cells of the class, one notebook after the other in this process."""
    import torch

    torch.set_num_threads(1)
    from IPython.core.inputtransformer2 import TransformerManager

    from corpus.planning import plan
    from grader.grading.grade import master_notebook
    from grader.grading.schedule import unneeded_cells
    from grader.submission.notebook import parse
    from grader.submission.rebuild import rebuild

    lesson = lessons()[assignment]
    parameters = {**lesson.parameters, "device": "cpu", "seed": 0}
    released = master_notebook(course_root(), assignment)
    programs = []
    for own in mixed(assignment, submissions):
        rebuilt = rebuild(lesson, released, parse(content(Example("s", assignment, None, "", answers=own))))
        skip = set(unneeded_cells(lesson, rebuilt.notebook, rebuilt.own, plan(lesson, "floor", "")))
        programs.append(
            [cell.source for cell in rebuilt.notebook.cells if cell.cell_type == "code" and cell.id not in skip]
        )
    transform = TransformerManager().transform_cell
    execute(programs[0], parameters, transform)  # imports, fonts and data: the warm interpreter has them
    started = process_time()
    for program in programs:
        execute(program, parameters, transform)
    return process_time() - started


def execute(program: list[str], parameters: dict, transform) -> None:
    """Its cells, in a namespace of its own; a cell that raises ends there."""
    import contextlib
    import io

    import matplotlib.pyplot as plt
    import torch

    torch.manual_seed(0)
    space: dict = {"__name__": "__main__", "display": lambda *_, **__: None}
    with contextlib.redirect_stdout(io.StringIO()):
        for index, source in enumerate(program):
            with contextlib.suppress(Exception):
                exec(compile(transform(source), "<cell>", "exec"), space)
            if index == 0:
                space.update(parameters)  # as papermill's cell behind the first
    plt.close("all")


if __name__ == "__main__":
    main()
