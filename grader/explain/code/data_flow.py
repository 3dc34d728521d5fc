"""Find the statements of an answer that feed its result, and the expressions that hold numbers of an input.

An expression holds an input if its value is computed from the input's numbers,
and not only from its shape. The followed input is the one that a search is
about. A statement feeds the result if the returned value is computed from it.
"""

import ast
from collections.abc import Collection, Iterator

from grader.explain.code.read_code import called_name, parameters_of, statements_of, text_of, tree_of

SIZES = frozenset(
    "shape size ndim dim dtype device numel stride type requires_grad is_cuda zeros_like ones_like empty_like full_like"
    " new_zeros new_ones new_empty new_full".split()
)
VIEWS = frozenset(
    "T mT data view reshape transpose swapaxes permute unsqueeze "
    "squeeze expand expand_as flatten unflatten detach to float"
    " contiguous narrow select diagonal unbind split chunk t".split()
)


Found = tuple[int, str]  # a line's number, and what is said of it
Place = tuple[int, int, int, int]  # where an expression begins and ends


class Flow:
    """The statements of an answer in order, with the names that feed the result and the names that hold an input."""

    def __init__(self, source: str, name: str = "", without: Collection[Place] = ()) -> None:
        """Analyse the source of an answer.

        Args:
            name: the followed input or parameter ("key", "linear.weight"). All
                inputs are followed if it is "" or unknown.
            without: the places of expressions that are treated as if they held nothing.
        """
        self.source, self.name, self.without = source, name, without
        self.tree = tree_of(source)
        self.functions = [node for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
        inputs = {one for function in self.functions for one in parameters_of(function)}
        followed = name.partition(".")[0]
        attributes = {node.attr for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)}
        of_self = followed in attributes and ("." in name or followed not in inputs)
        self.own = f"self.{followed}" if of_self else ""
        self.held = set() if of_self else {followed} if followed in inputs else inputs
        self.statements = statements_of(self.tree)
        self.needed: set[str] = set()
        before = -1
        while before != len(self.held) + len(self.needed):
            before = len(self.held) + len(self.needed)
            for node in self.statements:
                self._pass_on(node)

    def _pass_on(self, node: ast.stmt) -> None:
        """Update the sets of names for one statement.

        The names that the statement assigns go to `held` if its value holds an input. The names that its value is
        computed from go to `needed` if the statement feeds the result.
        """
        targets, value = targets_and_value(node)
        names = {base_of(target) for target in targets} - {""}
        if value is not None:
            if self.holds(value):
                self.held |= names
            if isinstance(node, ast.Return) or names & self.needed:
                self.needed |= {inner.id for inner in ast.walk(value) if isinstance(inner, ast.Name)}

    def holds(self, node: ast.AST) -> bool:
        """Return True if an expression contains numbers of a followed input, and not only its sizes."""
        if self.without and place_of(node) in self.without:
            return False
        if isinstance(node, ast.Name):
            return node.id in self.held
        if isinstance(node, ast.Attribute):
            if node.attr in SIZES:
                return False
            return text_of(node) == self.own or self.holds(node.value)
        if isinstance(node, ast.Call) and (called_name(node) in SIZES | {"len"}):
            return False
        return any(self.holds(inner) for inner in ast.iter_child_nodes(node))

    def is_held_up_at(self, places: Collection[Place]) -> bool:
        """Return True if these places are the only way for the followed input to reach the result.

        To find out, the expressions at the places are treated as if they held nothing.
        """
        flow = Flow(self.source, self.name, places)
        returned = [node.value for node in flow.statements if isinstance(node, ast.Return) and node.value]
        return not any(map(flow.holds, returned))

    def feeds(self, node: ast.stmt) -> bool:
        """Return True if a statement contributes to the returned value."""
        targets, _ = targets_and_value(node)
        return isinstance(node, ast.Return) or bool({base_of(target) for target in targets} & self.needed)

    def expressions(self) -> Iterator[tuple[int, ast.AST]]:
        """Yield the line and the node of each expression in the statements that feed the result."""
        for node in self.statements:
            if self.feeds(node):
                for inner in ast.walk(targets_and_value(node)[1] or ast.Pass()):
                    yield getattr(inner, "lineno", node.lineno), inner


def targets_and_value(node: ast.AST) -> tuple[list[ast.expr], ast.expr | None]:
    """Return the targets to which a statement assigns, and the assigned value or None.

    For a method call that is a statement, `x.add_(y)`, the target is the object `x`, and the value is the call.
    """
    if isinstance(node, ast.Assign):
        targets = [
            inner for one in node.targets for inner in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one])
        ]
        return targets, node.value
    if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        return [node.target], node.value
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return (node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]), node.iter
    if isinstance(node, ast.Return):
        return [], node.value
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return [node.value.func.value], node.value
    return [], None


def base_of(node: ast.AST) -> str:
    """Return the name of the variable that an expression is a part or a view of, or "" if there is no such name.

    It is "x" for `x[0].T`, and "self.W" for `self.W[0]`.
    """
    while True:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                return f"self.{node.attr}"
            node = node.value
        elif isinstance(node, (ast.Subscript, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return ""


def is_view(node: ast.AST, names: set[str]) -> bool:
    """Return True if an expression is a tensor with one of these names, or a view of such a tensor.

    A view, such as `x.T[0]`, shares the tensor's memory.
    """
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Subscript):
        kinds = [inner for inner in ast.walk(node.slice) if isinstance(inner, (ast.Name, ast.Compare, ast.List))]
        return not kinds and is_view(node.value, names)
    if isinstance(node, ast.Attribute):
        return node.attr in VIEWS and is_view(node.value, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr.rstrip("_") in VIEWS and is_view(node.func.value, names)
    return False


def place_of(node: ast.AST) -> Place:
    """Return the position of an expression: first line, first column, last line, last column.

    A number is 0 if the node has no position.
    """
    first, last = (getattr(node, name, 0) for name in ("lineno", "end_lineno"))
    return first, getattr(node, "col_offset", 0), last, getattr(node, "end_col_offset", 0)
