import pytest
import torch

from grader.judge.compare import compare, difference, first_difference, flatten, scale


def test_equal_tensors_pass_and_the_tolerance_follows_their_scale() -> None:
    want = torch.tensor([[1e4, 2.0, 3.0], [5.0, 7.0, 11.0]])
    assert difference("scores", want + 0.05, want) == ""
    assert difference("scores", want + 0.5, want) == "scores: off by 0.5, allowed 1e-01"


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (torch.zeros(3, 2), "scores: shape (3, 2), expected (2, 3)"),
        (torch.zeros(3), "scores: shape (3,), expected (2, 3)"),
        (torch.zeros(2, 3, dtype=torch.float64), "scores: float64, expected float32"),
        (torch.full((2, 3), torch.nan), "scores: some are NaN"),
        (torch.full((2, 3), torch.inf), "scores: some are infinite"),
        (None, "scores: None, expected a tensor of shape (2, 3)"),
        ([1, 2], "scores: [1, 2], expected a tensor of shape (2, 3)"),
        (torch.ones(2, 3), "scores: off by 1, allowed 1e-05"),
    ],
)
def test_what_is_wrong_is_said(got, said: str) -> None:
    assert difference("scores", got, torch.zeros(2, 3)) == said


def test_float64_needs_the_accuracy_of_float32() -> None:
    want = torch.ones(5)
    for expected in (want, want.double()):
        assert difference("x", expected + 2e-6, expected) == ""
        assert difference("x", expected + 2e-5, expected) == "x: off by 2e-05, allowed 1e-05"


def test_a_gpu_has_twice_the_room() -> None:
    want = torch.ones(5)
    assert difference("x", want + 1.5e-5, want) != ""
    assert difference("x", want + 1.5e-5, want, device="cuda") == ""
    assert difference("x", want + 2.5e-5, want, device="cuda") == "x: off by 2.5e-05, allowed 2e-05"
    assert difference("x", want.double() + 2.5e-5, want.double(), device="cuda") != ""
    assert compare({"x": want + 1.5e-5}, {"x": want}, device="cuda").passed


def test_infinities_must_stand_where_they_are_expected() -> None:
    want = torch.tensor([0.5, -torch.inf])
    assert difference("scores", want.clone(), want) == ""
    assert "off by inf" in difference("scores", torch.tensor([-torch.inf, 0.5]), want)


def test_masks_are_counted_place_by_place() -> None:
    want = torch.ones(3, 3, dtype=torch.bool).tril()
    assert difference("mask", want.clone(), want) == ""
    assert difference("mask", ~want, want) == "mask: wrong in 9 of 9 places"


def test_json_values_are_compared_by_value_and_kind() -> None:
    assert difference("count", 3, 3) == ""
    assert difference("names", ["a"], ["a", "b"]) == "names: ['a'], expected ['a', 'b']"
    assert difference("refused", False, True) == "refused: no, expected yes"
    assert difference("map", torch.ones(2, 3), None) == "map: a tensor of shape (2, 3), expected nothing"
    assert difference("refused", 1, True) != ""
    assert difference("inputs unchanged", False, True) == "the inputs were changed: work on new tensors, not in place"
    assert difference("loss", 0.7000001, 0.7) == ""
    assert difference("loss", torch.tensor(0.9), 0.7) == "loss: 0.9, off by 0.2, allowed 7e-06"
    assert difference("loss", 1, 0.0) == "loss: 1, off by 1, allowed 1e-06"
    assert difference("loss", 2.5, 0.7, rtol=100.0) == "loss: 2.5, off by 1.8, allowed 7e-04"
    assert difference("loss", float("nan"), 0.7) == "loss: nan, expected 0.7"
    assert difference("loss", 0.7, float("-inf")) == "loss: 0.7, expected -inf"


def test_a_missing_gradient_is_named() -> None:
    assert difference("gradient of key", None, torch.zeros(2)) == "no gradient reaches key"


def test_everything_expected_must_come_back_and_more_may() -> None:
    want = {"output": torch.ones(2), "nested": {"weights": torch.zeros(3)}}
    assert compare({**want, "more": 1}, want).passed
    finding = compare({"output": torch.ones(2)}, want)
    assert not finding.passed
    assert finding.message == "nested.weights is missing from the result"


def test_lists_of_tensors_are_compared_one_by_one() -> None:
    want = {"maps": [torch.ones(2), torch.zeros(2)]}
    assert compare({"maps": [torch.ones(2), torch.zeros(2)]}, want).passed
    assert not compare({"maps": [torch.ones(2)]}, want).passed
    assert not compare({"maps": [torch.zeros(2), torch.ones(2)]}, want).passed
    assert dict(flatten({"a": (1, 2)})) == {"a": [1, 2]}


def test_the_scale_of_zeros_is_one() -> None:
    assert scale(torch.zeros(3)) == 1.0
    assert scale(torch.tensor([0.25, -torch.inf])) == 0.25


def test_a_gradient_of_nearly_zero_is_as_exact_as_those_that_cancel_in_it() -> None:
    """Found where a right layer's softmax rows were nearly 0 and 1: 1e-6 was left of gradients of 27."""
    want = {"gradient of W_V": torch.full((3,), 27.0), "gradient of W_Q": torch.full((2,), 1e-6)}
    got = {**want, "gradient of W_Q": torch.full((2,), 1.3e-6)}
    assert compare(got, want).passed
    assert not compare({"W_Q": got["gradient of W_Q"]}, {"W_Q": want["gradient of W_Q"]}).passed
    assert not compare({**want, "gradient of W_Q": torch.full((2,), 1e-4)}, want).passed
    assert not compare({**want, "gradient of W_Q": None}, want).passed
    found = first_difference({**want, "gradient of W_Q": torch.full((2,), 1e-4)}, want)
    assert found is not None
    assert (found.name, found.message) == ("gradient of W_Q", "gradient of W_Q: off by 9.9e-05, allowed 3e-05")
