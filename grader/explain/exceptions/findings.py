"""What the findings of a probe mean: values and layers of another form than was asked for.

A probe raises them as WrongForm (declare/probes.py). No line of the student's raised it, so the source as a whole is
looked at.
"""

import ast
import re

from grader.explain.code.read_code import Raising
from grader.explain.exceptions.names import NO_RETURN, attribute_of_layer, shared_layer
from grader.explain.exceptions.rules import Rule, sentence


def another_number_came_back(raising: Raising, found: re.Match) -> str:
    """Say that a pair is due."""
    came = {"nothing": "Nothing", "one value": "One value"}.get(found[1], "Another number of values")
    names = f": {found[2]}, in this order" if found[2] else ""
    return f"{came} came back, and two are asked for{names}."


def no_tensor_came_back(raising: Raising, found: re.Match) -> str:
    """Say what came back in the place of a tensor."""
    name, kind = found[1], found[2]
    if kind == "nothing":
        return f"Nothing came back for the {name}: {NO_RETURN}"
    if kind in ("list", "tuple"):
        return f"The {name} came back as a Python {kind}. torch.stack or torch.cat makes one tensor of its parts."
    if kind in ("float", "int"):
        return f"The {name} came back as a plain Python number, which carries no gradient. Return the tensor."
    return ""


def no_number_came_back(raising: Raising, found: re.Match) -> str:
    """Say what came back in the place of a number."""
    if found[1] == "nothing":
        return f"Nothing came back: {NO_RETURN}"
    return "Several numbers came back, where one is asked for." if found[1].startswith("shape") else ""


def part_is_missing(raising: Raising, found: re.Match) -> str:
    """Say how the student's layer names what was asked for, or that it does not keep it."""
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
        return f"`{where}` keeps its layers as {there}. Several layers in a row are due: nn.Sequential counts them 0, 1, 2."
    if there == "0":
        return f"`{where}` wraps its layer in an nn.Sequential, and the layer itself is due."
    if there.startswith("0"):
        return f"`{where}` is several layers in a row, and a single one is due."
    return f"`{where}` is another kind of layer than the task asks for: it has no `{name}`."


def part_of_another_kind(raising: Raising, found: re.Match) -> str:
    """Say what is kept under a name, and what should be."""
    if found[3] == "layer":
        return f"The task asks for a layer named `{found[1]}`; what you keep under this name is none."
    return f"`{found[1]}` is a layer, nn.{found[2]}, and a single parameter is due: nn.Parameter."


def part_of_another_shape(raising: Raising, found: re.Match) -> str:
    """Say what is wrong with the sizes of a parameter; no numbers, so that those of several trials can be compared."""
    has, wants = ([size for size in text.split(", ") if size] for text in (found[2], found[3]))
    if has == wants[::-1]:
        if "." not in found[1]:
            return f"`{found[1]}` has its two axes the wrong way round."
        return (
            f"The two widths of `{found[1]}` have changed places: nn.Linear takes the width that comes in first, then the "
            "one that goes out."
        )
    if "." not in found[1]:
        return f"`{found[1]}` does not have the shape that the task asks for."
    return f"`{found[1]}` does not have the shape that the task asks for. Check the sizes that its layer is made with."


def one_parameter_for_two(raising: Raising, found: re.Match) -> str:
    """Say that two names stand for one layer."""
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
