"""Lines that add an input twice, or put modes back on one of several ways out."""

import ast
from collections.abc import Iterator

from grader.explain.code.data_flow import SIZES, VIEWS, Flow, Found
from grader.explain.code.read_code import called_name, calls, parameters_of, text_of


def added_twice(flow: Flow) -> Iterator[Found]:
    """Find a sum with what a method of the answer's own returns, where the method has added its input already."""
    adding = {
        function.name
        for function in flow.functions
        if isinstance(function, ast.FunctionDef) and function.name != "forward" and _adds_its_input(function)
    }
    for node in ast.walk(flow.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.right, ast.Call):
            call = node.right
            own = text_of(call.func).startswith("self.") or isinstance(call.func, ast.Name)
            same = call.args and text_of(call.args[0]) == text_of(node.left)
            if own and same and called_name(call) in adding:
                name, given = called_name(call), text_of(node.left)
                yield (
                    node.lineno,
                    f"`{name}` already adds its input to what it returns, and here `{given}` is added once more",
                )


def wasted(flow: Flow) -> Iterator[Found]:
    """Find a method that is named and not called, and one layer under two names that are both used."""
    read = [
        node.attr for node in ast.walk(flow.tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    ]
    for node in ast.walk(flow.tree):
        value = getattr(node, "value", None)
        if (
            isinstance(node, ast.Expr)
            and isinstance(value, ast.Attribute)
            and value.attr not in SIZES | VIEWS | {"grad"}
        ):
            yield node.lineno, f"`{text_of(value)}` names a method and does not call it: brackets are missing"
        elif isinstance(node, ast.Assign) and isinstance(value, ast.Attribute) and text_of(value).startswith("self."):
            target = text_of(node.targets[0])
            layers = {
                text_of(one.targets[0])
                for one in ast.walk(flow.tree)
                if isinstance(one, ast.Assign)
                and isinstance(one.value, ast.Call)
                and text_of(one.targets[0]).startswith("self.")
            }
            used = read.count(value.attr) > 1 and target.removeprefix("self.") in read
            if target.startswith("self.") and text_of(value) in layers and used:
                yield node.lineno, f"`{target}` and `{text_of(value)}` are one and the same layer here"


def _adds_its_input(function: ast.FunctionDef) -> bool:
    """Tell whether a function returns the sum of its first parameter and something else."""
    first = parameters_of(function)[:1]
    returned = [part.value for part in ast.walk(function) if isinstance(part, ast.Return)]
    return bool(returned) and all(
        isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and [text_of(value.left)] == first
        for value in returned
    )


def put_back(flow: Flow) -> Iterator[Found]:
    """Find where modes are put back on one way out of a function only."""
    for function in flow.functions:
        blocks = [
            block
            for block in ast.walk(function)
            if isinstance(block, ast.If) and isinstance(block.body[-1], (ast.Return, ast.Break))
        ]
        early = {id(part): part for block in blocks for part in ast.walk(block) if _puts_back(part)}
        if early and not any(_puts_back(part) and id(part) not in early for part in ast.walk(function)):
            line = min(part.lineno for part in early.values())  # type: ignore[attr-defined]
            yield line, "the modes are put back under a condition; on the other way out they stay changed"


def _puts_back(node: ast.AST) -> bool:
    """Tell whether a statement sets a mode to a value that was kept, or to training mode."""
    if isinstance(node, ast.Assign):
        return text_of(node.targets[0]).endswith(".training") and not isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Expr) and any(calls(node.value, "train"))


def flattened(flow: Flow) -> Iterator[Found]:
    """Find where a condition in square brackets picks numbers into one long row."""
    for line, node in flow.expressions():
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Compare) and flow.holds(node.value):
            yield (
                line,
                f"`{text_of(node)}` picks numbers into one long row, and their rows are lost: torch.where keeps them",
            )
