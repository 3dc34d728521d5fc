"""The commands of an author: `grader build` and `grader prove`.

`grader build` makes the notebooks and runs their solutions; with --check, it reports notebooks that
are out of date. `grader prove` shows that each declared mistake fails its checks.
"""

from pathlib import Path

from grader.build import build
from grader.build.prove import Proof, prove
from grader.commands.console import Terminal
from grader.commands.options import BuildOptions, CheckOptions, ProveOptions
from grader.commands.watch import watch
from grader.complaint import Complaint
from grader.course import assignment_by_exercise, lessons
from grader.paths import own_lessons
from grader.records import Outcome
from grader.report.text import number


def run(options: BuildOptions, terminal: Terminal) -> int:
    """Make the notebooks, and return 1 if a solution does not earn all points.

    With --check, only compare the notebooks, and return 1 if one of them is out of date. With
    --watch, build after each change until Ctrl-C.
    """
    if options.watch:
        watch(options.root, terminal)
    if options.check:
        lines = build.drift(options.root)
        for line in lines:
            terminal.note(line)
        return 1 if lines else 0
    changed, abandoned = build.outdated(options.root), build.abandoned(options.root)
    if computed := build.changed_exercises(options.root, changed):
        count = f"{len(computed)} exercise{'s' if len(computed) > 1 else ''}"
        terminal.note(f"computing the self-checks of {count}. This takes from seconds to a minute for each exercise.")
    for path in build.build(options.root):
        terminal.say(f"wrote {path.relative_to(options.root)}")
    for folder in abandoned:
        terminal.note(f"{folder} belongs to no lesson any more. Delete it.")
    runs_solutions = own_lessons() is not None if options.points is None else options.points
    earned = [_solution_is_right(options.root, name, terminal) for name in changed if runs_solutions]
    return 0 if all(earned) else 1


def _solution_is_right(root: Path, name: str, terminal: Terminal) -> bool:
    """Grade the solution of a lesson, print its points, and return False if it lacks points.

    On a machine that cannot grade, such as one without Linux, print the reason and return True.
    """
    from grader.commands.check import grade_file  # with the sandbox, which a build without points does not need
    from grader.submission.intake import find

    notebook = root / "solutions" / name / f"{name}.ipynb"
    (file,) = find(notebook, tuple(lessons()), name, assignment_by_exercise())
    try:
        grade = grade_file(file, CheckOptions(root=root, notebook=notebook), terminal)
    except Complaint as error:
        terminal.note(f"{name}: the solution was not run: {error}")
        return True
    if grade.score is None:
        terminal.complain(f"{name}: the solution could not be graded: {grade.message}")
        return False
    terminal.say(f"{name}: the solution earns {number(grade.score)} of {number(grade.max_score)} points")
    for verdict in grade.verdicts:
        if verdict.outcome is not Outcome.PASSED:
            terminal.complain(f"{verdict.id}: {verdict.message}")
    return grade.score == grade.max_score


def run_prove(options: ProveOptions, terminal: Terminal) -> int:
    """Print the proof of each exercise, and return the exit status: 1 if an exercise is not proven, otherwise 0."""
    exercise = options.exercise
    known = [each.id for lesson in lessons().values() for each in lesson.exercises]
    if exercise is not None and exercise not in known:
        raise Complaint(f"there is no exercise {exercise!r}. Choose one of {', '.join(known) or 'none'}.")
    failed = False
    for lesson in lessons().values():
        for proof in prove(lesson, exercise):
            _say_proof(proof, terminal)
            failed |= bool(proof.problems)
    return 1 if failed else 0


def _say_proof(proof: Proof, terminal: Terminal) -> None:
    """Print the result of the proof of one exercise."""
    count = len(proof.exercise.mistakes)
    fails = f"the reference passes, and the checks catch {count} mistake{'s' if count != 1 else ''}"
    terminal.say(f"{proof.exercise.id} {proof.exercise.title}: {'not proven' if proof.problems else fails}")
    for problem in proof.problems:
        terminal.complain(f"{proof.exercise.id}: {problem}")
    for remark in proof.remarks:
        terminal.say(f"    {remark}")
    for title in proof.left_out:
        terminal.say(f"    not tested here, because it needs a model that the notebook trains: {title}")
