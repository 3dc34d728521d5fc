"""Explains exceptions and findings about values of the wrong type or form.

Such a value is a number, a list, a pair or None where a tensor is expected, or a layer of another type or shape than
the task asks for. Each rule's function returns a message for the student, or "" if it has no explanation.
"""

import ast
import re

from grader.explain.code.read_code import Raising, called_name, calls, owner_of, parts_of, text_of
from grader.explain.exceptions.names import NO_RETURN, attribute_of_layer, made_by, nothing, shared_layer, the_one
from grader.explain.exceptions.rules import Rule, sentence


def not_callable(raising: Raising, found: re.Match) -> str:
    """Return a message that names the object that is called like a function but is not one."""
    kind = found[1]
    if kind == "torch.Size":
        return "`.shape` is not a function: use square brackets."
    called = {text_of(call.func) for call in calls(raising.node)}
    wrong = called & raising.shapes.keys() if kind == "Tensor" else called if len(called) == 1 else set()
    what = f"`{wrong.pop()}`" if len(wrong) == 1 else "Something on this line"
    of_kind = "None" if kind == "NoneType" else f"an object of the type {kind}"
    return f"{what} is {of_kind} here, but you call it like a function, with round brackets."


def not_subscriptable(raising: Raising, found: re.Match) -> str:
    """Return a message that names the value which does not accept square brackets."""
    owner = the_one(
        (text_of(node.value) for node in parts_of(raising.node) if isinstance(node, ast.Subscript)), raising
    )
    if found[1].startswith(("builtin_function", "method")):
        what = f"`{owner}`" if owner else "Something on this line"
        return f"{what} is a function: call it with round brackets, not square ones."
    return nothing(raising, owner) if found[1] == "NoneType" else ""


def one_number_only(raising: Raising, _: re.Match) -> str:
    """Return a message that names the call which needs a single number, or a general message if the call is unclear."""
    found = set()
    for call in calls(raising.node):
        owner, name = owner_of(call), called_name(call)
        if name == "item" and owner is not None:
            found.add("`.item()` needs a tensor of one number, but got a tensor of several.")
        if name in ("int", "float", "bool", "round"):
            found.add(f"{name}() needs one number, but got a tensor of several.")
        if text_of(call.func).startswith("math."):
            found.add(f"math.{name} needs one number, but got a tensor of several. Use torch.{name} for tensors.")
    return found.pop() if len(found) == 1 else "This line needs one number, but got a tensor of several."


def whole_number_only(raising: Raising, _: re.Match) -> str:
    """Return a message that a whole number is needed, or that a factor of a product is a tuple."""
    name = next((called_name(call) for call in calls(raising.node, "range", "arange")), "")
    if name:
        return f"{name} needs one whole number, but got a tensor of several."
    for node in parts_of(raising.node):
        if isinstance(node, ast.Subscript) and text_of(node.slice) in raising.shapes:
            owner, place = text_of(node.value), text_of(node.slice)
            if owner not in raising.shapes:
                return (
                    f"`{owner}` is a list, so its index must be one whole number, "
                    f"but `{place}` is a tensor of several. Make `{owner}` a tensor first."
                )
    products = [node for node in parts_of(raising.node) if isinstance(node, ast.BinOp)]
    factors = [part.id for node in products for part in (node.left, node.right) if isinstance(part, ast.Name)]
    for factor in factors:
        made = made_by(factor, raising.tree)
        if made is not None and called_name(made) == "grad":
            return (
                f"`{factor}` is a tuple, because grad returns a gradient for each input. "
                f"Unpack the tuple: `({factor},) = …`."
            )
        if isinstance(made, ast.Call) and factor not in raising.shapes and owner_of(made) is None:
            return (
                f"`{factor}` is a tuple or a list, but a product needs a tensor. "
                f"Unpack the values that `{called_name(made)}` returns."
            )
    return ""


def list_of_tensors(raising: Raising, found: re.Match) -> str:
    """Return a message that torch.cat and torch.stack need a list of tensors."""
    if found[2] == "Tensor":
        return f"torch.{found[1]} needs the tensors in one list: put square brackets around them."
    return f"torch.{found[1]} needs a list of tensors, but got something else."


def number_for_tensor(raising: Raising, found: re.Match) -> str:
    """Return a message that a torch function needs a tensor, but got a number, a list, a tuple or None."""
    name, kind = found[1].rpartition(".")[2], found[2]
    if kind in ("int", "float"):
        return (
            f"torch's {name} needs a tensor, but got a plain number. For numbers, use math.{name}."
            if name in ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "ceil", "floor", "log2", "log10")
            else f"{name} needs a tensor, but got a plain number."
        )
    if kind == "tuple":
        return f"{name} needs a tensor, but got a tuple. Unpack the tuple first."
    if kind == "list":
        return f"{name} needs a tensor, but got a list. Make a tensor of the list with torch.stack or torch.cat."
    return f"{name} needs a tensor, but got None. Check the argument that you pass." if kind == "NoneType" else ""


def wrong_operands(raising: Raising, found: re.Match) -> str:
    """Return a message about the operand that is not a tensor."""
    kinds = {found[1], found[2]}
    sides = [side for node in parts_of(raising.node) if isinstance(node, ast.BinOp) for side in (node.left, node.right)]
    if "NoneType" in kinds:
        return nothing(raising, the_one(map(text_of, sides), raising)) or "One side of this operation is None."
    if "tuple" in kinds:
        return "One side of this operation is a tuple, not a tensor. Unpack the tuple first."
    if "list" in kinds and "Tensor" in kinds:
        return "One side of this operation is a Python list. Make a tensor of the list with torch.stack or torch.cat."
    if kinds & {"builtin_function_or_method", "method", "function"}:
        return "One side of this operation is a function that is not called: its brackets are missing."
    return ""


def unary_on_none(raising: Raising, _: re.Match) -> str:
    """Return a message that the operand of `~` or `-` is None."""
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
        sentence("Expected a whole number here, but got a float. `/` returns a float: use `//` for a whole number."),
    ),
    ("only integer tensors of a single element can be converted to an index", whole_number_only),
    (r"arange\(\): argument '\w+' \(position \d+\) must be Number, not Tensor", whole_number_only),
    (r"TypeError: (\w+)\(\): argument 'tensors' \(position 1\) must be tuple of Tensors, not (\w+)", list_of_tensors),
    (
        r"TypeError: expected Tensor as element \d+ in argument 0, but got (?:float|int)",
        sentence(
            "The list contains plain numbers, but only tensors can be joined. Make a tensor of it with torch.tensor."
        ),
    ),
    (
        r"TypeError: (?:len\(\) of|iteration over) a 0-d tensor",
        sentence("The tensor is a single number here, so it has no length and no entries to loop over."),
    ),
    (
        "TypeError: list is not a Module subclass",
        sentence("nn.Sequential needs each layer as a separate argument, not a list: put `*` before the list."),
    ),
    (
        "ValueError: (?:math domain error|expected a (?:positive|nonnegative) input)",
        sentence("This line takes the root of a negative number, or the logarithm of 0 or less. Neither exists."),
    ),
    ("ZeroDivisionError", sentence("The divisor is 0 here.")),
)


def another_number_came_back(raising: Raising, found: re.Match) -> str:
    """Return a message that says that two values are expected."""
    got = found[1] if found[1] in ("None", "one value") else "another number of values"
    first, _, second = (found[2] or "").rpartition(" and ")
    names = f" (first {first}, then {second})" if first else ""
    return f"Expected two values{names}, but got {got}."


def no_tensor_came_back(raising: Raising, found: re.Match) -> str:
    """Return a message that names the value that was returned instead of a tensor."""
    name, kind = found[1], found[2]
    if kind == "None":
        return f"Expected a tensor for the {name}, but got None: {NO_RETURN}"
    if kind in ("list", "tuple"):
        what = f"Expected a tensor for the {name}, but got a Python {kind}"
        return f"{what}. Make one tensor of it with torch.stack or torch.cat."
    if kind in ("float", "int"):
        got = "a plain Python number, which carries no gradient"
        return f"Expected a tensor for the {name}, but got {got}. Return the tensor."
    return ""


def no_number_came_back(raising: Raising, found: re.Match) -> str:
    """Return a message that names the value that was returned instead of a number."""
    if found[1] == "None":
        return f"Your function returned None: {NO_RETURN}"
    return "Expected one number, but got several." if found[1].startswith("shape") else ""


def part_is_missing(raising: Raising, found: re.Match) -> str:
    """Return a message that a layer lacks an attribute. It names the attribute that the layer has instead."""
    where, name, there = found.groups()
    if where == "your layer":
        owners = [node.name for node in ast.walk(raising.tree) if isinstance(node, ast.ClassDef)]
        for owner in reversed(owners):
            error = re.match(r"(\w+) (\w+)", f"{owner} {name}")
            if error and (says := attribute_of_layer(raising, error)):
                return says
        return f"Your layer has {there}, but the task asks for an attribute `{name}`. Use the task's names."
    if name == "bias":
        return f"`{where}` has no bias, but the task asks for a bias: leave out bias=False."
    if name.isdigit() and re.search(r"\b(weight|bias)\b", there):
        return f"`{where}` is a single layer, but should be several layers in a row."
    if name.isdigit():
        return (
            f"`{where}` names its layers {there}, but should be several layers in a row. "
            "Use nn.Sequential, which numbers its layers 0, 1, 2."
        )
    if there == "0":
        return f"`{where}` wraps its layer in an nn.Sequential, but the task asks for the layer itself."
    if there.startswith("0"):
        return f"`{where}` is several layers in a row, but should be a single layer."
    return f"`{where}` is not the kind of layer that the task asks for: it has no `{name}`."


def part_of_another_kind(raising: Raising, found: re.Match) -> str:
    """Return a message that names the value stored under a name, and the type of value that is expected."""
    if found[3] == "layer":
        return f"The value that you store as `{found[1]}` is not a layer, but the task asks for a layer of this name."
    return f"`{found[1]}` is a layer (nn.{found[2]}), but should be a single parameter (nn.Parameter)."


def part_of_another_shape(raising: Raising, found: re.Match) -> str:
    """Return a message on a parameter's wrong shape.

    The message contains no sizes, so that it is the same for all trials.
    """
    has, wants = ([size for size in text.split(", ") if size] for text in (found[2], found[3]))
    if has == wants[::-1]:
        if "." not in found[1]:
            return f"The two axes of `{found[1]}` are swapped."
        return (
            f"The two widths of `{found[1]}` are swapped: nn.Linear takes the input width first, then the output width."
        )
    if "." not in found[1]:
        return f"`{found[1]}` does not have the shape that the task asks for."
    return (
        f"`{found[1]}` does not have the shape that the task asks for. Check the sizes with which you create its layer."
    )


def one_parameter_for_two(raising: Raising, found: re.Match) -> str:
    """Return a message that says that two names stand for one layer."""
    return (
        shared_layer(raising, found)
        or f"`{found[1]}` and another name share one parameter. Create a separate parameter for each name."
    )


FINDING_RULES: tuple[Rule, ...] = (
    (r"WrongForm: got (None|one value|\d+ values), expected two(?:: (.+))?", another_number_came_back),
    (r"WrongForm: ([\w .]+): (\w+), expected a tensor$", no_tensor_came_back),
    (r"WrongForm: [\w .]+: (.+), expected one number", no_number_came_back),
    (r"WrongForm: (your layer|[\w.]+) has no (\w+); it has (.+)", part_is_missing),
    (r"WrongForm: ([\w.]+) has the type (\w+), expected a (layer|single parameter)", part_of_another_kind),
    (r"WrongForm: ([\w.]+): shape \((.*?),?\), expected \((.*?),?\)", part_of_another_shape),
    (
        r"WrongForm: (\w+) is not an nn.Module",
        sentence("Your class is not an nn.Module: write `(nn.Module)` after the name of the class."),
    ),
    (
        r"WrongForm: \S+ is not an nn.Parameter",
        sentence(
            "A tensor of your layer is not an nn.Parameter, so training does not change it. Make it an nn.Parameter."
        ),
    ),
    (r"WrongForm: [\w.]+ and (\w+)\.\w+ are one parameter", one_parameter_for_two),
)
