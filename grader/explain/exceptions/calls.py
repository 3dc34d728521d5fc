"""Explains exceptions about calls: arguments, results, truth values, and values of the wrong type.

Each rule's function returns a message for the student, or "" if it has no explanation.
"""

import ast
import re
from math import prod

from grader.explain.code.read_code import Raising, called_name, calls, parameters_of, parts_of, shape_of, text_of
from grader.explain.exceptions.names import NO_RETURN, nearest
from grader.explain.exceptions.rules import Rule, sentence

GIVEN = "To check whether an argument was passed, use `is None`."

# ---------------------------------------------------------------- arguments


def _definition(path: str, tree: ast.AST) -> ast.FunctionDef | ast.Lambda | None:
    """Return the function that Python calls "f" or "Layer.forward", or None if the answer does not define it.

    For "<lambda>", return the lambda that is assigned to a name, if there is only one.
    """
    wanted = path.split(".")[-1]
    if wanted == "<lambda>":
        named = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)]
        lambdas = [value for value in named if isinstance(value, ast.Lambda)]
        return lambdas[0] if len(lambdas) == 1 else None
    inside: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and "." in path and node.name == path.split(".")[-2]:
            inside = node
    return next((node for node in ast.walk(inside) if isinstance(node, ast.FunctionDef) and node.name == wanted), None)


def _called_by_grader(raising: Raising, definition: ast.FunctionDef | ast.Lambda) -> bool:
    """Return True if the grader made the call that failed. Then the reported line is that of the definition."""
    return raising.node is None or raising.node is definition.args or isinstance(raising.node, ast.arguments)


def missing_argument(raising: Raising, found: re.Match) -> str:
    """Return a message that names a left-out argument. Either the student's call or the task's call leaves it out."""
    path, name = found[1], found[2]
    definition = _definition(path, raising.tree)
    if definition is None:
        return f"This call leaves out the argument `{name}`: add it." if raising.line else ""
    if _called_by_grader(raising, definition) or isinstance(definition, ast.Lambda):
        where = " of __init__" if path.endswith("__init__") else ""
        return (
            f"Your parameter `{name}` needs a value, but the task's calls do not pass one. "
            f"Compare the parameters{where} and their defaults with the task's signature."
        )
    if _without_self(definition, raising.tree):
        return "`self` is missing: it must be the first parameter of each method."
    return f"This call leaves out the argument `{name}`: add it."


def unexpected_argument(raising: Raising, found: re.Match) -> str:
    """Explain that a parameter of the answer has another name than the caller uses.

    If no parameter has a similar name, the message lists the answer's parameters.
    """
    path, name = found[1], found[2]
    definition = _definition(path, raising.tree)
    if definition is None:
        return ""
    mine = parameters_of(definition)
    if not _called_by_grader(raising, definition):
        right = nearest(name, mine)
        return f"`{path}` has no parameter `{name}`." + (f" Did you mean `{right}`?" if right else "")
    if right := nearest(name, mine):
        return f"Your parameter is called `{right}`, but should be called `{name}`, as in the task."
    listed = ", ".join(f"`{one}`" for one in mine) or "no parameters"
    return (
        f"Your signature has {listed}, but the task's signature has `{name}`. "
        "Use the task's names, because calls may pass arguments by name."
    )


def too_many_arguments(raising: Raising, found: re.Match) -> str:
    """Explain why a call passes too many arguments.

    Either `self` is missing, or the answer lacks a parameter of the task, or the student's own call is
    wrong. Return "" if the answer does not define the function.
    """
    definition = _definition(found[1], raising.tree)
    if definition is None or isinstance(definition, ast.Lambda):
        return ""
    if _without_self(definition, raising.tree):
        return f"`self` is missing: it must be the first parameter of `{definition.name}`, as in each method."
    if _called_by_grader(raising, definition):
        return f"Your `{definition.name}` has fewer parameters than the task's signature. Add the missing parameters."
    return f"This call passes more arguments than `{definition.name}` has parameters."


def _without_self(definition: ast.FunctionDef, tree: ast.AST) -> bool:
    """Return True if a definition is a method whose first parameter is not self."""
    first = [argument.arg for argument in (*definition.args.posonlyargs, *definition.args.args)][:1]
    in_class = any(isinstance(node, ast.ClassDef) and definition in node.body for node in ast.walk(tree))
    return in_class and first != ["self"] and not definition.decorator_list and definition.args.vararg is None


def missing_in_torch(raising: Raising, found: re.Match) -> str:
    """Return a message that names the argument which a call of a torch function leaves out or misspells."""
    given = [word.arg for call in calls(raising.node, found[1]) for word in call.keywords if word.arg]
    misspelt = next((name for name in given if nearest(name, [found[2]])), "")
    return (
        f"`{found[1]}` has no parameter `{misspelt}`. Did you mean `{found[2]}`?"
        if misspelt
        else f"This call of `{found[1]}` also needs the argument `{found[2]}`."
    )


def layer_made_of_tensor(raising: Raising, _: re.Match) -> str:
    """Explain that a layer is created with a tensor as an argument. Return "" if the line does not do so."""
    for call in calls(raising.node):
        if re.fullmatch(r"nn\.[A-Z]\w*", text_of(call.func)) and any(
            text_of(one) in raising.shapes for one in call.args
        ):
            what = f"`{text_of(call.func)}(…)` only creates a layer"
            return f"{what}. Create it first, and then call the layer with the tensor."
    return ""


# ---------------------------------------------------------------- results


def too_many_to_unpack(raising: Raising, found: re.Match) -> str:
    """Return a message that explains why the right side of `a, b = …` has another number of parts than the left."""
    node = raising.node
    if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List))):
        return ""
    right = node.value
    if (isinstance(right, ast.Attribute) and right.attr == "shape") or called_name(right) == "size":
        count = "more" if "too many" in raising.message else "fewer"
        return (
            f"The tensor has {count} axes here than there are names on the left. "
            "A name with a star, such as `*front`, takes any number of axes."
        )
    if isinstance(right, ast.Name) and right.id in raising.shapes:
        what = f"`{right.id}` is one tensor"
        return f"{what}. Unpacking splits a tensor along its first axis, which has another length here."
    if isinstance(right, ast.Call):
        return f"`{text_of(right)}` does not return as many values as there are names on the left."
    return ""


def not_iterable(raising: Raising, found: re.Match) -> str:
    """Return a message that the call on the right side of `a, b = …` returns only one value or None."""
    if isinstance(raising.node, ast.Assign) and isinstance(raising.node.value, ast.Call):
        returned = "nothing" if found[1] == "NoneType" else "one value"
        return f"`{text_of(raising.node.value)}` returns {returned}, but there are several names on the left."
    return ""


def nothing_returned(raising: Raising, _: re.Match) -> str:
    """Return a message that the function returned None. Return "" if the student's own code caused the exception."""
    return "" if raising.line else f"Your function returned None: {NO_RETURN}"


# ---------------------------------------------------------------- truth values


def truth_of_tensor(raising: Raising, found: re.Match) -> str:
    """Return a message that names the Python word which tests a whole tensor, and the remedy."""

    def of_tensor(part: ast.AST) -> bool:
        sides = [part.left, *part.comparators] if isinstance(part, ast.Compare) else [part]
        return any(prod(shape_of(side, raising.shapes) or ()) > 1 for side in sides)

    node = raising.node
    for inner in parts_of(node):
        if isinstance(inner, ast.Compare) and len(inner.ops) > 1 and of_tensor(inner):
            return (
                "`a < x < b` asks whether a whole tensor is true. "
                "Write two comparisons in brackets, and join them with `&`."
            )
        if isinstance(inner, ast.BoolOp) and (asked := list(filter(of_tensor, inner.values))):
            word = "or" if isinstance(inner.op, ast.Or) else "and"
            if not isinstance(asked[0], ast.Compare):
                return f"`{word}` asks whether the whole tensor `{text_of(asked[0])}` is true. {GIVEN}"
            return (
                f"`{word}` combines two truth values, not tensors. "
                f"For tensors, use `{'|' if word == 'or' else '&'}`, with brackets around each side."
            )
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not) and of_tensor(inner.operand):
            return f"`not` asks whether a whole tensor is true. `~` negates each entry. {GIVEN}"
        if isinstance(inner, ast.IfExp) and isinstance(inner.test, ast.Name):
            return f"`if {inner.test.id}` asks whether a whole tensor is true. {GIVEN}"
    if isinstance(node, ast.Name):
        return f"`if {node.id}` asks whether a whole tensor is true. {GIVEN}"
    if node is not None and re.match(r"\s*(if|elif|while|assert)\b", raising.line):
        return (
            "This condition needs one truth value, but gets a whole tensor. "
            "To decide for each entry, use torch.where or masked_fill; to decide once, use .any() or .all()."
        )
    return (
        layer_made_of_tensor(raising, found)
        or "Something on this line asks whether a whole tensor is true. Python's max, min, sorted and `in` ask this."
    )


# ---------------------------------------------------------------- the answer's own errors


def own_refusal(raising: Raising, _: re.Match) -> str:
    """Return a message that the student's own `assert` or `raise` refuses an input."""
    start = raising.line.strip()
    if raising.foreign:
        return "The function refuses this value. Which values does it accept?" if start.startswith("raise") else ""
    if start.startswith("assert"):
        return (
            "Your own `assert` failed here."
            " If the task wants you to refuse an input, raise a ValueError: `raise ValueError(…)`."
        )
    if start.startswith("raise") and raising.error == "ValueError":
        return (
            "Your own `raise` refuses an input that the task allows. "
            "Check the condition of the `raise`, and how you compute the values in it."
        )
    if start.startswith("raise"):
        return (
            "Your own `raise` refuses this input. "
            f"If the task wants you to refuse it, raise a ValueError, not {raising.error}."
        )
    return ""


CALL_RULES: tuple[Rule, ...] = (
    (
        "TypeError: exceptions must derive from BaseException",
        sentence("`raise` needs an exception. Write `raise ValueError(…)`, with your text in the brackets."),
    ),
    (r"^(?:\w+Error|Exception)\b", own_refusal),
    (r"TypeError: ([\w.]+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: '(\w+)'", missing_argument),
    (r'TypeError: ([\w.]+)\(\) missing \d+ required positional arguments?: "(\w+)"', missing_in_torch),
    (r"TypeError: \w+\(\)(?::| received)", layer_made_of_tensor),
    (r"TypeError: ([\w.<>]+)\(\) got an unexpected keyword argument '(\w+)'", unexpected_argument),
    (r"TypeError: ([\w.]+)\(\) takes .* but \d+ (?:was|were) given", too_many_arguments),
    ("ValueError: (?:too many|not enough) values to unpack", too_many_to_unpack),
    (r"TypeError: cannot unpack non-iterable (\w+) object", not_iterable),
    (r"TypeError: float\(\) argument must be .* not 'NoneType'", nothing_returned),
    ("Boolean value of Tensor with (?:more than one|no) value", truth_of_tensor),
    (
        r"TypeError: .*__init__\(\) should return None",
        sentence("__init__ must not return a value. To report an error, write `raise ValueError(…)`."),
    ),
    ("RecursionError", sentence("The function calls itself without end. Did you mean to call another function?")),
)
