"""Explains other exceptions of torch: sizes of a reshape, axes, indices, dtypes, gradients, losses.

Each rule's function returns a message for the student, or "" if it has no explanation.
"""

import ast
import re

from grader.explain.code.read_code import (
    Effect,
    Raising,
    called_name,
    calls,
    integer,
    parts_of,
    self_attributes,
    text_of,
)
from grader.explain.exceptions.rules import Rule, sentence

RESHAPES = ("view", "reshape", "unflatten")

# ---------------------------------------------------------------- sizes and axes


def sizes_do_not_multiply(raising: Raising, _: re.Match) -> str:
    """Return a message that a reshape's sizes do not fit the tensor. It names a fixed number among the sizes."""
    for call in calls(raising.node, *RESHAPES):
        name = called_name(call)
        parts = [node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node] for node in call.args]
        numbers = [integer(size) for part in parts[name == "unflatten" :] for size in part]
        number = next((f" Is the {number} right for every input?" for number in numbers if number and number > 1), "")
        return (
            f"The product of the sizes in .{name} is not the number of entries of the tensor. "
            f"Check that this is the right tensor, and check each size.{number}"
        )
    return ""


def axis_out_of_range(raising: Raising, found: re.Match) -> str:
    """Return a message about an axis that a tensor does not have, with a better way to name an axis."""
    axis = int(found[1])
    if axis >= 0 and all(integer(part) != axis for part in parts_of(raising.node)):
        return f"There is no axis {axis} here. Check how this number is computed."
    if axis >= 0:
        return f"There is no axis {axis} here. If inputs differ in their number of axes, count from the end: -1, -2, …"
    return "A tensor has fewer axes here than this line assumes."


def more_axes_than_sizes(raising: Raising, found: re.Match) -> str:
    """Return a message that names the tensor with one axis too many, or explains .repeat and .expand."""
    if any(calls(raising.node, "repeat", "expand")):
        return ".repeat and .expand need a number for every axis, but the tensor has more axes here. `-1` in .expand keeps an axis as it is."
    many = [name for name, shape in raising.shapes.items() if found[1] and len(shape) == int(found[1])]
    return f"`{many[0]}` has one axis too many here." if len(many) == 1 else ""


def index_out_of_bounds(raising: Raising, found: re.Match) -> str:
    """Return a message that names the axis to which an index applies."""
    axis = int(found[2])
    if found[1].startswith("-"):
        return "A negative index counts from the end, but this one goes past the start."
    for call in calls(raising.node, "gather", "index_select", "take_along_dim", "scatter"):
        numbers = [number for node in call.args if (number := integer(node)) is not None and number >= 0]
        if numbers:
            return (
                f"{called_name(call)} runs along axis {numbers[0]} here, but an index does not fit there. "
                "Which axis are the indices meant for?"
            )
    if axis == 0 and not any(calls(raising.node, "gather", "index_select", "cross_entropy", "nll_loss")):
        for node in parts_of(raising.node):
            if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Tuple, ast.Slice)):
                owner = text_of(node.value)
                if len(raising.shapes.get(owner, ())) > 1:
                    return (
                        f"`{text_of(node)}` takes entries along the first axis of `{owner}`. Did you mean another axis?"
                    )
    return ""


def joined(raising: Raising, _: re.Match) -> str:
    """Return a message that explains the shapes that torch.cat and torch.stack need."""
    name = next(
        (
            called_name(call)
            for call in calls(raising.node, "cat", "stack", "concat", "concatenate", "hstack", "vstack")
        ),
        "",
    )
    if "stack expects each" in raising.message:
        return "torch.stack needs tensors with the same shape; these differ."
    return (
        f"torch.{name} joins along one axis, and all other axes must be equally long. "
        "Check that axis, and the shapes of the parts."
        if name
        else ""
    )


# ---------------------------------------------------------------- dtypes, devices, gradients


def no_graph(raising: Raising, _: re.Match) -> str:
    """Return a message that names the line which stops gradients from being recorded, such as `torch.no_grad()`."""
    if found := raising.clue(Effect.GRADIENT):
        return found.says
    return "No gradients were recorded here." if raising.line else ""


def graph_is_gone(raising: Raising, _: re.Match) -> str:
    """Return a message that explains how to take several gradients of one computation."""
    if any(calls(raising.node, "grad")):
        return (
            "The first call of grad frees the graph that the next call needs. "
            "Take the gradient of the sum at once, or pass retain_graph=True."
        )
    return "backward() runs twice over one computation. Compute the loss again before each backward()."


def frozen(raising: Raising, _: re.Match) -> str:
    """Return a message that a tensor or parameter does not require a gradient."""
    if raising.line:
        return "One tensor on this line does not require a gradient: is it a frozen parameter or a detached copy? Leave it out."
    if found := raising.clue(Effect.GRADIENT):
        return found.says
    if self_attributes(raising.tree):
        return "A parameter of your layer does not require a gradient, so it is never learned."
    return ""


def targets_and_scores(raising: Raising, _: re.Match) -> str:
    """Return a message that explains the arguments that cross_entropy and nll_loss expect."""
    if "batch_size" in raising.message:
        return "There are not as many rows of scores as targets: each target needs one row."
    name = next((called_name(call) for call in calls(raising.node, "cross_entropy", "nll_loss")), "")
    return (
        f"{name} looks for the classes on axis 1. Flatten scores and targets first, so that each target has one row of scores."
        if name
        else ""
    )


def whole_numbers(raising: Raising, found: re.Match) -> str:
    """Return a message that floats are needed, in this line or in a function that it calls with a wrong tensor."""
    function = re.match(r"(\w+)\(\): could not infer", raising.message)
    if raising.node is None or not function or any(calls(raising.node, function[1])):
        return (
            "This tensor contains whole numbers or bools, but the function needs floats. "
            "If it is the right one, .to(…) converts it."
        )
    read = {inner.id for inner in ast.walk(raising.node) if isinstance(inner, ast.Name)}
    for node in ast.walk(raising.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name):
            continue
        names = node.targets[0]
        if isinstance(names, ast.Tuple) and read & {text_of(one) for one in names.elts}:
            return (
                "The function called here gets whole numbers but needs floats, so it gets the wrong tensor."
                f" Check the order of the names in line {node.lineno}, `{text_of(node, 70)}`."
            )
    return "The function called here gets whole numbers but needs floats. Is it the right tensor?"


TORCH_RULES: tuple[Rule, ...] = (
    (
        "view size is not compatible with input tensor's size and stride",
        sentence(
            "After a transpose or a slice, the numbers of a tensor are not in order in memory, so .view fails. "
            "Use .reshape or .flatten."
        ),
    ),
    (r"RuntimeError: shape '\[.*\]' is invalid for input of size", sizes_do_not_multiply),
    ("unflatten: Provided sizes", sizes_do_not_multiply),
    (r"IndexError: Dimension out of range \(expected to be in range of .*but got (-?\d+)\)", axis_out_of_range),
    (r"index (-?\d+) is out of bounds for dimension (\d+) with size", index_out_of_bounds),
    (
        r"maximum size for tensor at dimension \d+ is \d+ but size is",
        sentence(
            "unfold cuts windows that are longer than this axis. Is it the right axis, and long enough in every input?"
        ),
    ),
    (
        "IndexError: index out of range in self",
        sentence("An id is negative, or too large for the table of the nn.Embedding: it needs a row for each id."),
    ),
    (
        "IndexError: too many indices for tensor",
        sentence("There are more indices in the square brackets than axes here. `…, i` counts from the end."),
    ),
    (
        "IndexError: tensors used as indices must be",
        sentence("Indices must be whole numbers or bools, but this tensor contains floats."),
    ),
    (
        r"(?:permute\(.*\)|permute): number of dim|number of dims don't match in permute",
        sentence(
            ".permute needs a number for every axis, but the tensor has more or fewer axes here. "
            ".transpose(-2, -1) swaps two axes and keeps the rest."
        ),
    ),
    (
        r"Number of dimensions of repeat dims|the number of sizes provided \(\d+\) must be greater.*\((\d+)\)",
        more_axes_than_sizes,
    ),
    (
        "batch[12] must be a 3D tensor|(?:self|mat2) must be a matrix|1D tensors expected",
        sentence(
            "torch.bmm, torch.mm and torch.dot take tensors with exactly three, two or one axes. `@` takes any "
            "number of leading axes."
        ),
    ),
    ("tensor.m[TH] is only supported on matrices", sentence(".mT needs two axes, but the tensor has fewer here.")),
    (
        "Padding length should be less than or equal to two times",
        sentence(
            "F.pad takes a pair of numbers for each axis, from the last one on, but here are more pairs than axes."
        ),
    ),
    (
        "Given normalized_shape=.*expected input with shape",
        sentence("The width of the input is not the one that this nn.LayerNorm was created for."),
    ),
    (
        "indices' to have one of the following scalar types: Long|one_hot is only applicable to index|"
        "Expected dtype int32/int64 for index",
        sentence("Ids and indices must be whole numbers: torch.long. Is this the right tensor?"),
    ),
    (
        "stack expects a non-empty|expected a non-empty list of Tensors",
        sentence(
            "The list is empty here, so there is nothing to join. Does the task ask for one tensor, or for the list itself?"
        ),
    ),
    ("stack expects each tensor|Sizes of tensors must match except in dimension", joined),
    (
        "Index tensor must have the same number of dimensions as (?:input|self) tensor",
        sentence(
            "gather needs an index with as many axes as the tensor: .unsqueeze(-1) adds one, .squeeze(-1) "
            "removes it again."
        ),
    ),
    (
        "(?:have the same dtype|expected scalar type|dtypes match, "
        "got|same dtype, but got).*(?:Long|long|Int|int|Bool|bool)",
        sentence(
            "Two tensors have different dtypes here, and one contains whole numbers or bools. Is it the right one?"
        ),
    ),
    (
        "have the same dtype|expected scalar type (?:Double|Float|Half) but found|dtypes match, got|"
        "same dtype, but got",
        sentence(
            "A tensor that you create has another dtype than the inputs: give it the inputs' dtype.", Effect.FLOAT32
        ),
    ),
    (
        "Expected all tensors to be on the same device|is not on the expected device",
        sentence(
            "A tensor that you create is on another device than the inputs: give it the inputs' device.", Effect.DEVICE
        ),
    ),
    (
        r"Can't call numpy\(\) on Tensor that requires grad",
        sentence("numpy records no gradients. Use torch's functions instead."),
    ),
    (
        "Inference tensors cannot be saved for backward",
        sentence(
            "A tensor made under inference_mode can never be part of a gradient. One made under torch.no_grad() can."
        ),
    ),
    ("does not require grad and does not have a grad_fn", no_graph),
    ("One of the differentiated Tensors does not require grad", frozen),
    (
        "differentiated Tensors? .*appears? to not have been used",
        sentence(
            "The result does not depend on every tensor in this call. Is one of them a copy, or detached? If you "
            "intend that, allow_unused=True returns None for it."
        ),
    ),
    (
        "a leaf Variable that requires grad is being used in an in-place|"
        "modified by an inplace operation|is a view and is being modified inplace",
        sentence(
            "A tensor that is still needed is changed in place (`+=`, `x[…] = …`, `x_()`). Make a new one.",
            Effect.IN_PLACE,
        ),
    ),
    (
        "more than one element of the written-to tensor refers to a single memory",
        sentence(".expand copies nothing: all its rows share one memory. Write into a .clone() of it."),
    ),
    (
        r"`inputs` argument to `grad\(\)` cannot be empty",
        sentence("There is nothing here to compute a gradient for. Leave out grad if no parameter requires one."),
    ),
    ("backward through the graph a second time", graph_is_gone),
    (
        "grad can be implicitly created only for scalar outputs",
        sentence(
            "A gradient can be taken only of one number, but here are several. Add them up, or take their mean, as "
            "the task says."
        ),
    ),
    (
        r"derivative for aten::(\w+) is not implemented",
        sentence("{1} has no derivative, so no gradient passes through it."),
    ),
    (
        r"Expected target size|size mismatch \(got input|Expected input batch_size|multi-target not supported",
        targets_and_scores,
    ),
    (
        "Expected floating point type for target with class probabilities",
        sentence("There is one score for each target here. cross_entropy needs a row of scores, one for each class."),
    ),
    (
        r"empty\(\): argument 'size'.*NoneType",
        sentence("A size is None here. If an argument may be left out, compute the size that it then stands for."),
    ),
    (
        "Subtraction, the `-` operator, with (?:two bool tensors|a bool tensor)",
        sentence("To negate a bool mask, use `~`, not a minus."),
    ),
    (
        r"bitwise_(?:and|or|xor)_\w+.* not implemented for '(?:Float|Double)'",
        sentence("`&`, `|` and `^` combine bools, but a tensor here contains floats. Make it bool first."),
    ),
    (
        r"bitwise_not_\w+.* not implemented for '(?:Float|Double)'|~ \(operator.invert\) is only implemented",
        sentence("`~` negates bools, but this tensor contains floats. Make it bool first."),
    ),
    (
        "masked_fill_? only supports boolean masks|expected.*mask.* to be (?:BoolTensor|bool)|"
        "where expected condition to be a boolean",
        sentence("The mask must be a tensor of bools; this one contains numbers."),
    ),
    (r"could not infer output dtype.*Long|mean\(\): .*Long|not implemented for '(?:Long|Bool)'", whole_numbers),
    (
        "can't be cast to the desired output type (?:Long|Int|Bool)",
        sentence(
            "The tensor on the left holds whole numbers or bools and cannot take floats in place. Make a new tensor."
        ),
    ),
    (
        "expected (?:scalar type|target dtype to be) Long|Expected .*Long.* for argument",
        sentence("Ids and targets must be whole numbers: torch.long."),
    ),
    (
        r"cannot assign '.*' as parameter '(\w+)'",
        sentence("`self.{1}` is a parameter: assign only an nn.Parameter to it."),
    ),
    (
        r"cannot assign '.*' as child module '(\w+)'",
        sentence("`self.{1}` is a layer, so it cannot be replaced by something else under the same name."),
    ),
    ("Only Tensors of floating point .* can require gradients", sentence("A parameter must contain floats.")),
)
