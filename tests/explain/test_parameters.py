"""Lists of parameters that differ are put into words."""

import pytest

from grader.explain.values.results import of_parameters

ASKED = ["W_K.weight (3, 7)", "W_Q.weight (3, 5)"]


@pytest.mark.parametrize(
    ("has", "says"),
    [
        (ASKED, ""),
        (
            ["query.weight (3, 5)", "key.weight (3, 7)"],
            "Your layer has `key.weight`, `query.weight`, but the task asks",
        ),
        ([*ASKED, "W_K.bias (3,)"], "`W_K.bias`, which the task does not ask for: pass bias=False."),
        ([*ASKED, "W_O.weight (3, 3)"], "`W_O.weight`, which the task does not ask for."),
        (
            [*(f"all.{name}" for name in ASKED), "all.W_O.weight (3, 3)"],
            "`all.W_Q.weight`, but the task asks only for `W_K.weight`, `W_Q.weight`.",
        ),
        (ASKED[:1], "lacks the parameter `W_Q.weight`"),
        (
            ["W_K.weight (7, 3)", "W_Q.weight (3, 5)"],
            "The two widths of `W_K.weight` are swapped: expected (3, 7), but got (7, 3).",
        ),
        (["W_K.weight (3, 2)", "W_Q.weight (3, 5)"], "`W_K.weight` has the shape (3, 2), expected (3, 7)."),
    ],
)
def test_names_and_shapes(has, says):
    found = of_parameters({"parameters": has}, {"parameters": ASKED})
    assert says in found
    assert bool(says) == bool(found)
    as_dict = [
        {f"parameters.{name}": [int(size) for size in shape.strip("(,)").split(",")]
         for name, shape in (text.split(" ", 1) for text in texts)} for texts in (has, ASKED)
    ]  # fmt: skip
    assert of_parameters(*as_dict) == found


def test_values_without_parameters_are_left_alone():
    assert of_parameters({"output": [1]}, {"output": [2]}) == ""
    assert of_parameters({}, {"parameters": ASKED}) == ""


def test_layers_that_read_each_others_inputs():
    has = {"W_K.weight": [6, 4], "W_Q.weight": [6, 5], "W_V.weight": [6, 4]}
    due = {"W_K.weight": [6, 5], "W_Q.weight": [6, 4], "W_V.weight": [6, 5]}
    assert of_parameters(nested(has), nested(due)) == (
        "The input widths of `W_K`, `W_Q`, `W_V` are swapped. Which input does each layer read?"
    )
    text = {**due, "W_K.weight": [6, 4], "W_V.weight": [6, 4]}
    assert of_parameters(nested(text), nested(due)) == (
        "`W_K`, `W_V` have the input widths of `W_Q`. Which input does each layer read?"
    )
    image = {**due, "W_Q.weight": [6, 5]}
    assert of_parameters(nested(image), nested(due)) == (
        "`W_Q` has the input width of `W_K`, `W_V`. Which input does each layer read?"
    )
    other = {**due, "W_Q.weight": [6, 7]}
    assert of_parameters(nested(other), nested(due)) == "`W_Q.weight` has the shape (6, 7), expected (6, 4)."


def nested(shapes):
    return {f"parameters.{name}": shape for name, shape in shapes.items()}
