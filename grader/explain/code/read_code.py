"""Read a student's code as a tree: the statement in a line, the shapes of expressions, names and calls.

An `Effect` is measured elsewhere. `grader.explain.code.clues` looks for its cause in the code.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

Shape = tuple[int, ...]

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # how Python refuses to parse a source
SAME_SHAPE = frozenset(
    "abs bfloat16 bool clamp clone contiguous cpu detach double exp float half int log logical_not long masked_fill neg"
    " relu round softmax sigmoid sqrt tanh to type".split()
)
# Beyond these nothing is searched in a code: the searches take time with a power of its length, and call themselves.
MOST_CHARACTERS, MOST_STATEMENTS, MOST_NODES, MOST_DEPTH = 10_000, 150, 3_000, 80
LARGEST = 2**63  # an integer of over 4,300 digits cannot be written out
MODULES = "torch F nn math np numpy nn.functional torch.nn.functional torch.nn torch.linalg".split()
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Effect(Enum):
    """The effects of wrong code that can be measured on an answer."""

    GRADIENT = "a gradient is missing"
    FLOAT32 = "float32 came, where float64 is due"
    DEVICE = "another device"
    IN_PLACE = "an input was changed"
    WITHOUT_BATCH = "right only without a batch"
    WITH_BATCH = "right only with one batch axis"
    ONE_BATCH = "raises without a batch, and is right with one batch axis"
    RANDOM = "results differ from call to call"
    VALUES = "values differ"  # what is nearly surely not meant, whatever the values
    IDLE = "a layer without parameters is never used"
    LAYERS = "a layer is never used"
    SHARED = "parameters are missing"  # because one layer has two names
    UNUSED = "values differ, and nothing else explains them"  # an argument or a layer that nothing reads


class Raising(NamedTuple):
    """An exception, with the code that raised it."""

    error: str  # the class
    message: str  # the first line of the text
    line: str  # of the student's code; "" where none is known
    shapes: Mapping[str, Shape]  # of the tensors that the line names
    source: str  # of the answer
    tree: ast.Module  # of the answer
    node: ast.AST | None  # the line's statement, or the head of it
    foreign: bool  # whether the line stands in another exercise
    clue: Callable[[Effect], Any]  # finds the line of the answer that causes it: a Clue, or None
    lengths: Callable[[], str]  # names the two lengths that do not fit in any of the failing trials; "" if they differ


@lru_cache(16)  # an answer is read by many rules, and the answers that it builds on beside it
def tree_of(source: str) -> ast.Module:
    """Parse a source to a tree, which callers must not change. Return an empty module if Python cannot parse it."""
    try:
        return ast.parse(source)
    except UNREADABLE:
        return ast.Module(body=[], type_ignores=[])


def searchable(source: str) -> str:
    """Return an answer's source, or "" if it is too long or too deep to be searched for lines.

    The longest solution has a tenth of the allowed length.
    """
    level: list[ast.AST] = [tree_of(source)] if len(source) <= MOST_CHARACTERS else []
    depth = nodes = count = 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        count += sum(isinstance(node, ast.stmt) for node in level)
        values = [node.value for node in level if isinstance(node, ast.Constant)]
        huge = any(isinstance(value, int) and abs(value) >= LARGEST for value in values)
        if huge or nodes > MOST_NODES or count > MOST_STATEMENTS or depth > MOST_DEPTH:
            return ""
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
    return source if nodes > 1 else ""


def statement_at(line: str, source: str) -> ast.AST | None:
    """Return the statement in a line, or only its head if it is a block (`if`, `for`, `with`, `def`).

    Return None if the line cannot be parsed.

    Args:
        line: the line's text, which may be cut.
        source: the source that contains the line. If it does not, the line is parsed by itself.
    """
    number = number_of(line, source)
    if not number:
        for text in (line.strip(), line.strip() + " pass", line.strip().rstrip(":")):
            if body := tree_of(text).body:
                return _head(body[0])
        return None
    around = [
        node
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.stmt) and node.lineno <= number <= (node.end_lineno or 0)
    ]
    return _head(max(around, key=lambda node: node.lineno)) if around else None


def number_of(line: str, source: str) -> int:
    """Return the number of the line with this text, counted from 1, or 0 if no line has it."""
    wanted, cut = " ".join(line.split()).removesuffix("…"), line.endswith("…")
    for number, text in enumerate(source.splitlines() if wanted else (), 1):
        text = " ".join(text.split())
        if text == wanted or (cut and text.startswith(wanted)):
            return number
    return 0


def _head(node: ast.stmt) -> ast.AST:
    """Return the code that runs in the first line of a statement.

    It is the condition of `if`, the iterable of `for`, or the parameters of `def`.
    """
    if isinstance(node, (ast.If, ast.While, ast.Assert)):
        return ast.Expr(value=node.test) if isinstance(node, ast.Assert) else node.test
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return node.iter
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return ast.Tuple(elts=[item.context_expr for item in node.items], ctx=ast.Load())
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.args if not isinstance(node, ast.ClassDef) else ast.Pass()
    return node


def text_of(node: ast.AST, most: int = 40) -> str:
    """Return the source of an expression, cut to `most` characters."""
    text = ast.unparse(node)
    return text if len(text) <= most else text[: most - 1] + "…"


def parts_of(node: ast.AST | None) -> Iterator[ast.AST]:
    """Yield a node and all nodes within it. For None, yield nothing."""
    yield from ast.walk(node) if node is not None else ()


def calls(node: ast.AST | None, *names: str) -> Iterator[ast.Call]:
    """Yield the calls, within a node, of functions and methods with these names. Without names, yield all calls."""
    for inner in ast.walk(node) if node else ():
        if isinstance(inner, ast.Call) and (not names or called_name(inner) in names):
            yield inner


def called_name(node: ast.AST) -> str:
    """Return the last name of a called function: "view" for `x.view(2)`, "relu" for `F.relu(x)`.

    Return "" if the function has no name.
    """
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def owner_of(node: ast.AST) -> ast.expr | None:
    """Return the object that a method is called on: `x` for `x.view(2)`.

    Return None for a plain function, and for a function of one of torch's modules.
    """
    function = node.func if isinstance(node, ast.Call) else node
    return function.value if isinstance(function, ast.Attribute) and text_of(function.value) not in MODULES else None


def values_of(name: str, tree: ast.AST) -> list[ast.expr]:
    """Return the values that assignments give to a name.

    In an assignment to several names at once, the value is the whole right side.
    """
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(target))
    ]


def integer(node: ast.AST | None) -> int | None:
    """Return the value of an expression that is a literal integer, or None for any other expression."""
    try:
        value = ast.literal_eval(node) if node is not None else None
    except (*UNREADABLE, TypeError):
        return None
    return value if type(value) is int else None


def shape_of(node: ast.AST | None, shapes: Mapping[str, Shape]) -> Shape | None:
    """Return the shape of an expression, computed from the known shapes of its names, or None if it is not known."""
    if isinstance(node, ast.Name):
        return shapes.get(node.id)
    if isinstance(node, ast.UnaryOp):
        return shape_of(node.operand, shapes)
    if isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Constant):
        return shape_of(node.left, shapes)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return _shape_of_product(shape_of(node.left, shapes), shape_of(node.right, shapes))
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        known = [side for side in sides if shape_of(side, shapes)]
        return (
            shape_of(known[0], shapes) if len(known) == 1 and all(_plain(s) for s in sides if s not in known) else None
        )
    if isinstance(node, ast.Attribute):
        inner = shape_of(node.value, shapes)
        if inner is None or node.attr not in ("T", "mT", "data"):
            return None
        return inner if node.attr == "data" else inner[::-1] if node.attr == "T" else _swapped(inner, -2, -1)
    if isinstance(node, ast.Call):
        return _shape_of_call(node, shapes)
    return None


def _shape_of_product(one: Shape | None, other: Shape | None) -> Shape | None:
    """Return the shape of a matrix product, or None if a shape is not known or the factors do not fit."""
    if not one or not other or min(len(one), len(other)) < 2 or one[-1] != other[-2]:
        return None
    front, short = sorted((one[:-2], other[:-2]), key=len, reverse=True)
    pairs = list(zip(front[::-1], short[::-1], strict=False))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        return None
    joined = tuple(max(a, b) for a, b in pairs)[::-1]
    return (*front[: len(front) - len(joined)], *joined, one[-2], other[-1])


def _shape_of_call(node: ast.Call, shapes: Mapping[str, Shape]) -> Shape | None:
    name, owner = called_name(node), owner_of(node)
    inner, axes = shape_of(owner, shapes), [axis for one in node.args if (axis := integer(one)) is not None]
    if inner is None or name in SAME_SHAPE:
        return inner
    if name == "t" and len(inner) <= 2:
        return inner[::-1]
    if node.keywords or len(axes) != len(node.args):
        return None
    if name in ("transpose", "swapaxes", "swapdims") and len(axes) == 2:
        return _swapped(inner, *axes)
    if name == "permute" and sorted(axis % len(inner) for axis in axes) == list(range(len(inner))):
        return tuple(inner[axis] for axis in axes)
    if name == "unsqueeze" and len(axes) == 1 and -len(inner) - 1 <= axes[0] <= len(inner):
        place = axes[0] % (len(inner) + 1)
        return (*inner[:place], 1, *inner[place:])
    return None


def _swapped(shape: Shape, one: int, other: int) -> Shape | None:
    sizes = list(shape)
    try:
        sizes[one], sizes[other] = sizes[other], sizes[one]
    except IndexError:
        return None
    return tuple(sizes)


def _plain(node: ast.AST) -> bool:
    """Return True if an expression seems to be a plain number: it has only names, constants and attributes of math."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Subscript, ast.List, ast.Tuple)):
            return False
        if isinstance(inner, ast.Attribute) and text_of(inner.value) != "math":
            return False
    return True


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """List the names of a function's parameters, without self."""
    one = function.args
    names = [argument.arg for argument in (*one.posonlyargs, *one.args, *one.kwonlyargs)]
    return [name for name in names if name != "self"]


def self_attributes(tree: ast.AST) -> dict[str, ast.expr | None]:
    """Map each attribute that code sets on self to the expression that it is first set to, in the order of the code."""
    found: dict[str, ast.expr | None] = {}
    for node in ast.walk(tree):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            values = (
                value.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else [value] * len(parts)
            )
            for inner, its in zip(parts, values, strict=False):
                if isinstance(inner, ast.Attribute) and text_of(inner.value) == "self":
                    found.setdefault(inner.attr, its)
    return found


def has_keyword(call: ast.Call, name: str, *values: str) -> bool:
    """Return True if a call has a keyword argument with this name.

    If `values` are given, the argument must be one of these texts.
    """
    return any(word.arg == name and (not values or text_of(word.value) in values) for word in call.keywords)


def statements_of(node: ast.AST) -> list[ast.stmt]:
    """Return the statements within a node, itself included, sorted by line."""
    return sorted((one for one in ast.walk(node) if isinstance(one, ast.stmt)), key=lambda one: one.lineno)


def in_init(functions: Iterable[ast.AST], node: ast.AST) -> bool:
    """Return True if a node is in `__init__` or `reset_parameters`.

    Such code runs when a layer is created, not when it is called.
    """
    inits = [one for one in functions if getattr(one, "name", "") in ("__init__", "reset_parameters")]
    return any(node is inner for one in inits for inner in ast.walk(one))
