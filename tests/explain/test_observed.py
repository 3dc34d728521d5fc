"""What a wrong answer shows by itself is put into words."""

import pytest
import torch

from grader.explain.observed import of_batch, of_conduct, of_exception, of_form, of_missing_batch, of_the_rest
from grader.explain.seen import Seen


def seen(passed, got=0.0, want=1.0, **more):
    return Seen("values", passed, {"y": got}, {"y": want}, **more)


def test_the_line_that_counts_axes_from_the_front():
    source = "def f(x):\n    return x.transpose(1, 2)"
    trials = [seen(True, sizes={"batch_shape": (2,)}), seen(False, sizes={"batch_shape": ()})]
    found = of_batch([trials[1]], trials, source)
    assert found is not None
    assert found.says.startswith(
        "Your answer is right with 1 batch axis, but wrong with 0 batch axes. Line 2: `.transpose` uses axes 1 and 2"
    )
    assert found.line == 2
    assert of_batch([trials[1]], trials, "def f(x):\n    return x") is None
    without = seen(True, sizes={"batch_shape": ()})  # right without a batch, too: the axes are not what is wrong
    assert of_batch([trials[1]], [*trials, without], source) is None


def test_trials_of_another_function_say_nothing_about_axes():
    """In 6.3 the scenes have no batch shape, and the curves of `area_under` have one."""
    source = "def f(x):\n    return x.transpose(1, 2)"
    scenes = seen(False, sizes={"scenes": 2}, inputs={"scenes": 1})
    curves = seen(True, sizes={"batch_shape": (2,)}, inputs={"curve": 1})
    assert of_batch([scenes], [scenes, curves], source) is None
    assert of_batch([scenes], [scenes, curves._replace(inputs={"scenes": 2})], source) is not None


def test_a_turned_input_that_never_has_a_batch_is_not_the_cause():
    """In 5.7 pictures have batch axes, and names never do."""
    source = "def f(image, names):\n    return (image @ names.T).topk(2, dim=0)"
    names = torch.ones(5, 4)
    batch = seen(False, sizes={"batch_shape": (2,)}, inputs={"image": torch.ones(2, 4), "names": names})
    alone = seen(True, sizes={"batch_shape": ()}, inputs={"image": torch.ones(4), "names": names})
    assert of_batch([batch], [batch, alone], source) is None
    turned = of_batch([batch], [batch, alone], source.replace("names.T", "names.T + image.T"))
    assert turned is not None
    assert turned.line == 2


def test_an_input_that_was_changed_and_the_line_that_did_it():
    wrong = [Seen("conduct", False, {"inputs unchanged": False, "changed": ["x"]}, {"inputs unchanged": True})]
    found = of_conduct(wrong, "def f(x):\n    x += 1\n    return x")
    assert found is not None
    assert found.says.startswith("Your code changes `x` in place. Line 2: `x += …` changes")
    found = of_conduct(wrong, "")
    assert found is not None
    assert found.says == "Your code changes `x` in place. Work on new tensors."


def test_a_gradient_that_is_cut_off_and_the_line_that_did_it():
    want = {"y": torch.ones(2), "gradient of x": torch.ones(2)}
    wrong = [Seen("conduct", False, {"y": torch.ones(2), "gradient of x": None}, want)]
    found = of_conduct(wrong, "def f(x):\n    return x.detach() * 2")
    assert found is not None
    assert (
        found.says
        == "No gradient reaches `x`. Line 2: `.detach()` cuts the tensor off from the gradient. Leave it out."
    )
    assert of_conduct(wrong, "def f(x):\n    return x * 2") is None


def test_a_dtype_and_the_line_that_makes_it():
    wrong = [seen(False, torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64))]
    found = of_form(wrong, "def f(x):\n    return torch.zeros(2, 3) + 1", sure=True)
    assert found is not None
    assert "Line 2: `torch.zeros` returns float32" in found.says


def test_nothing_is_said_of_the_form_of_an_exception():
    wrong = [Seen("values", False, {}, {"y": torch.ones(2)}, error="ValueError", message="no")]
    assert of_form(wrong, "", sure=False) is None
    assert of_conduct(wrong, "") is None


def test_an_input_that_had_to_be_refused_and_raises_something_else():
    first = Seen(
        "refuses",
        False,
        {},
        {"a ValueError was raised": True},
        error="RuntimeError",
        message="shape '[1, 4]' is invalid",
    )
    found = of_exception([first], "def f(x): return x")
    assert found is not None
    assert found.says.startswith(
        "For this input the task expects a ValueError, but your code raised another exception. "
    )
    assert of_exception([first._replace(error="AssertionError", line="assert x")], "") is None
    assert of_exception([first._replace(expected={"y": True})], "") is None


@pytest.mark.parametrize(
    ("wrong", "right", "words"),
    [
        ((0,), (1, 2), "wrong with 0 batch axes."),
        ((2,), (1,), "wrong with 2 batch axes."),
        ((0, 2), (1,), "with 0 or 2 batch axes."),
    ],
)
def test_axes_counted_from_the_front_are_right_for_one_batch_axis(wrong, right, words):
    source = "def f(x):\n    return x.transpose(1, 2)"
    trials = {
        axes: Seen("values", axes in right, {}, {}, sizes={"batch_shape": (2,) * axes}) for axes in (*wrong, *right)
    }
    found = of_batch([trials[axes] for axes in wrong], list(trials.values()), source)
    assert found is not None
    assert words in found.says
    both = {**trials, 0: trials[wrong[0]]._replace(passed=True, sizes={})}
    assert of_batch([trials[wrong[-1]]], list(both.values()), "def f(x):\n    return x.transpose(-1, -2)") is None


def test_a_missing_batch_axis_is_named_before_the_exception_that_it_leads_to():
    trials = [
        Seen("values", bool(axes), {}, {}, sizes={"batch_shape": (2,) * axes}, error="" if axes else "IndexError")
        for axes in range(2)
    ]
    found = of_missing_batch(trials[:1], trials, "def f(x):\n    return x.transpose(1, 2)")
    assert found is not None
    assert "wrong with 0 batch axes. Line 2: `.transpose` uses axes 1 and 2" in found.says
    assert of_missing_batch(trials[:1], trials, "def f(x, weight):\n    return x @ weight.T") is None
    two = [trials[1]._replace(passed=False, error="IndexError"), trials[0]._replace(passed=True, error="")]
    assert of_missing_batch(two[:1], two, "def f(x):\n    return x.transpose(1, 2)") is None


def test_what_came_right_beside_what_did_not():
    """The output is made with weights: if it is right and they are not, others were handed back."""
    want = {"output": torch.ones(2, 3), "weights": torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]])}
    shown = want | {"weights": torch.tensor([[0.25, 0.25, 0.5], [0.1, 0.4, 0.5]])}
    wrong = [Seen("values", False, shown, want, inputs={"mask": torch.ones(3)})]
    found = of_the_rest(wrong)
    assert found is not None
    assert found.says == "There is no mistake in the output: check the other result."
    assert of_the_rest([wrong[0]._replace(got={name: value + 1 for name, value in want.items()})]) is None


def test_a_check_of_the_answers_own_that_lets_an_input_pass():
    trial = Seen("refused", False, {"a ValueError was raised": False}, {"a ValueError was raised": True})
    told = [of_exception([trial], source) for source in ("", "if x: raise ValueError(1)")]
    assert [found and found.says for found in told] == [
        "For this input the task expects a ValueError, but your code raised nothing. Check the input first, and raise the ValueError.",
        "For this input the task expects a ValueError, but none of your checks raises it. Look at the condition and the place of each check, or add a check.",
    ]
