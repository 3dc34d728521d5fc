"""Explains exceptions and findings about values of the wrong kind or form.

A number, a list, a pair or nothing in the place of a tensor; values and layers of another form than was asked for.
"""

import ast
import re

from grader.explain.code.read_code import Raising, called_name, calls, owner_of, parts_of, text_of
from grader.explain.exceptions.names import NO_RETURN, attribute_of_layer, made_by, nothing, shared_layer, the_one
from grader.explain.exceptions.rules import Rule, sentence


def not_callable(raising: Raising, found: re.Match) -> str:
    """Return a message that says what is called like a function and is none."""
    kind = found[1]
    if kind == "torch.Size":
        return "`.shape` is no function: it takes square brackets."
    called = {text_of(call.func) for call in calls(raising.node)}
    wrong = called & raising.shapes.keys() if kind == "Tensor" else called if len(called) == 1 else set()
    what = f"`{wrong.pop()}`" if len(wrong) == 1 else "Something on this line"
    of_kind = "None" if kind == "NoneType" else f"of the kind {kind}"
    return f"{what} is {of_kind} here, and round brackets call it like a function."


def not_subscriptable(raising: Raising, found: re.Match) -> str:
    """Return a message that says what takes no square brackets."""
    owner = the_one(
        (text_of(node.value) for node in parts_of(raising.node) if isinstance(node, ast.Subscript)), raising
    )
    if found[1].startswith(("builtin_function", "method")):
        what = f"`{owner}`" if owner else "Something on this line"
        return f"{what} is a function: round brackets call it, not square ones."
    return nothing(raising, owner) if found[1] == "NoneType" else ""


def one_number_only(raising: Raising, _: re.Match) -> str:
    """Return a message that names the call which takes one number alone; a general one if that is unclear."""
    found = set()
    for call in calls(raising.node):
        owner, name = owner_of(call), called_name(call)
        if name == "item" and owner is not None:
            found.add(".item() takes a tensor of one number, and here is one of several.")
        if name in ("int", "float", "bool", "round"):
            found.add(f"{name}() takes one number, and here is a tensor of several.")
        if text_of(call.func).startswith("math."):
            found.add(
                f"math.{name} takes one number, and here is a tensor of several: torch.{name} goes number by number."
            )
    return found.pop() if len(found) == 1 else "One number is due on this line, and here is a tensor of several."


def whole_number_only(raising: Raising, _: re.Match) -> str:
    """Return a message that range and the like take a number; or which factor of a product is a pair."""
    name = next((called_name(call) for call in calls(raising.node, "range", "arange")), "")
    if name:
        return f"{name} takes one whole number, and here is a tensor of several."
    for node in parts_of(raising.node):
        if isinstance(node, ast.Subscript) and text_of(node.slice) in raising.shapes:
            owner, place = text_of(node.value), text_of(node.slice)
            if owner not in raising.shapes:
                return (
                    f"`{owner}` is a list, and takes one whole number as its index; "
                    f"`{place}` is a tensor of several. Index a tensor."
                )
    products = [node for node in parts_of(raising.node) if isinstance(node, ast.BinOp)]
    factors = [part.id for node in products for part in (node.left, node.right) if isinstance(part, ast.Name)]
    for factor in factors:
        made = made_by(factor, raising.tree)
        if made is not None and called_name(made) == "grad":
            return (
                f"`{factor}` is a tuple: grad returns a gradient for each input. "
                f"Take it apart first, `({factor},) = …`."
            )
        if isinstance(made, ast.Call) and factor not in raising.shapes and owner_of(made) is None:
            return (
                f"`{factor}` is a tuple or a list, and a product needs a tensor. "
                f"Take apart what `{called_name(made)}` returns."
            )
    return ""


def list_of_tensors(raising: Raising, found: re.Match) -> str:
    """Return a message that says what torch.cat and torch.stack take."""
    if found[2] == "Tensor":
        return f"torch.{found[1]} takes the tensors as one list, in square brackets."
    return f"torch.{found[1]} takes a list of tensors."


def number_for_tensor(raising: Raising, found: re.Match) -> str:
    """Return a message that says that a torch function got a number, a list, a pair or nothing."""
    name, kind = found[1].rpartition(".")[2], found[2]
    if kind in ("int", "float"):
        return (
            f"torch's {name} takes a tensor, and here is a plain number. For numbers there is math.{name}."
            if name in ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "ceil", "floor", "log2", "log10")
            else f"{name} takes a tensor, and here is a plain number."
        )
    if kind == "tuple":
        return f"{name} takes a tensor, and here is a tuple: take it apart first."
    if kind == "list":
        return f"{name} takes a tensor, and here is a list: torch.stack or torch.cat makes a tensor of it."
    return f"{name} takes a tensor, and here is None." if kind == "NoneType" else ""


def wrong_operands(raising: Raising, found: re.Match) -> str:
    """Return a message that says which side of an operator is not a tensor."""
    kinds = {found[1], found[2]}
    sides = [side for node in parts_of(raising.node) if isinstance(node, ast.BinOp) for side in (node.left, node.right)]
    if "NoneType" in kinds:
        return nothing(raising, the_one(map(text_of, sides), raising)) or "One side is None here."
    if "tuple" in kinds:
        return "One side is a tuple here, not a tensor: take it apart first."
    if "list" in kinds and "Tensor" in kinds:
        return "One side is a Python list here: torch.stack or torch.cat makes a tensor of it."
    if kinds & {"builtin_function_or_method", "method", "function"}:
        return "One side is a function that was not called: its brackets are missing."
    return ""


def unary_on_none(raising: Raising, _: re.Match) -> str:
    """Return a message that says what is None under `~` or `-`."""
    owners = (text_of(node.operand) for node in parts_of(raising.node) if isinstance(node, ast.UnaryOp))
    return nothing(raising, the_one(owners, raising))


VALUE_RULES: tuple[Rule, ...] = (
    (r"TypeError: '([\w.]+)' object is not callable", not_callable),
    (r"TypeError: '([\w.]+)' object is not subscriptable", not_subscriptable),
    (
        r"a Tensor with (?!0 )\d+ elements cannot be converted to Scalar|only one element tensors can be converted",
        one_number_only,
    ),
    (r"TypeError: ([\w.]+)\(\): argument '\w+' \(position \d+\) must be Tensor, not (\w+)", number_for_tensor),
    (r"TypeError: unsupported operand type\(s\) for .*: '(\w+)' and '(\w+)'", wrong_operands),
    ("TypeError: bad operand type for unary .: 'NoneType'", unary_on_none),
    (
        "'float' object cannot be interpreted as an integer|must be tuple of ints.*float|"
        r"must be integers|indices \(got float\)",
        sentence("A whole number is due here, and this is a float, as `/` gives. `//` gives a whole number."),
    ),
    ("only integer tensors of a single element can be converted to an index", whole_number_only),
    (r"arange\(\): argument '\w+' \(position \d+\) must be Number, not Tensor", whole_number_only),
    (r"TypeError: (\w+)\(\): argument 'tensors' \(position 1\) must be tuple of Tensors, not (\w+)", list_of_tensors),
    (
        r"TypeError: expected Tensor as element \d+ in argument 0, but got (?:float|int)",
        sentence("The list holds plain numbers, and tensors are joined. torch.tensor makes a tensor of numbers."),
    ),
    (
        r"TypeError: (?:len\(\) of|iteration over) a 0-d tensor",
        sentence("The tensor is a single number here, and has no axes."),
    ),
    ("TypeError: list is not a Module subclass", sentence("nn.Sequential takes the layers one by one, not as a list.")),
    (
        "ValueError: (?:math domain error|expected a (?:positive|nonnegative) input)",
        sentence("There is no root of a negative number, and no logarithm of 0 or less."),
    ),
    ("ZeroDivisionError", sentence("The divisor is 0 here.")),
)


def another_number_came_back(raising: Raising, found: re.Match) -> str:
    """Return a message that says that a pair is due."""
    came = {"nothing": "Nothing", "one value": "One value"}.get(found[1], "Another number of values")
    names = f": {found[2]}, in this order" if found[2] else ""
    return f"{came} came back, and two are asked for{names}."


def no_tensor_came_back(raising: Raising, found: re.Match) -> str:
    """Return a message that says what came back in the place of a tensor."""
    name, kind = found[1], found[2]
    if kind == "nothing":
        return f"Nothing came back for the {name}: {NO_RETURN}"
    if kind in ("list", "tuple"):
        return f"The {name} came back as a Python {kind}. torch.stack or torch.cat makes one tensor of its parts."
    if kind in ("float", "int"):
        return f"The {name} came back as a plain Python number, which carries no gradient. Return the tensor."
    return ""


def no_number_came_back(raising: Raising, found: re.Match) -> str:
    """Return a message that says what came back in the place of a number."""
    if found[1] == "nothing":
        return f"Nothing came back: {NO_RETURN}"
    return "Several numbers came back, where one is asked for." if found[1].startswith("shape") else ""


def part_is_missing(raising: Raising, found: re.Match) -> str:
    """Return a message with the name that the student's layer uses instead, or that it keeps no such part."""
    where, name, there = found.groups()
    if where == "your layer":
        owners = [node.name for node in ast.walk(raising.tree) if isinstance(node, ast.ClassDef)]
        for owner in reversed(owners):
            error = re.match(r"(\w+) (\w+)", f"{owner} {name}")
            if error and (says := attribute_of_layer(raising, error)):
                return says
        return f"The task asks for an attribute `{name}`; your layer has {there}."
    if name == "bias":
        return f"`{where}` has no bias, and one is due: leave bias=False out."
    if name.isdigit() and re.search(r"\b(weight|bias)\b", there):
        return f"`{where}` is a single layer, and several layers in a row are due."
    if name.isdigit():
        return (
            f"`{where}` keeps its layers as {there}. "
            "Several layers in a row are due: nn.Sequential counts them 0, 1, 2."
        )
    if there == "0":
        return f"`{where}` wraps its layer in an nn.Sequential, and the layer itself is due."
    if there.startswith("0"):
        return f"`{where}` is several layers in a row, and a single one is due."
    return f"`{where}` is another kind of layer than the task asks for: it has no `{name}`."


def part_of_another_kind(raising: Raising, found: re.Match) -> str:
    """Return a message that says what is kept under a name, and what should be."""
    if found[3] == "layer":
        return f"The task asks for a layer named `{found[1]}`; what you keep under this name is none."
    return f"`{found[1]}` is a layer, nn.{found[2]}, and a single parameter is due: nn.Parameter."


def part_of_another_shape(raising: Raising, found: re.Match) -> str:
    """Return what is wrong with a parameter's sizes, without numbers: several trials can then be compared."""
    has, wants = ([size for size in text.split(", ") if size] for text in (found[2], found[3]))
    if has == wants[::-1]:
        if "." not in found[1]:
            return f"`{found[1]}` has its two axes the wrong way round."
        return (
            f"The two widths of `{found[1]}` have changed places: "
            "nn.Linear takes the width that comes in first, then the "
            "one that goes out."
        )
    if "." not in found[1]:
        return f"`{found[1]}` does not have the shape that the task asks for."
    return f"`{found[1]}` does not have the shape that the task asks for. Check the sizes that its layer is made with."


def one_parameter_for_two(raising: Raising, found: re.Match) -> str:
    """Return a message that says that two names stand for one layer."""
    return shared_layer(raising, found) or f"`{found[1]}` and another name stand for one parameter. Each needs its own."


FINDING_RULES: tuple[Rule, ...] = (
    (r"WrongForm: (nothing|one value|\d+ values) came back, two are asked for(?:: (.+))?", another_number_came_back),
    (r"WrongForm: ([\w .]+): (\w+) came back, a tensor is asked for", no_tensor_came_back),
    (r"WrongForm: [\w .]+: (.+) came back, one number is asked for", no_number_came_back),
    (r"WrongForm: (your layer|[\w.]+) has no (\w+); it has (.+)", part_is_missing),
    (r"WrongForm: ([\w.]+) is of the kind (\w+), a (layer|single parameter) is asked for", part_of_another_kind),
    (r"WrongForm: ([\w.]+): shape \((.*?),?\), expected \((.*?),?\)", part_of_another_shape),
    (
        r"WrongForm: (\w+) is no nn.Module",
        sentence("The class is no nn.Module: put nn.Module in brackets behind its name."),
    ),
    (
        r"WrongForm: \S+ is no nn.Parameter",
        sentence("A tensor of your layer is no nn.Parameter, so training does not change it."),
    ),
    (r"WrongForm: [\w.]+ and (\w+)\.\w+ are one parameter", one_parameter_for_two),
)
