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
        number = next(
            (f" Is the number {number} right for every input?" for number in numbers if number and number > 1), ""
        )
        return (
            f"The product of the sizes in `.{name}` is not the number of entries in the tensor. "
            f"Is this the right tensor, and is each size right?{number}"
        )
    return ""


def axis_out_of_range(raising: Raising, found: re.Match) -> str:
    """Return a message about an axis that a tensor does not have, with a better way to name an axis."""
    axis = int(found[1])
    if axis >= 0 and all(integer(part) != axis for part in parts_of(raising.node)):
        return f"The tensor has no axis {axis} here. Check how you compute the number of the axis."
    if axis >= 0:
        return (
            f"The tensor has no axis {axis} here. "
            "If inputs differ in their number of axes, count axes from the end: -1, -2, …"
        )
    return "A tensor has fewer axes than this line needs. Check the shapes of its tensors."


def more_axes_than_sizes(raising: Raising, found: re.Match) -> str:
    """Return a message that names the tensor with one axis too many, or explains .repeat and .expand."""
    if any(calls(raising.node, "repeat", "expand")):
        return (
            "`.repeat` and `.expand` need a number for every axis, but this tensor has more axes than that. "
            "In `.expand`, -1 keeps an axis as it is."
        )
    many = [name for name, shape in raising.shapes.items() if found[1] and len(shape) == int(found[1])]
    return f"`{many[0]}` has one axis too many for this line." if len(many) == 1 else ""


def index_out_of_bounds(raising: Raising, found: re.Match) -> str:
    """Return a message that names the axis to which an index applies."""
    axis = int(found[2])
    if found[1].startswith("-"):
        return "This negative index counts from the end, but the axis does not have that many entries."
    for call in calls(raising.node, "gather", "index_select", "take_along_dim", "scatter"):
        numbers = [number for node in call.args if (number := integer(node)) is not None and number >= 0]
        if numbers:
            return (
                f"`{called_name(call)}` runs along axis {numbers[0]} here, but an index is too large for this axis. "
                "Are the indices meant for another axis?"
            )
    if axis == 0 and not any(calls(raising.node, "gather", "index_select", "cross_entropy", "nll_loss")):
        for node in parts_of(raising.node):
            if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Tuple, ast.Slice)):
                owner = text_of(node.value)
                if len(raising.shapes.get(owner, ())) > 1:
                    return (
                        f"`{text_of(node)}` takes entries along the first axis of `{owner}`, but an index is too large "
                        "for this axis. Did you mean another axis?"
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
        return "torch.stack needs tensors of the same shape, but their shapes differ here."
    return (
        f"torch.{name} joins tensors along one axis, and all other axes must be equally long. "
        "Check which axis you join along, and the shapes of the tensors."
        if name
        else ""
    )


# ---------------------------------------------------------------- dtypes, devices, gradients


def no_graph(raising: Raising, _: re.Match) -> str:
    """Return a message that names the line which stops gradients from being recorded, such as `torch.no_grad()`."""
    if found := raising.clue(Effect.GRADIENT):
        return found.says
    return "No gradients were recorded here. Is a tensor detached, or frozen?" if raising.line else ""


def graph_is_gone(raising: Raising, _: re.Match) -> str:
    """Return a message that explains how to take several gradients of one computation."""
    if any(calls(raising.node, "grad")):
        return (
            "The first call of grad frees the graph that the next call needs. "
            "Call grad only once, on the sum of all results, or pass retain_graph=True."
        )
    return "backward() runs twice over one computation. Compute the loss again before each backward()."


def frozen(raising: Raising, _: re.Match) -> str:
    """Return a message that a tensor or parameter does not require a gradient."""
    if raising.line:
        return (
            "A tensor on this line does not require a gradient. "
            "Is it a frozen parameter or a detached copy? Then leave this tensor out."
        )
    if found := raising.clue(Effect.GRADIENT):
        return found.says
    if self_attributes(raising.tree):
        return "A parameter of your layer does not require a gradient, so it is never learned."
    return ""


def targets_and_scores(raising: Raising, _: re.Match) -> str:
    """Return a message that explains the arguments that cross_entropy and nll_loss expect."""
    if "batch_size" in raising.message:
        return "There are more or fewer rows of scores than targets, but each target needs one row of scores."
    name = next((called_name(call) for call in calls(raising.node, "cross_entropy", "nll_loss")), "")
    return (
        f"{name} looks for the classes on axis 1. Flatten scores and targets first, so that each target has one row of "
        "scores."
        if name
        else ""
    )


def whole_numbers(raising: Raising, found: re.Match) -> str:
    """Return a message that floats are needed, in this line or in a function that it calls with a wrong tensor."""
    function = re.match(r"(\w+)\(\): could not infer", raising.message)
    if raising.node is None or not function or any(calls(raising.node, function[1])):
        return (
            "This tensor contains whole numbers or bools, but the function needs floats. "
            "If this is the right tensor, convert it with `.to(…)`."
        )
    read = {inner.id for inner in ast.walk(raising.node) if isinstance(inner, ast.Name)}
    for node in ast.walk(raising.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name):
            continue
        names = node.targets[0]
        if isinstance(names, ast.Tuple) and read & {text_of(one) for one in names.elts}:
            return (
                "The function that you call here needs floats, but gets whole numbers: you pass the wrong tensor."
                f" Check the order of the names in line {node.lineno}, `{text_of(node, 70)}`."
            )
    return "The function that you call here needs floats, but gets whole numbers. Do you pass the right tensor?"


TORCH_RULES: tuple[Rule, ...] = (
    (
        "view size is not compatible with input tensor's size and stride",
        sentence(
            "`.view` does not work after a transpose or a slice: the numbers are then not in order in memory. "
            "Use `.reshape` or `.flatten` instead."
        ),
    ),
    (r"RuntimeError: shape '\[.*\]' is invalid for input of size", sizes_do_not_multiply),
    ("unflatten: Provided sizes", sizes_do_not_multiply),
    (r"IndexError: Dimension out of range \(expected to be in range of .*but got (-?\d+)\)", axis_out_of_range),
    (r"index (-?\d+) is out of bounds for dimension (\d+) with size", index_out_of_bounds),
    (
        r"maximum size for tensor at dimension \d+ is \d+ but size is",
        sentence(
            "unfold cuts windows that are longer than this axis. "
            "Is this the right axis, and is it long enough in every input?"
        ),
    ),
    (
        "IndexError: index out of range in self",
        sentence("An id is negative, or too large for the nn.Embedding: its table needs one row for each id."),
    ),
    (
        "IndexError: too many indices for tensor",
        sentence(
            "The square brackets contain more indices than the tensor has axes. `[..., i]` counts axes from the end."
        ),
    ),
    (
        "IndexError: tensors used as indices must be",
        sentence("Indices must be whole numbers or bools, but this tensor contains floats."),
    ),
    (
        r"(?:permute\(.*\)|permute): number of dim|number of dims don't match in permute",
        sentence(
            "`.permute` needs a number for every axis, but this tensor has more or fewer axes. "
            "`.transpose(-2, -1)` swaps two axes and keeps all others."
        ),
    ),
    (
        r"Number of dimensions of repeat dims|the number of sizes provided \(\d+\) must be greater.*\((\d+)\)",
        more_axes_than_sizes,
    ),
    (
        "batch[12] must be a 3D tensor|(?:self|mat2) must be a matrix|1D tensors expected",
        sentence(
            "torch.bmm needs tensors with exactly three axes, torch.mm with two, torch.dot with one. "
            "Use `@`, which accepts any number of leading axes."
        ),
    ),
    (
        "tensor.m[TH] is only supported on matrices",
        sentence("`.mT` needs at least two axes, but this tensor has fewer."),
    ),
    (
        "Padding length should be less than or equal to two times",
        sentence(
            "F.pad gets more pairs of numbers than the tensor has axes. "
            "It takes one pair for each axis, beginning with the last axis."
        ),
    ),
    (
        "Given normalized_shape=.*expected input with shape",
        sentence("The input does not have the width that this nn.LayerNorm was created for. Check both widths."),
    ),
    (
        "indices' to have one of the following scalar types: Long|one_hot is only applicable to index|"
        "Expected dtype int32/int64 for index",
        sentence(
            "Ids and indices must be whole numbers (torch.long), but this tensor has another dtype. "
            "Is it the right tensor?"
        ),
    ),
    (
        "stack expects a non-empty|expected a non-empty list of Tensors",
        sentence(
            "The list is empty here, so there is nothing to join. Does the task ask for one tensor, or for the list "
            "itself?"
        ),
    ),
    ("stack expects each tensor|Sizes of tensors must match except in dimension", joined),
    (
        "Index tensor must have the same number of dimensions as (?:input|self) tensor",
        sentence(
            "gather needs an index with as many axes as the tensor. Add an axis with `.unsqueeze(-1)`, "
            "and remove it afterwards with `.squeeze(-1)`."
        ),
    ),
    (
        "(?:have the same dtype|expected scalar type|dtypes match, "
        "got|same dtype, but got).*(?:Long|long|Int|int|Bool|bool)",
        sentence(
            "Two tensors have different dtypes here: one of them contains whole numbers or bools. "
            "Is that the right tensor?"
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
        sentence("Tensors made under inference_mode can never take part in a gradient. Use torch.no_grad() instead."),
    ),
    ("does not require grad and does not have a grad_fn", no_graph),
    ("One of the differentiated Tensors does not require grad", frozen),
    (
        "differentiated Tensors? .*appears? to not have been used",
        sentence(
            "The result does not depend on every tensor in this call. Is one of these tensors a copy, or detached? "
            "If you want None for such a tensor, pass allow_unused=True."
        ),
    ),
    (
        "a leaf Variable that requires grad is being used in an in-place|"
        "modified by an inplace operation|is a view and is being modified inplace",
        sentence(
            "You change a tensor in place (`+=`, `x[…] = …`, `x_()`), but the gradient still needs this tensor. "
            "Make a new tensor instead.",
            Effect.IN_PLACE,
        ),
    ),
    (
        "more than one element of the written-to tensor refers to a single memory",
        sentence(
            "`.expand` copies nothing, so all rows share the same memory. Write into a copy: call `.clone()` first."
        ),
    ),
    (
        r"`inputs` argument to `grad\(\)` cannot be empty",
        sentence(
            "The list of tensors to compute gradients for is empty. "
            "If no parameter requires a gradient, do not call grad."
        ),
    ),
    ("backward through the graph a second time", graph_is_gone),
    (
        "grad can be implicitly created only for scalar outputs",
        sentence(
            "A gradient can be taken only of a single number, but this tensor has several. "
            "Take their sum or their mean, as the task says."
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
        sentence(
            "Each target has only one score here, but cross_entropy needs a row of scores for each target: "
            "one score for each class."
        ),
    ),
    (
        r"empty\(\): argument 'size'.*NoneType",
        sentence("A size is None here. If its argument is optional, compute the size when the argument is None."),
    ),
    (
        "Subtraction, the `-` operator, with (?:two bool tensors|a bool tensor)",
        sentence("To negate a bool mask, use `~`, not a minus."),
    ),
    (
        r"bitwise_(?:and|or|xor)_\w+.* not implemented for '(?:Float|Double)'",
        sentence(
            "`&`, `|` and `^` combine only bool tensors, but one tensor here contains floats. "
            "Make that tensor bool first."
        ),
    ),
    (
        r"bitwise_not_\w+.* not implemented for '(?:Float|Double)'|~ \(operator.invert\) is only implemented",
        sentence("`~` negates only bool tensors, but this tensor contains floats. Make this tensor bool first."),
    ),
    (
        "masked_fill_? only supports boolean masks|expected.*mask.* to be (?:BoolTensor|bool)|"
        "where expected condition to be a boolean",
        sentence("The mask contains numbers, but it must be a bool tensor: True and False."),
    ),
    (r"could not infer output dtype.*Long|mean\(\): .*Long|not implemented for '(?:Long|Bool)'", whole_numbers),
    (
        "can't be cast to the desired output type (?:Long|Int|Bool)",
        sentence(
            "The tensor on the left contains whole numbers or bools, so it cannot store floats. "
            "Make a new tensor instead."
        ),
    ),
    (
        "expected (?:scalar type|target dtype to be) Long|Expected .*Long.* for argument",
        sentence("Ids and targets must be whole numbers (torch.long), but this tensor has another dtype."),
    ),
    (
        r"cannot assign '.*' as parameter '(\w+)'",
        sentence("`self.{1}` is a parameter: assign only an nn.Parameter to it."),
    ),
    (
        r"cannot assign '.*' as child module '(\w+)'",
        sentence("`self.{1}` is already a layer, so you can only store another layer in it. Choose another name."),
    ),
    ("Only Tensors of floating point .* can require gradients", sentence("A parameter must contain floats.")),
)
