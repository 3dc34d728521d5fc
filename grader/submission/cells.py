"""The cell protocol: the ids, tags and marker lines that define the purpose of a notebook's cell.

No other module contains these strings, and a test checks that. A cell's role follows from its id. The builder sets
the ids, and a rebuilt submission keeps them:

    exercise-1-4   the student's answer to exercise 1.4; its first line is the marker `# @exercise 1.4`
    check-1-4      the self-check of the answer; nbgrader records the points for this cell
    stuck-1-4      the carry-on cell: a call of `carry_on` in a comment, which a student who is stuck uncomments
    about-1-4      the task, in words
    question-1-Q1  a question that people grade; its answer is written below it, in written-1-Q1
    predict-…      a prediction that the student writes down before running the code that shows the result
    provided-…     a module of the repository, copied into the notebook
    tools          the self-check machinery
    stand          the summary of all self-checks (role: tools)
    submit         the cell that submits the notebook (role: tools)
    own-001        a cell that the student added; only a rebuilt notebook has such ids
"""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the self-check in a notebook has a copy of this module, and needs no nbformat
    from nbformat import NotebookNode


class Role(StrEnum):
    """The purposes of a cell."""

    ANSWER = "exercise"
    CHECK = "check"
    CARRY_ON = "stuck"
    TASK = "about"
    QUESTION = "question"
    WRITTEN = "written"
    PREDICTION = "predict"
    PROVIDED = "provided"
    TOOLS = "tools"
    OWN = "own"
    OTHER = "other"  # prose, and given cells whose id names no role


class ScriptMarker(StrEnum):
    """A marker in the first line of a cell of a lesson's percent script. The author sets the cell's purpose with it.

    In `# %% exercise="1.4"`, EXERCISE is the marker, and "1.4" is its value.
    """

    EXERCISE = "exercise"  # the cell is the answer to the exercise with this value as its id
    ABOUT = "about"  # the cell is the task of the exercise with this id
    QUESTION = "question"  # the cell is the question with this id, and its mark scheme
    PREDICT = "predict"  # the cell is a prediction of this name, which students edit
    PROVIDED = "provided"  # the cell holds the module of the repository with this name
    TOOLS = "tools"  # the cell holds the self-check machinery
    ID = "id"  # the value is the cell's id
    TAGS = "tags"  # the value holds tags of the cell
    HIDDEN = "hidden"  # the cell is collapsed, and the value is its title
    DRAWS = "draws"  # the cell only shows something


BY_EXERCISE = (Role.ANSWER, Role.CHECK, Role.CARRY_ON, Role.TASK)
TOOLS_CELL, STAND_CELL, SUBMIT_CELL = "tools", "stand", "submit"
BY_QUESTION = (Role.QUESTION, Role.WRITTEN)
MARKER = re.compile(r"^[ \t]*#[ \t]*@exercise[ \t]+(\S+)[ \t]*$", re.MULTILINE)
QUESTION_MARKER = re.compile(r"<!--[ \t]*@question[ \t]+(\S+)[ \t]*-->[ \t]*\n?")
PREDICTION_MARKER = re.compile(r"^[ \t]*#[ \t]*@predict[ \t]+(\S+)[ \t]*$", re.MULTILINE)
BEGIN_ANSWER, END_ANSWER = "=== BEGIN ANSWER ===", "=== END ANSWER ==="  # around our answer to a question for thought
ANSWER_IN_SCRIPT = re.compile(rf"^([ \t]*){BEGIN_ANSWER}\n(.*?)\n[ \t]*{END_ANSWER}$", re.MULTILINE | re.DOTALL)
ANSWER_FOLDED = re.compile(r'\n*^[ \t]*<details class="answer">.*?</details>$', re.MULTILINE | re.DOTALL)
ANSWERED = re.compile(
    r"(?P<question>(?:^[^\n]+\n)+)\n*"
    r'[ \t]*<details class="answer"><summary>[^\n]*</summary>\n(?P<answer>.*?)</details>$',
    re.MULTILINE | re.DOTALL,
)
DRAWS = "draws"  # tag of a given cell that only shows something
MAY_RAISE = "raises-exception"  # the tag of a cell after whose exception Jupyter and nbclient run the cells below it
TODO = "TODO "  # how the message of a stub begins
SOLUTION_LINE = re.compile(r"### (BEGIN|END) SOLUTION\b")  # nbgrader's
QUESTION_TITLE = "question"  # key of a text cell's metadata
CARRY_ON = "carry_on"  # a function of the tools cell


# ---------------------------------------------------------------- ids


def _cell(role: Role, exercise: str) -> str:
    """Return the cell id for this role and this exercise or question. It is also the cell's nbgrader grade id."""
    # nbgrader allows no dot in a grade id.
    return f"{role}-{exercise.replace('.', '-')}"


# Each takes the id of an exercise or a question, and returns that of a cell: `check_cell("1.4")` is "check-1-4".
answer_cell, check_cell, carry_on_cell, task_cell = (partial(_cell, role) for role in BY_EXERCISE)
question_cell, written_cell = (partial(_cell, role) for role in BY_QUESTION)


def question_title(cell: NotebookNode) -> str:
    """Return the title of the question that a text cell answers, or "" if the cell's metadata has no title."""
    return str(cell.metadata.get(QUESTION_TITLE, ""))


def prediction_cell(name: str) -> str:
    """Return the id of the cell for the prediction with this name: "predict-scale" for "scale"."""
    return f"{Role.PREDICTION}-{name}"


def provided_cell(module: str) -> str:
    """Return the id of the cell that contains a repository module: "provided-digits" for "attention.digits"."""
    return f"{Role.PROVIDED}-{module.rpartition('.')[2].replace('_', '-')}"


def own_cell(number: int) -> str:
    """Return the id of the student-added cell with this number, counted from 1: "own-001"."""
    return f"{Role.OWN}-{number:03}"


def role(cell: str) -> Role:
    """Return the role of the cell with this id, or Role.OTHER if the id names no role."""
    if cell in (TOOLS_CELL, STAND_CELL, SUBMIT_CELL):
        return Role.TOOLS
    kind = cell.partition("-")[0]
    named = "-" in cell and kind in (*BY_EXERCISE, *BY_QUESTION, Role.PREDICTION, Role.PROVIDED, Role.OWN)
    return Role(kind) if named else Role.OTHER


def exercise_of(cell: str) -> str | None:
    """Return the exercise id that a cell id contains: "1.4" for "check-1-4".

    Return None if the cell does not belong to an exercise.
    """
    return cell.partition("-")[2].replace("-", ".") if role(cell) in BY_EXERCISE else None


def question_of(cell: str) -> str | None:
    """Return the question id that a cell id contains: "1.Q1" for "written-1-Q1".

    Return None if the cell does not belong to a question.
    """
    return cell.partition("-")[2].replace("-", ".") if role(cell) in BY_QUESTION else None


# ---------------------------------------------------------------- markers and tags in source and metadata


def with_marker(exercise: str, source: str) -> str:
    """Return an answer's source with the marker line of its exercise in front."""
    return f"# @exercise {exercise}\n{source.strip()}"


def marked_exercises(source: str) -> set[str]:
    """Return the ids of the exercises that the marker lines of a cell name."""
    return set(MARKER.findall(source))


def with_question_marker(question: str, text: str) -> str:
    """Return the student's text with a comment in front that names the question. Rendered Markdown does not show it."""
    return f"<!-- @question {question} -->\n{text}"


def marked_questions(text: str) -> set[str]:
    """Return the ids of the questions that the marker comments of a text cell name."""
    return set(QUESTION_MARKER.findall(text))


def without_question_marker(text: str) -> str:
    """Return a text without the marker comments that name a question."""
    return QUESTION_MARKER.sub("", text).strip()


def with_prediction_marker(name: str, source: str) -> str:
    """Return a prediction's source with its marker line in front."""
    return f"# @predict {name}\n{source.strip()}"


def marked_predictions(source: str) -> set[str]:
    """Return the names of the predictions that the marker lines of a cell name."""
    return set(PREDICTION_MARKER.findall(source))


def without_predictions(source: str) -> str:
    """Return the source of a prediction with None in place of each value, as students get it.

    Raises:
        ValueError: a value spans several lines.
    """
    lines = source.encode().splitlines(keepends=True)  # `ast` counts bytes
    values = (value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Dict) for value in node.values)
    for value in sorted(values, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        if value.end_lineno != value.lineno:
            raise ValueError(f"a prediction must stand in one line: {ast.unparse(value)}")
        line = lines[value.lineno - 1]
        lines[value.lineno - 1] = line[: value.col_offset] + b"None" + line[value.end_col_offset :]
    return b"".join(lines).decode()


def predicted(source: str) -> dict[str, object]:
    """Return the values of a prediction, by name. Return {} if Python cannot parse the source.

    A value is a number, a string, None or a tuple. Other values are left out.
    """
    try:
        tables = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Dict)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    said: dict[str, object] = {}
    for table in tables[:1]:
        for key, value in zip(table.keys, table.values, strict=True):
            with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                name, known = ast.literal_eval(key or value), ast.literal_eval(value)  # `**other` has no key
                if isinstance(name, str) and isinstance(known, (bool, int, float, str, tuple, list, type(None))):
                    said[name] = tuple(known) if isinstance(known, list) else known
    return said


def with_folded_answers(text: str) -> str:
    """Turn each marked answer in a text into a folded <details> element, for the solution notebook.

    Raises:
        ValueError: a begin mark has no end mark, or an end mark has no begin mark.
    """

    def fold(match: re.Match) -> str:
        indent, body = match[1], match[2]
        return f'\n{indent}<details class="answer"><summary>An answer</summary>\n\n{body}\n\n{indent}</details>'

    folded = ANSWER_IN_SCRIPT.sub(fold, text)
    if BEGIN_ANSWER in folded or END_ANSWER in folded:
        raise ValueError(f"'{BEGIN_ANSWER}' … '{END_ANSWER}' must stand in lines of their own, in this order")
    return folded


def without_answers(text: str) -> str:
    """Return a text without the answers that `with_folded_answers` folded. This is the text that students get."""
    return ANSWER_FOLDED.sub("", text)


def thoughts(text: str) -> list[tuple[str, str]]:
    """Return the questions for thought in a text of the solution notebook, as pairs (question, answer).

    Each question and each answer is one line of text.
    """
    return [(_in_one_line(match["question"]), _in_one_line(match["answer"])) for match in ANSWERED.finditer(text)]


def _in_one_line(text: str) -> str:
    """Return a paragraph as one line, without its leading number and without asterisks."""
    return re.sub(r"\*+", "", re.sub(r"^\d+\. ", "", " ".join(text.split())))


def without_marks(source: str) -> str:
    """Return the source of a solution without marker lines and without nbgrader's lines around the solution."""
    kept = (line for line in without_question_marker(source).splitlines() if not SOLUTION_LINE.search(line))
    return "\n".join(line for line in kept if not MARKER.match(line)).strip()


def stub(exercise: str) -> str:
    """Return the statement that the student notebook has in place of a solution."""
    return f'raise NotImplementedError("{TODO}{exercise}")'


def is_stub_line(statement: str) -> bool:
    """Return True if a statement raises the exception of a stub, for any exercise."""
    return re.match(rf"raise NotImplementedError\([\"']{TODO}", statement) is not None


def is_stubs_own(error: str, message: str) -> bool:
    """Return True if an exception was raised by the exercise's stub.

    PyTorch raises the same exception type itself, for example for `~` of a float mask.
    """
    return error == "NotImplementedError" and message.startswith(TODO)


def only_draws(cell: NotebookNode) -> bool:
    """Return True if a tag of a provided cell states that the cell only shows something."""
    return DRAWS in cell.metadata.get("tags", ())


def carry_on_source(exercise: str) -> str:
    """Return the source of an exercise's carry-on cell: a commented call that the student uncomments."""
    return (
        f"# Stuck on {exercise}? Delete the # below and run this cell: "
        "the course's code then stands in for your answer,\n"
        f'# the rest of the notebook works, and {exercise} earns no points.\n# {CARRY_ON}("{exercise}")'
    )


def submit_source(assignment: str, server: str) -> str:
    """Return the source of the cell that submits the notebook.

    Args:
        server: the address of the submission server; "" if it is not known yet.
    """
    return f"submit({assignment!r}, server={server!r})"


def with_server(notebook: str, server: str) -> str:
    """Return the text of a student notebook with this address of the submission server in its submit cell.

    If the address is "", the text does not change.
    """
    if not server:
        return notebook
    read = json.loads(notebook)
    for cell in read["cells"]:
        if cell.get("id") == SUBMIT_CELL:
            source = re.sub(r"server='[^']*'", lambda found: f"server={server!r}", "".join(cell["source"]))
            cell["source"] = source.splitlines(keepends=True)
    return json.dumps(read, ensure_ascii=False, indent=1, sort_keys=True) + "\n"  # as nbformat writes it


def is_off(source: str, exercise: str) -> bool:
    """Return True if the source of a carry-on cell ends with the call. During grading, this call does nothing."""
    return source.endswith(f'{CARRY_ON}("{exercise}")')


# The source of the tools cell when submissions are graded. The grader's own checks replace the
# self-checks. The source that `carry_on` would run is not in it, because an answer could copy it.
TOOLS_IN_GRADING = f"""\
def check(exercise):
    pass


def self_check_source():
    return ""


def where_you_stand():
    pass


def submit(assignment, server="", file=""):
    pass


{CARRY_ON} = check"""
