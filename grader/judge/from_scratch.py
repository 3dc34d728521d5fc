"""Find torch's built-ins in answers to exercises that ask the student to write these functions.

There are two searches. `used_builtins` reads the source: it finds a function, a method, a module, an import
under another name, or a string that is passed to getattr, in the code that the exercise's names reach. `ran_builtins`
reads the report of the sandbox's tripwire (grader/sandbox/guest/tripwire.py): which built-ins ran while the exercise was
probed, by whatever name. Comments and other strings may mention the built-in, and so may tests and other exercises.
"""

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from grader.declare.builtin_names import ATTENTION_OPERATORS, HEAD_OPERATORS, BuiltIn, banned_names, operators
from grader.declare.exercise import Exercise
from grader.judge.mentions import HIDDEN, mentions
from grader.judge.reach import StudentCode, reached
from grader.paths import OUR_PACKAGES
from grader.submission.code.source import cached_by_source, parsed
from grader.submission.code.traits import without_docs

# The tripwire reports this as an operator if student code has switched the tripwire off.
SWITCHED_OFF = "switched off"


def ran_builtins(
    exercise: Exercise,
    builtin_calls: Iterable[tuple[str, str]],
    flagged: Mapping[str, Collection[str | BuiltIn]],
    may_call: Mapping[str, str] = {},
) -> tuple[str, ...]:
    """List the banned built-ins that ran while an exercise was probed, by the names that students know.

    Args:
        builtin_calls: the tripwire's report, `Evidence.trips`: (operator, the given cell or the other exercise
            whose code called it); "" if the exercise's own code did. It comes from the sandbox and cannot be
            trusted; a student gains nothing by a forged report.
        flagged: exercises that already failed because their answers call built-ins → their bans. What these ban does not
            count again; what they may call, and this exercise may not, does.
        may_call: id → source of each given cell that the answer may call; the built-ins that it names do not count.
    """
    banned = {*operators(exercise.bans), SWITCHED_OFF} if exercise.bans else set()
    ran = [
        operator
        for operator, where in builtin_calls
        if operator in banned
        and not _counts_there(operator, flagged.get(where, ()))
        and not _names(exercise, may_call.get(where, ""), operator)
    ]
    return tuple(dict.fromkeys(_student_name(operator) for operator in ran))


def _counts_there(operator: str, bans: Collection[str | BuiltIn]) -> bool:
    """Tell whether bans forbid an operator; that on softmax lists the operators of attention, too, and does not forbid them."""
    attention = operator in (*ATTENTION_OPERATORS, *HEAD_OPERATORS)
    return operator in operators(bans) and (not attention or "fused attention" in bans)


def _names(exercise: Exercise, source: str, operator: str) -> bool:
    """Tell whether the source of a given cell names what calls an operator: nn.MultiheadAttention or multi_head_attention, say."""
    own = [ban for ban in exercise.bans if isinstance(ban, BuiltIn) and operator in ban.operators]
    if own:
        return any(name in source for ban in own for name in ban.names)
    name, text = (each.lower().replace("_", "") for each in (_student_name(operator), source))
    return name.removeprefix("nn.") in text


def _student_name(operator: str) -> str:
    """Translate an operator of torch into a student's name for it, without `torch.`; of attention and head layers into one for all."""
    if operator == SWITCHED_OFF:
        return HIDDEN
    if operator in ATTENTION_OPERATORS:
        return "flex_attention" if operator == "flex_attention" else "scaled_dot_product_attention"
    if operator in HEAD_OPERATORS:
        return "nn.Transformer" if "ransformer" in operator else "nn.MultiheadAttention"
    name = operator.removeprefix("call ").rpartition("::")[2]
    return name.removeprefix("_masked_").removeprefix("special_").lstrip("_").removesuffix("_backward_data")


def used_builtins(exercise: Exercise, code: StudentCode, others: Collection[str] = ()) -> tuple[str, ...]:
    """List the banned built-ins that an answer refers to, directly or through the student's own helpers.

    Args:
        others: the names that other exercises ask for, as for `mentions`.
    """
    return mentions(code, exercise.defines, banned_names(exercise.bans), others) if exercise.bans else ()


def imported_by_answer(exercise: Exercise, code: StudentCode, others: Collection[str] = ()) -> tuple[str, ...]:
    """List the modules of `grader` and `attention`, the solutions, that an answer imports, or a helper that it uses.

    No tier shows them to a submission; this is the second lock.
    """
    if not any("import" in source for source in (code.answer, *code.before, *code.after)):
        return ()
    return _imported_course(reached(code, exercise.defines, others))


def imported_by_cell(source: str) -> tuple[str, ...]:
    """List the modules of `grader` and `attention`, the solutions, that a cell imports anywhere."""
    return _imported_course(parsed(source).statements or ()) if "import" in source else ()


def _imported_course(nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    names = [name for top in nodes for node in ast.walk(top) for name in modules_of(node)]
    return tuple(dict.fromkeys(name for name in names if name.partition(".")[0] in OUR_PACKAGES))


def modules_of(node: ast.AST) -> list[str]:
    """List the modules that a node imports: by a statement, or by a call of a function such as `import_module`."""
    match node:
        case ast.Import(names=aliases):
            return [alias.name for alias in aliases]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case ast.Call(
            func=ast.Name(id=function) | ast.Attribute(attr=function), args=[ast.Constant(value=str(module)), *_]
        ) if function in ("import_module", "__import__", "resolve_name"):
            return [module.partition(":")[0]]
    return []


def same_definitions(answer: str, given: str, names: Sequence[str]) -> bool:
    """Tell whether an answer defines these names as a given cell does, but for docstrings and annotations; False if it has none."""
    in_answer, in_given = (
        {name: dump for name, dump in _definition_dumps(source).items() if name in names} for source in (answer, given)
    )
    return bool(in_answer) and in_answer == in_given


@cached_by_source
def _definition_dumps(source: str) -> Mapping[str, str]:
    """Map each function and class at the top level to its tree without docs."""
    dumps = {}
    for node in parsed(source).statements or ():
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            # Too deep a tree, as of a sum of a thousand terms, or a number of 5,000 digits is left out: no given cell
            # has one.
            with suppress(RecursionError, ValueError):
                dumps[node.name] = ast.dump(without_docs(node))
    return dumps
