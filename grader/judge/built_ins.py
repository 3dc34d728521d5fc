"""Fail answers that call the built-in that they should write, import the course, or are the code of the cell "Stuck? Carry on".

That cell lets a student go on and earns no points. Two codes are compared by their statements, without the names of variables
and without order: renaming, reordering, idle lines in between, and a name for what is returned change nothing.
"""

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from nbformat import NotebookNode

from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.judge.dependencies import foundations
from grader.judge.from_scratch import (
    imported_by_answer,
    imported_by_cell,
    ran_builtins,
    same_definitions,
    used_builtins,
)
from grader.judge.mentions import HINT, complaint
from grader.judge.reach import StudentCode, reached
from grader.judge.reaches import reaches
from grader.records import Flag, Outcome, Verdict
from grader.submission.cells import Role, answer_cell, carry_on_cell, provided_cell, role
from grader.submission.code.source_names import cached_by_source, parse_statements, without_magics
from grader.submission.code.words import variables, words
from grader.submission.rebuild import Rebuilt

# Everybody might write one statement such as `return torch.cat(heads.unbind(-3), dim=-1)`, but not these two by chance.
LEAST_STATEMENTS = 2
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)

IS_CARRY_ON = "it is the code of the cell “Stuck? Carry on”, which lets you go on and earns no points"
IMPORTS_COURSE = "it imports {}, the course's own code, which is not there where notebooks are graded"

# By id of the probed exercise: the built-ins that ran, as the sandbox's tripwire
# (grader/sandbox/guest/tripwire.py) reported them. Each is (operator, the given cell or the other exercise
# whose code called it); "" if the exercise's own did.
BuiltinCalls = Mapping[str, Sequence[tuple[str, str]]]


def refuse_built_ins(
    lesson: Lesson, rebuilt: Rebuilt, verdicts: Sequence[Verdict], builtin_calls: BuiltinCalls
) -> tuple[tuple[Verdict, ...], tuple[Flag, ...]]:
    """Fail and flag answers that call the built-in that their exercise asks to write, import the course, or are carry-on code.

    Where that code is a single statement, the answer is only flagged. A verdict with the outcome FAULT stays as it is.

    Returns:
        The verdicts in the same order, and the flags.
    """
    sources = {cell.id: cell.source for cell in rebuilt.notebook.cells}
    carry_on = {cell: source for cell, source in sources.items() if role(cell) is Role.CARRY_ON}
    judged: list[Verdict] = []
    flags: list[Flag] = []
    for exercise, verdict in zip(lesson.exercises, verdicts, strict=True):
        code = code_of(rebuilt, exercise)
        # Later answers may call an answer that was failed for a built-in: they lose no points for it.
        refused_before = (flag.exercise for flag in flags if flag.kind == "uses-builtin" and flag.exercise)
        failed = {id: lesson.exercise(id).bans for id in refused_before}
        may_call = {cell: sources.get(cell, "") for cell in _may_call(lesson, exercise)}
        ran = ran_builtins(exercise, builtin_calls.get(exercise.id, ()), failed, may_call)
        used = used_builtins(exercise, code, lesson.definitions)
        if (ran or used) and verdict.outcome is not Outcome.FAULT:
            flags.append(Flag(kind="uses-builtin", exercise=exercise.id, detail=", ".join(ran or used)))
            verdict = refused(verdict, complaint(ran, "calls") if ran else complaint(used))
        if modules := imported_by_answer(exercise, code, lesson.definitions):
            flags.append(Flag(kind="imports-course", exercise=exercise.id, detail=", ".join(modules)))
            if verdict.outcome is not Outcome.FAULT:
                verdict = refused(verdict, IMPORTS_COURSE.format(modules[0]))
        given = carry_on.get(carry_on_cell(exercise.id), "")
        if is_carry_on(code, exercise.defines, given, lesson.definitions):
            flags.append(Flag(kind="is-carry-on", exercise=exercise.id, detail="the carry-on cell's statements"))
            if verdict.outcome is not Outcome.FAULT:
                verdict = refused(verdict, IS_CARRY_ON)
        elif same_definitions(code.answer, given, exercise.defines):
            # The answer loses no points: a student may have written the same line.
            flags.append(Flag(kind="same-as-carry-on", exercise=exercise.id, detail="equals the carry-on cell"))
        judged.append(verdict)
    own = rebuilt.own_sources
    modules = tuple(dict.fromkeys(module for source in own for module in imported_by_cell(source)))
    if modules and not any(flag.kind == "imports-course" for flag in flags):
        flags.append(Flag(kind="imports-course", exercise=None, detail=", ".join(modules)))
    return tuple(judged), (*flags, *_reaching(rebuilt.answers, own))


def _may_call(lesson: Lesson, exercise: Exercise) -> list[str]:
    """List given cells whose built-ins an answer may call, by id: as declared, and carry-on cells of what it builds on."""
    below = foundations(lesson, exercise.id)
    declared = [module for id in (exercise.id, *below) for module in lesson.exercise(id).may_call]
    return [*map(provided_cell, declared), *map(carry_on_cell, below)]


def _reaching(answers: Mapping[str, str], own: Sequence[str]) -> list[Flag]:
    """Return a flag for each answer, and one for the student's own cells together, in which `reaches` finds something."""
    of_own = dict.fromkeys(what for source in own for what in reaches(source))
    found = [*((exercise, reaches(source)) for exercise, source in answers.items()), (None, of_own)]
    return [Flag(kind="reaches-inside", exercise=exercise, detail=", ".join(what)) for exercise, what in found if what]


def refused(verdict: Verdict, message: str) -> Verdict:
    """Copy a verdict as FAILED, without points for any check, with this message and the hint to write it oneself."""
    return replace(
        verdict,
        outcome=Outcome.FAILED,
        points=0.0,
        message=message,
        mistake=None,
        hint=HINT,
        diagnosis="built-in",
        checks=tuple(replace(check, points=0.0) for check in verdict.checks),
    )


def code_of(rebuilt: Rebuilt, exercise: Exercise) -> StudentCode:
    """Return the student's code as an exercise sees it: its answer, and the student's other cells above and below."""
    place = answer_cell(exercise.id)
    cells = [cell for cell in rebuilt.notebook.cells if cell.cell_type == "code"]
    ids = [cell.id for cell in cells]
    index = ids.index(place) if place in ids else len(ids)

    def written(some: Sequence[NotebookNode]) -> list[str]:
        return [cell.source for cell in some if cell.id in rebuilt.own or role(cell.id) is Role.ANSWER]

    answer = rebuilt.answers.get(exercise.id, "")
    return StudentCode(answer, written(cells[:index]), written(cells[index + 1 :]))


def is_carry_on(code: StudentCode, defines: Collection[str], carry_on: str, others: Collection[str] = ()) -> bool:
    """Return True if an answer has every statement of a carry-on cell, and that has at least LEAST_STATEMENTS.

    Args:
        defines, others: the names that the exercise, and that other exercises ask for, as for `mentions`.
        carry_on: the source of the carry-on cell; "" if there is none.
    """
    wanted = shapes_of_source(carry_on) if carry_on else Counter()
    if wanted.total() < LEAST_STATEMENTS:
        return False
    found = [*reached(code, defines, others), *_run_beside(code.answer)]
    if wanted <= shapes(found):
        return True
    wanted = shapes(parse_statements(without_magics(carry_on)) or (), values=True)
    return wanted.total() >= LEAST_STATEMENTS and wanted <= shapes(found, values=True)


def _run_beside(answer: str) -> list[ast.stmt]:
    """Return what an answer's cell runs, and could hand an implementation on: all but functions and classes that nothing names."""
    top = parse_statements(without_magics(answer)) or []
    read = {
        node.id
        for one in top
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return [one for one in top if not isinstance(one, DEFINITIONS) or one.decorator_list or one.name in read]


@cached_by_source
def shapes_of_source(source: str) -> Counter[str]:
    """Count the statements of a cell; see `shapes`."""
    return shapes(parse_statements(without_magics(source)) or ())


def shapes(top: Iterable[ast.AST], *, values: bool = False) -> Counter[str]:
    """Count the assignments and returns in functions and classes, each without the names of variables.

    With `values`, only what is assigned or returned counts, and mere names do not.

    Definitions in an `if`, `try` or another block count, too, as in a carry-on cell.
    """
    found: Counter[str] = Counter()
    todo: list[ast.AST] = list(top)
    while todo:
        statement = todo.pop()
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            bound = variables(statement)
            nodes = [
                node.value if values else node
                for node in ast.walk(statement)
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return))
            ]
            found.update(_text(node, bound) for node in nodes if node and not isinstance(node, ast.Name))
        else:
            for block in ("body", "handlers", "orelse", "finalbody"):
                todo += getattr(statement, block, [])
    return found


def _text(node: ast.AST, bound: frozenset[str]) -> str:
    """Return the words of a statement as one text, with "_" for each variable."""
    return " ".join(word for word, _ in words(node, lambda name: "_" if name in bound else name))
