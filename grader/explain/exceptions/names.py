"""Explains exceptions about names and attributes: misspelt, never set, not registered, or on the wrong object.

Each rule's function returns a message for the student, or "" if it has no explanation.
"""

import ast
import builtins
import difflib
import math
import re
from collections.abc import Collection, Iterable

import torch
from torch import nn
from torch.nn import functional as F

from grader.explain.code.read_code import Raising, called_name, calls, parts_of, self_attributes, text_of, values_of
from grader.explain.exceptions.rules import Rule, sentence

NOT_TENSOR = {  # what other libraries call it
    "astype": "`.to(dtype)`",
    "copy": "`.clone()`",
    "len": "`.shape[…]` or `len(…)`",
    "length": "`.shape[…]`",
    "shapes": "`.shape`",
    "append": "`torch.cat` or `torch.stack`",
    "concat": "`torch.cat`",
    "concatenate": "`torch.cat`",
    "expand_dims": "`.unsqueeze(…)`",
    "dot_product": "`@`",
    "transposed": "`.transpose(…)`",
}
NO_RETURN = "your code reaches no `return`, or the value that it returns is None."
HOMES = (("torch", torch), ("math", math), ("torch.nn.functional, imported as F", F), ("nn", nn))


def nearest(name: str, names: Collection[str]) -> str:
    """Return the name that a misspelt name is meant to be, or "" if none of `names` is similar."""
    cutoff = 0.75 if len(name) > 4 else 0.85  # short names are near to many
    same = [
        other for other in names if other.lower().replace("_", "") == name.lower().replace("_", "") and other != name
    ]
    close = difflib.get_close_matches(name, [other for other in names if other != name], n=1, cutoff=cutoff)
    return (same or close or [""])[0]


# ---------------------------------------------------------------- names


def undefined_name(raising: Raising, found: re.Match) -> str:
    """Return a message about an undefined name that suggests the right name, or the missing import or `self`."""
    name = found[1]
    if name == "self":
        return "`self` is missing: it must be the first parameter of each method."
    kept = self_attributes(raising.tree)
    local = {inner.id for inner in ast.walk(raising.tree) if isinstance(inner, ast.Name) and inner.id != name}
    local |= {inner.arg for inner in ast.walk(raising.tree) if isinstance(inner, ast.arg)}
    # `self.width = width` gives no width to __init__.
    if name in _methods(raising.tree) or (name in kept and (name in local or not isinstance(kept[name], ast.Name))):
        return f"`{name}` belongs to the layer: write `self.{name}`."
    if name in ("true", "false", "none", "null"):
        return f"In Python, write `{ {'null': 'None'}.get(name, name.capitalize()) }`."
    if name in vars(math) and hasattr(torch, name) and any(calls(raising.node, name)):
        return (
            f"`{name}` is not defined here. Two modules have this function: "
            f"use `math.{name}` for a number, and `torch.{name}` for a tensor."
        )
    if right := nearest(name, local):
        return f"`{name}` is not defined. Did you mean `{right}`?"
    if right := nearest(name, dir(builtins)):
        return f"`{name}` is not defined. Did you mean `{right}`?"
    if name in ("np", "numpy"):
        return "numpy is not imported here. Import it in a line above, or use torch."
    if name in ("math", "random", "itertools", "functools", "copy", "einops"):
        return f"`{name}` is not imported here: write `import {name}` in a line above."
    if not raising.line or raising.foreign:
        return ""
    if any(calls(raising.node, name)):
        return f"`{name}` is not defined here. Define it, import it, or call it by its full name."
    return f"`{name}` is not defined here. Give it a value before this line, or use the right variable's name."


def _methods(tree: ast.AST) -> set[str]:
    """Return the names of the methods of an answer's classes."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {node.name for one in classes for node in one.body if isinstance(node, ast.FunctionDef)}


def unbound(raising: Raising, found: re.Match) -> str:
    """Explain that a local variable is read before it has a value."""
    if isinstance(raising.node, ast.Assign) and any(calls(raising.node.value, found[1])):
        return (
            f"You assign to `{found[1]}` in this function, so here the name no longer means the function `{found[1]}`. "
            "Give your variable another name."
        )
    return f"`{found[1]}` has no value yet when this line runs. Give it a value earlier, in every branch of the code."


# ---------------------------------------------------------------- attributes of tensors and modules


def attribute_of_tensor(raising: Raising, found: re.Match) -> str:
    """Return a message that tensors lack an attribute. It names the attribute or function to use instead."""
    name = found[1]
    if instead := NOT_TENSOR.get(name):
        return f"Tensors have no `.{name}`. In torch, use {instead}."
    public = [other for other in dir(torch.Tensor) if not other.startswith("_")]
    if right := nearest(name, public):
        return f"Tensors have no `.{name}`. Did you mean `.{right}`?"
    if name in vars(F) or name in vars(torch):
        return f"Tensors have no method `.{name}`. Pass the tensor to the function `{name}` instead."
    owners = [call.func.value for call in calls(raising.node, name) if isinstance(call.func, ast.Attribute)]
    if owners and name.islower():
        return f"Tensors have no `.{name}`. If `{name}` is a function, pass the tensor to it: `{name}(…)`."
    return f"`{text_of(owners[0])}` is a tensor here, and tensors have no `.{name}`." if owners else ""


def attribute_of_library(raising: Raising, found: re.Match) -> str:
    """Return a message that names the module which contains a function that another module lacks."""
    module, name = found[1], found[2]
    home = {"torch": torch, "math": math, "torch.nn": nn, "torch.nn.functional": F}.get(module)
    for where, place in HOMES:
        if place is not home and hasattr(place, name):
            return f"`{name}` is not in {module}, but in {where}."
    right = nearest(name, [other for other in dir(home) if not other.startswith("_")]) if home else ""
    return f"{module} has no `{name}`. Did you mean `{right}`?" if right else ""


def attribute_of_value(raising: Raising, found: re.Match) -> str:
    """Explain that a pair, a list, a number or None has no attributes of a tensor, where a tensor is expected."""
    kind, name = found[1], found[2]
    if not raising.line:
        return _came_back(kind, name, raising)
    parts = (node.value for node in parts_of(raising.node) if isinstance(node, ast.Attribute) and node.attr == name)
    owner = the_one(map(text_of, parts), raising)
    its = f"`{owner}`" if owner else "Something on this line"
    if kind == "tuple":
        return f"{its} is a tuple here, not a tensor. Unpack the tuple first."
    if kind == "list":
        return f"{its} is a Python list here, not a tensor. Make a tensor of the list with torch.stack or torch.cat."
    if kind in ("int", "float"):
        return f"{its} is a plain Python number here, not a tensor, so it has no `.{name}`."
    return nothing(raising, owner) or _handed_on(raising)


def the_one(texts: Iterable[str], raising: Raising) -> str:
    """Return the only text among `texts` that is not a tensor of known shape, or "" if there is not exactly one."""
    found = set(texts) - raising.shapes.keys()
    return found.pop() if len(found) == 1 else ""


def nothing(raising: Raising, owner: str) -> str:
    """Return a message that `owner` is None, with the reason if it is known. Return "" if `owner` is ""."""
    made = made_by(owner, raising.tree) or next((call for call in calls(raising.node) if text_of(call) == owner), None)
    name = called_name(made) if made is not None else ""
    for value in values_of(owner, raising.tree):
        if called_name(value) in ("append", "extend", "sort", "reverse", "insert"):
            return f"`{owner}` is None, because .{called_name(value)} changes the list and returns nothing."
    if name in _without_return(raising.tree):
        return f"`{owner}` is None, because `{name}` returns nothing. Add a `return` to `{name}`."
    if owner.endswith(".grad"):
        return f"`{owner}` is None, because no gradient has reached `{owner.removesuffix('.grad')}` yet."
    if made is not None or not owner:
        return f"`{owner}` is None here." if owner else ""
    return f"`{owner}` is None here. If None is allowed, check `{owner} is None` first."


def _without_return(tree: ast.AST) -> set[str]:
    """Return the names of the functions that return no value."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {
        function.name
        for function in functions
        if not any(isinstance(inner, ast.Return) and inner.value for inner in ast.walk(function))
    }


def _handed_on(raising: Raising) -> str:
    """Return a message if an argument of the failed call is a function that returns no value, and "" otherwise."""
    given = [part for call in calls(raising.node) for part in (*call.args, *(word.value for word in call.keywords))]
    names = [part.id for part in given if isinstance(part, ast.Name)]
    without = _without_return(raising.tree)
    found = next((name for name in names if name in without), "")
    return f"`{found}` returns nothing. Add a `return` to `{found}`." if found else ""


def made_by(name: str, tree: ast.AST) -> ast.Call | None:
    """Return the call whose result is assigned to a name, or None if the name has other or several values."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    made = [node.value for node in assigned if any(text_of(target) == name for target in node.targets)]
    return made[0] if len(made) == 1 and isinstance(made[0], ast.Call) else None


def _came_back(kind: str, name: str, raising: Raising) -> str:
    """Return a message about the value that was returned instead of a tensor, or about a missing bias.

    The attribute that the grader asked for distinguishes the two cases.
    """
    if kind == "NoneType" and name == "copy_":
        return "One of your layers has no bias, but the task asks for a bias: leave out bias=False."
    if kind == "NoneType":
        return f"Your function returned None: {NO_RETURN}"
    if kind in ("tuple", "list"):
        return "Expected one tensor, but got several values."
    return "Expected a tensor, but got a plain Python number."


# ---------------------------------------------------------------- attributes of the student's own layer


def super_first(*_: object) -> str:
    """Return a message that __init__ must begin with `super().__init__()`."""
    return "Call `super().__init__()` first in __init__, before you store anything in self."


def attribute_of_layer(raising: Raising, found: re.Match) -> str:
    """Return a message that the student's layer lacks an attribute. It names a similar one that the layer has."""
    owner, name = found[1], found[2]
    classes = {node.name: node for node in ast.walk(raising.tree) if isinstance(node, ast.ClassDef)}
    if name in ("_modules", "_parameters", "_buffers", "_backward_hooks") or owner == "super":
        return super_first()
    if owner not in classes:
        return _wrong_kind(owner, name, raising)
    kept = self_attributes(classes[owner])
    members = {*kept, *_methods(raising.tree)} - {"__init__", "forward"}
    asked = not any(
        isinstance(n, ast.Attribute) and n.attr == name and text_of(n.value) == "self" for n in ast.walk(raising.tree)
    )
    listed = [key for key, value in kept.items() if _is_plain_list_of_layers(value)]
    if asked and listed:
        return (
            f"`self.{listed[0]}` is a plain list, so its layers are not registered. "
            f"Store each layer under its own name: the task asks for `{name}`."
        )
    if name in members:
        return f"`self.{name}` is not set yet when this line runs: set it earlier, in __init__."
    if right := nearest(name, members):
        said = "the task asks for" if asked else "this line asks for"
        return f"Your layer has `{right}`, but {said} `{name}`. Names must match letter by letter."
    if any(called_name(value)[:1].isupper() for value in values_of(name, classes[owner])):
        if not _is_set_in_init(classes[owner], name):
            return (
                f"`{name} = …` creates a new layer in each call and does not store it. "
                f"Create the layer once, in __init__: `self.{name} = …`."
            )
        return f"The variable `{name}` is lost when __init__ ends. Store its value in the layer: `self.{name} = …`."
    if asked and kept:
        layers = [key for key, value in kept.items() if any(calls(value))] or list(kept)
        names = ", ".join(f"`{key}`" for key in layers[:5])
        return f"Your layer has {names}, but the task asks for an attribute `{name}`. Use the task's names."
    return f"`{name}` is never stored in the layer: __init__ has to set `self.{name}`." if not asked else ""


def _is_set_in_init(owner: ast.ClassDef, name: str) -> bool:
    """Return True if the variable `name` occurs in __init__."""
    inits = [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    return any(isinstance(part, ast.Name) and part.id == name for init in inits for part in ast.walk(init))


def _is_plain_list_of_layers(value: ast.expr | None) -> bool:
    """Return True if an expression is a plain list, tuple or dict of layers, not an nn.ModuleList or nn.ModuleDict."""
    plain = isinstance(value, (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Tuple))
    return plain and any(text_of(call.func).startswith("nn.") for call in calls(value))


def _wrong_kind(owner: str, name: str, raising: Raising) -> str:
    """Explain a missing attribute of one of torch's layers.

    If a line of the answer reads the attribute, suggest the attribute that is
    meant. Otherwise name the type of layer that is expected.
    """
    if raising.line:
        layer = getattr(nn, owner, None)
        public = {*dir(layer), *getattr(layer, "__annotations__", ()), "bias"}
        right = nearest(name, [other for other in public if not other.startswith("_")])
        return f"nn.{owner} has no `{name}`. Did you mean `{right}`?" if right and layer else ""
    if name.isdigit():
        return f"Expected several layers in a row, but got a single nn.{owner}."
    if owner == "Sequential":
        return "Expected a single layer, but got an nn.Sequential of several layers."
    if owner in vars(nn) and name in ("copy_", "shape", "dtype", "data", "requires_grad"):
        return f"Expected a single parameter (nn.Parameter), but got the layer nn.{owner}."
    if owner in vars(nn):
        return f"Expected another kind of layer here: an nn.{owner} has no `{name}`."
    return ""


def no_layer(raising: Raising, found: re.Match) -> str:
    """Return a message that the task asks for a layer with this name.

    Return "" if the student's own line raised the exception.
    """
    return (
        ""
        if raising.line
        else f"The value that you store as `{found[2]}` is not a layer, but the task asks for a layer of this name."
    )


def misspelt_forward(raising: Raising, _: re.Match) -> str:
    """Return a message that the layer's method `forward` is missing or misspelt."""
    if "ModuleList" in raising.message or "ModuleDict" in raising.message:
        return "An nn.ModuleList or nn.ModuleDict only stores layers and cannot be called. Call its layers one by one."
    if right := nearest("forward", _methods(raising.tree) - {"forward"}):
        return f"`{right}` is misspelt: a call of the layer runs the method `forward`."
    return "The layer has no method `forward`. Is `def forward` inside the class, indented like __init__?"


def shared_layer(raising: Raising, found: re.Match) -> str:
    """Explain that a parameter is missing because one layer is stored under two names."""
    if raising.line or found[1] not in self_attributes(raising.tree):
        return ""
    return (
        f"`{found[1]}` and another name are the same layer, so they share their parameters. "
        "Create a separate layer for each name."
    )


NAME_RULES: tuple[Rule, ...] = (
    (r"NameError: name '(\w+)' is not defined", undefined_name),
    (r"UnboundLocalError: .*local variable '(\w+)'", unbound),
    (r"AttributeError: cannot assign \w+ before Module.__init__\(\) call", super_first),
    (
        "TypeError: descriptor '__init__' of 'super' object needs",
        sentence("Brackets are missing: `super().__init__()`."),
    ),
    (
        "AttributeError: 'super' object has no attribute 'init'",
        sentence("Write `super().__init__()`, with two underscores on each side of `init`."),
    ),
    (r"AttributeError: 'Tensor' object has no attribute '(\w+)'", attribute_of_tensor),
    (r"AttributeError: module '([\w.]+)' has no attribute '(\w+)'", attribute_of_library),
    (
        "(?:AttributeError: '|must be Tensor, not |"
        r"unsupported operand type\(s\) "
        r".*')torch.return_types.(max|min|sort|topk|median|mode|kthvalue|cummax|cummin)\b",
        sentence(".{1} along an axis returns two tensors, values and indices. Take the values: `.values`."),
    ),
    (r"AttributeError: '(tuple|list|int|float|NoneType)' object has no attribute '(\w+)'", attribute_of_value),
    (r"AttributeError: '?(\w+)'?(?: object)? has no attribute [`'](\w+)[`']", attribute_of_layer),
    (r"AttributeError: (`?)(\w+)`? is not an nn.Module", no_layer),
    (
        r"(?:NotImplementedError: Module \[\w+\] is missing|TypeError: (?:\w+\.)?_forward_unimplemented\(\))",
        misspelt_forward,
    ),
    (r"KeyError: '(\w+)\.(?:weight|bias)'", shared_layer),
)
