"""The self-check in a student notebook: it tries an answer on small examples and explains errors.

The builder copies this module, and everything that it imports, into the notebook (see
`self_check_archive`). So these modules may import only torch and the standard library. The
self-check runs the same checks as the grader on other numbers, and explains a wrong answer as the
grader does.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from typing import Any, NamedTuple

from grader.build.answer_in_notebook import files_of_cells, students_code, trouble, two_cells
from grader.build.self_check_values import from_json, prints_from_json
from grader.build.show import RIGHT, UNSOLVED, WRONG, show, shown_inputs, what_is_off
from grader.explain.code.read_code import searchable
from grader.explain.exceptions.meaning import shadowed
from grader.explain.explain import explain
from grader.explain.fingerprint import fingerprint
from grader.explain.repairs.find_repair import Try
from grader.explain.repairs.run_repaired import RAISED, run_repaired, stopwatch
from grader.explain.seen import Candidate, Seen
from grader.explain.values.wording import in_words_of
from grader.judge.call_probe import call_here, missing_name
from grader.judge.compare import first_difference, flatten
from grader.judge.reach import HINT, complaint, mentions
from grader.judge.where_raised import file_of, source_of_file, the_line
from grader.records import Case
from grader.submission.cells import TODO, is_stubs_own
from grader.submission.code.traits import Traits

CARRIED_ON = "<carry on {}>"  # the file of what `carry_on` runs
COLOURS = {RIGHT: 32, WRONG: 31, UNSOLVED: 90}  # of the marks, where they are printed
PLAIN = "\x1b[0m"


class NotYet(AssertionError):
    """A self-check that failed. A notebook shows its message without a traceback."""

    mark = WRONG

    def show(self) -> None:
        show(self.mark, str(self))

    def _render_traceback_(self) -> list[str]:
        return [f"{self.mark} {self}"]


class NotSolved(NotYet):
    """A self-check of an exercise that is not solved yet."""

    mark = UNSOLVED


class Trial(NamedTuple):
    """One example of a self-check, and the check that it belongs to."""

    check: Mapping[str, Any]  # name, title, probe, names, rtol, judge
    describe: str
    sizes: Mapping[str, Any]
    inputs: Mapping[str, Any]
    expected: Mapping[str, Any]


class Result(NamedTuple):
    """The result of an answer on one trial."""

    seen: Seen
    problem: str  # "" if it is right
    inputs: Sequence[str] = ()  # lines that show the inputs, if that helps


class Notebook(NamedTuple):
    """The notebook in which the self-check runs."""

    names: Mapping[str, Any]  # its globals()
    exercises: Mapping[str, Any]  # the data of each exercise, as `self_check_numbers` writes them
    probes: Mapping[str, Callable]  # and judges, by name


def check(notebook: Notebook, exercise: str) -> None:
    """Try an answer on small examples, and show a message if the answer is right.

    Raises:
        NotSolved, NotYet: as for `checked`.
    """
    show(RIGHT, checked(notebook, exercise))


def checked(notebook: Notebook, exercise: str) -> str:
    """Try an answer on small examples, and return the message for a right answer.

    Raises:
        NotSolved: the exercise is not solved yet.
        NotYet: a result is wrong. The message explains the error.
    """
    packed = notebook.exercises[exercise]
    title = title_of(notebook, exercise)
    if why := trouble(notebook.names, exercise, packed["defines"]):
        raise NotYet(f"{title} — {why}")
    for name in packed["defines"]:
        if name not in notebook.names:
            raise NotSolved(f"{title} — {name} is not defined yet. Run the cell above first.")
    if file_of(notebook.names[packed["defines"][0]]) == CARRIED_ON.format(exercise):
        raise NotSolved(
            f"{title} — the course's own code stands in for your answer. To check your answer, run its cell."
        )
    files = files_of_cells(notebook.names, exercise, packed["defines"])
    source = source_of_file(next((file for file, id in files.items() if id == exercise), ""))
    trials = trials_of(packed)
    call = partial(try_trial, notebook=notebook, files=files, exercise=exercise)
    asked = [name for one in notebook.exercises.values() for name in one["defines"]]
    code = students_code(notebook.names, files, exercise)
    if packed["bans"] and (used := mentions(code, packed["defines"], packed["bans"], asked)):
        call(trials[0])  # says so if the exercise is not solved yet
        raise NotYet(f"{title} — {complaint(used)}. {HINT}")
    results = [call(trial) for trial in trials]
    wrong = next((index for index, result in enumerate(results) if result.problem), None)
    if wrong is None:
        return praise(title, len(trials), packed["also"])
    what = f"{trials[wrong].describe}: {results[wrong].problem}"
    if below := next((id for id in packed["builds on"] if is_wrong(notebook, id, source)), ""):
        why = f'it builds on {below}, which is not right yet: mend that one first, check("{below}").'
        raise NotYet(f"{title} — {why}\n{what}")
    seen = [result.seen for result in results]
    try_ = changes_tried(notebook, trials)
    try:
        known, several = known_answers(packed, trials), len(packed["defines"]) > 1
        found = explain(seen, known, searchable(source), try_, packed["defaults"], several=several)
    except Exception:  # an explanation decides nothing: without one, what was seen is said all the same
        found = None
    says = shadowed(code, packed["defines"], asked, what) or (found.says if found else "")
    lines = [f"{title} — {says}", what] if says else [f"{title} — {what}"]
    said = in_words_of([one["probe"] for one in packed["checks"]], "\n".join(lines))
    raise NotYet("\n".join([said, *results[wrong].inputs]))


def carry_on(names: dict[str, Any], exercises: Mapping[str, Any], exercise: str) -> None:
    """Define the names of an exercise with the course's own code, and print that the exercise earns no points.

    Args:
        names: the globals of the notebook, which get the new definitions.
        exercises: the data of each exercise.

    Raises:
        NotYet: the exercise has no stand-in, which is the course's code for such a case.
    """
    available = [id for id, packed in exercises.items() if packed["stand-in"]]
    if exercise not in available:
        raise NotYet(f"There is no stand-in for {exercise!r}. Stand-ins exist for {', '.join(available)}.")
    exec(compile(exercises[exercise]["stand-in"], CARRIED_ON.format(exercise), "exec"), names)
    defined = ", ".join(exercises[exercise]["defines"])
    print(
        f"☐ {defined} is now defined by the course, so you can go on. {exercise} earns no points.\n"
        "To use your own answer again, run its cell."
    )


def where_you_stand(notebook: Notebook) -> None:
    """Try all answers. Print each exercise's state and points, the sum of the points, and the next exercise.

    The state of an exercise is right, wrong or not solved.
    """
    marks = {exercise: _mark(notebook, exercise) for exercise in notebook.exercises}
    for exercise, packed in notebook.exercises.items():
        mark, points = marks[exercise], f" ({packed['points']:g} points)" if packed["points"] else ""
        print(f"\x1b[{COLOURS[mark]}m{mark}{PLAIN} {exercise} {packed['name']}{points}")
    total = sum(packed["points"] for packed in notebook.exercises.values())
    earned = sum(packed["points"] for id, packed in notebook.exercises.items() if marks[id] == RIGHT)
    print(
        f"{earned:g} of {total:g} points in these checks. The grader also checks other inputs and whole training runs."
    )
    if left := [exercise for exercise, mark in marks.items() if mark != RIGHT]:
        print(f"Next: exercise {left[0]}.")


def _mark(notebook: Notebook, exercise: str) -> str:
    """Return the mark of an answer: right, wrong or not solved."""
    try:
        with redirect_stdout(io.StringIO()):  # what an answer prints
            checked(notebook, exercise)
    except NotYet as problem:
        return problem.mark
    return RIGHT


def title_of(notebook: Notebook, exercise: str) -> str:
    """Return an exercise's title, such as "1.4 attention"."""
    return f"{exercise} {notebook.exercises[exercise]['name']}"


def not_solved(todo: str, exercise: str) -> str:
    """Return a message that names the exercise whose stub raised an error.

    Args:
        todo: the message of the error.
        exercise: the exercise that is checked. It may need another exercise, whose stub raised the
            error.
    """
    needed = todo.removeprefix(TODO)
    return "not solved yet." if needed == exercise else f"it needs {needed}, which is not solved yet."


def is_wrong(notebook: Notebook, exercise: str, above: str) -> bool:
    """Return True if an exercise is wrong or not solved.

    Args:
        above: the student's code. If it mentions none of the exercise's names, return False.
    """
    packed = notebook.exercises.get(exercise)
    if not packed or not any(name in above for name in packed["defines"]):
        return False
    try:
        return any(try_trial(trial, notebook, {}, exercise).problem for trial in trials_of(packed))
    except NotSolved:
        return True


def praise(title: str, count: int, also: Sequence[str]) -> str:
    """Return the message for a right answer, which also lists the checks that only the grader runs."""
    text = f"{title} — right on {count} small example{'s' * (count != 1)}."
    return f"{text} The grader also checks: {'; '.join(also)}." if also else text


def trials_of(packed: Mapping[str, Any]) -> list[Trial]:
    """Return the trials in the data of an exercise."""
    return [
        Trial(
            check=packed["checks"][trial["check"]],
            describe=trial["describe"],
            sizes={name: tuple(size) if isinstance(size, list) else size for name, size in trial["sizes"].items()},
            inputs=from_json(trial["inputs"]),
            expected=from_json(trial["expected"]),
        )
        for trial in packed["trials"]
    ]


def known_answers(packed: Mapping[str, Any], trials: Sequence[Trial]) -> list[Candidate]:
    """Return the wrong answers in the data of an exercise, with which an answer is compared."""
    right = [fingerprint(trial.expected) for trial in trials]
    return [
        Candidate(
            name=wrong["name"],
            says=wrong["hint"],
            prints=prints_from_json(wrong["gives"], right).__getitem__,
            traits=partial(Traits, *map(frozenset, wrong["traits"])),
        )
        for wrong in packed["wrong answers"]
    ]


# ---------------------------------------------------------------- one trial


def try_trial(trial: Trial, notebook: Notebook, files: Mapping[str, str], exercise: str) -> Result:
    """Run the probe of a trial on the student's definitions, and compare the results.

    Raises:
        NotSolved: a name is not defined yet, or an exercise is not solved yet.
    """
    seen, probe = trial_as_seen(trial), notebook.probes[trial.check["probe"]]
    title = title_of(notebook, exercise)
    given = (probe, trial.check["names"], trial.inputs, notebook.names)
    if missing := missing_name(*given):
        raise NotSolved(f"{title} — {missing} is not defined yet. Run the cell that defines it first.")
    try:
        got = call_here(*given)
    except Exception as error:
        if is_stubs_own(type(error).__name__, str(error)):
            why = not_solved(str(error), exercise)
            raise NotSolved(f"{title} — {why}{two_cells(notebook.names, exercise)}") from None
        place, kind = the_line(error, files, exercise), type(error).__name__
        says = str(error) if kind == "WrongForm" else place.says
        seen = seen._replace(error=kind, message=str(error), line=place.line, shapes=place.shapes)
        return Result(seen, says)
    seen = seen._replace(got=dict(flatten(got)))
    problem = problem_of(trial, got, notebook.probes)
    inputs = shown_inputs(seen.inputs) if ", expected" in problem and "shape" not in problem else ()
    return Result(seen._replace(passed=not problem), problem, inputs)


def trial_as_seen(trial: Trial) -> Seen:
    """Return the record of a trial before the answer has been called."""
    return Seen(
        check=trial.check["name"],
        passed=False,
        got={},
        expected=dict(flatten(trial.expected)),
        inputs=dict(flatten(trial.inputs)),
        sizes=trial.sizes,
    )


def problem_of(trial: Trial, got: Mapping[str, Any], probes: Mapping[str, Callable]) -> str:
    """Return a message about the error in a probe's result, or "" if the result is right."""
    rtol = trial.check["rtol"]
    if judge := probes.get(trial.check["judge"]):
        finding = judge(Case(inputs=trial.inputs, got=got, expected=lambda: trial.expected, rtol=rtol))
        return "" if finding.passed else finding.message
    off = first_difference(got, trial.expected, rtol)
    return (what_is_off(off.name, off.got, off.want, rtol) or off.message) if off else ""


# ---------------------------------------------------------------- the line of the mistake


def changes_tried(notebook: Notebook, trials: Sequence[Trial]) -> Try:
    """Return a function that runs changed answers on some of the trials, until its time is used up."""
    has_time = stopwatch()

    def try_(sources: Sequence[str], indices: Sequence[int]) -> list[list[bool | None]]:
        chosen = [trials[index] for index in indices]
        return [
            [passes_changed(notebook, trial, changed) if has_time() else None for trial in chosen]
            for changed in sources
        ]

    return try_


def passes_changed(notebook: Notebook, trial: Trial, source: str) -> bool | None:
    """Return True if a changed answer passes a trial, False if it fails, and None if it took too long."""
    probe, names = notebook.probes[trial.check["probe"]], trial.check["names"]
    [got] = run_repaired(probe, source, notebook.names, names, [trial.inputs])
    if got is None or got is RAISED:
        return None if got is None else False
    return not problem_of(trial, got, notebook.probes)
