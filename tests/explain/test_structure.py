"""What is said about the form of a value: each phrase where it holds, and none of a value of the right form."""

import pytest
import torch

from grader.explain.explain import Seen
from grader.explain.values.results import form_of, of_all
from grader.explain.values.structure import structure
from grader.explain.values.wording import Phrase, axis_names, whole_sizes

SIZES = {"batch_shape": (2,), "heads": 3, "tokens": 5, "d_head": 7}
WANT = torch.randn(2, 3, 5, 7, generator=torch.Generator().manual_seed(1))
FLAT = torch.randn(5, 7, generator=torch.Generator().manual_seed(2))


def words(phrase: Phrase) -> str:
    return phrase if isinstance(phrase, str) else phrase.says


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda x: None,
            "Expected a value for the heads, but got None: your code reaches no `return`, or the value that it returns is None.",
        ),
        (lambda x: 1.5, "Expected a tensor for the heads, but got a plain number."),
        (lambda x: x.flatten().tolist(), "Expected a tensor for the heads, but got a Python list."),
        (lambda x: "heads", "Expected a tensor for the heads, but got a string."),
        (lambda x: object(), "Expected a tensor for the heads, but got an object of the type object."),
        (lambda x: x[None], "In the heads, there is an extra axis of length 1 in front: remove this axis."),
        (lambda x: x[..., None], "In the heads, there is an extra axis of length 1 at the end: remove this axis."),
        (lambda x: x.unsqueeze(2), "In the heads, there is an extra axis of length 1 at axis −3: remove this axis."),
        (lambda x: x[None, None], "There are several extra axes of length 1 in the heads: remove them."),
        (lambda x: x.mean(1), "In the heads, the axis of heads is missing: did you sum, average or index along it?"),
        (lambda x: x.sum(1), "In the heads, the axis of heads is missing: did you sum, average or index along it?"),
        (lambda x: x.amax(-1), "In the heads, the axis of d_head is missing: did you sum, average or index along it?"),
        (lambda x: x[:, 0], "In the heads, the axis of heads is missing: did you sum, average or index along it?"),
        (lambda x: x[:, -1], "In the heads, the axis of heads is missing: did you sum, average or index along it?"),
        (lambda x: x[:, 1], "In the heads, the axis of heads is missing: did you sum, average or index along it?"),
        (lambda x: x.mean(1, keepdim=True), "In the heads, the axis of heads has length 1"),
        (lambda x: x.mean(), "There are too few axes in the heads."),
        (lambda x: x.sum(), "There are too few axes in the heads."),
        (lambda x: x.norm(), "There are too few axes in the heads."),
        (lambda x: x.transpose(1, 2), "In the heads, the axes of heads and tokens are swapped."),
        (lambda x: x.mT, "The last two axes of the heads are swapped."),
        (lambda x: x.permute(1, 2, 3, 0), "The axes of the heads are in the wrong order."),
        (
            lambda x: x.reshape(2, 5, 3, 7),
            "In the heads, the length of axis −3 is the number of tokens, but should be the number of heads.",
        ),
        (lambda x: x.flatten(), "All axes of the heads are merged into one axis."),
        (
            lambda x: x.flatten(0, 1),
            "The leading axes of the heads are merged into one axis, but they must keep their shape.",
        ),
        (lambda x: x.flatten(2), "The last axes of the heads are merged into one axis."),
        (lambda x: x.flatten(1, 2), "Some axes of the heads are merged into one axis."),
        (
            lambda x: torch.cat([x, x], 2),
            "In the heads, there are extra entries after the expected entries, along the axis of tokens.",
        ),
        (
            lambda x: torch.cat([x + 1, x], 2),
            "In the heads, there are extra entries before the expected entries, along the axis of tokens.",
        ),
        (lambda x: torch.cat([x + 1, x + 2], 3), "In the heads, the axis of d_head is twice as long as expected"),
        (lambda x: torch.randn(2, 3, 6, 7), "In the heads, the axis of tokens is one entry too long."),
        (
            lambda x: torch.randn(2, 3, 8, 7),
            "In the heads, the axis of tokens is too long by the number of heads: did you join something to it?",
        ),
        (lambda x: x[:, :, :3], "In the heads, the last entries along the axis of tokens are missing."),
        (lambda x: x[:, :, 2:], "In the heads, the first entries along the axis of tokens are missing."),
        (lambda x: torch.randn(2, 3, 4, 7), "In the heads, the axis of tokens is one entry too short."),
        (
            lambda x: torch.randn(2, 3, 3, 7),
            "In the heads, the length of axis −2 is the number of heads, but should be the number of tokens.",
        ),
        (lambda x: torch.randn(2, 3, 5, 21), "In the heads, the length of axis −1 is d_model, but should be d_head."),
        (lambda x: torch.randn(2, 4, 8, 7), ""),
        (lambda x: torch.randn(2, 7, 5, 3), "In the heads, the length of axis −3 is d_head,"),
        (
            lambda x: x[:, :, -1:],
            "Expected all entries of the heads along the axis of tokens, but got only the last one.",
        ),
        (lambda x: x[:, :1], "Expected all entries of the heads along the axis of heads, but got only the first one."),
        (
            lambda x: torch.randn(5, 7, 5, 7),
            "In the heads, the length of axis −4 is the number of tokens, but should be the size of the batch.",
        ),
        (
            lambda x: torch.randn(2, 7, 7, 7),
            "In the heads, the length of axis −3 is d_head, but should be the number of heads.",
        ),
        (lambda x: x.double(), "Expected float32 for the heads, as in the inputs, but got float64. Convert it back."),
        (lambda x: x.half(), "Expected float32 for the heads, as in the inputs, but got float16."),
        (lambda x: x.long(), "Expected float32 for the heads, as in the inputs, but got whole numbers (int64)."),
        (lambda x: x > 0, "Expected numbers for the heads, but got True and False."),
    ],
)
def test_form_of_a_tensor(change, says):
    found = [words(phrase) for phrase in structure("heads", change(WANT), WANT, SIZES)]
    assert (says in found[0]) if says else found == [], found


@pytest.mark.parametrize(
    ("got", "want", "says"),
    [
        (FLAT.unflatten(0, (1, 5))[0].reshape(1, 5, 7), FLAT, "in front: remove this axis."),
        (FLAT.squeeze(), FLAT[None, :, None], "Axes of length 1 are missing from the loss"),
        (FLAT, FLAT[:, None], "In the loss, an axis of length 1 is missing at axis −2: keep this axis, or add it."),
        (FLAT.reshape(5, 7, 1).expand(5, 7, 2), FLAT, "There is an extra axis in the loss: axis −1."),
        (torch.stack([FLAT, FLAT + 2]), FLAT + 1, "There is an extra axis in the loss: axis −3."),
        (torch.stack([FLAT, FLAT + 2]), 2 * FLAT + 2, "There is an extra axis in the loss: axis −3."),
        (torch.randn(2, 5, 7), FLAT, "There is an extra axis in the loss: axis −3."),
        (
            torch.tensor([1.0, 3.0]),
            torch.tensor(2.0),
            "Expected one number for the loss, but got several: take their mean.",
        ),
        (
            torch.tensor([1.0, 3.0]),
            torch.tensor(4.0),
            "Expected one number for the loss, but got several: take their sum.",
        ),
        (torch.tensor([1.0, 3.0]), torch.tensor(5.0), "Expected one number for the loss, but got several."),
        (torch.randn(2, 3, 4, 5), FLAT, "There are too many axes in the loss."),
        (torch.randn(3, 2), torch.randn(1, 2, 3, 4, 5), "There are too few axes in the loss."),
        (
            FLAT.float(),
            FLAT.double(),
            "Expected float64 for the loss, as in the inputs, but got float32. `.float()` returns float32, and so does `torch.zeros(…)` without dtype=….",
        ),
        (FLAT.half(), FLAT.double(), "Expected float64 for the loss, as in the inputs, but got float16."),
        (FLAT, FLAT > 0, "Expected True and False for the loss (a bool tensor), but got numbers."),
        (
            (FLAT > 0).float(),
            FLAT > 0,
            "Expected True and False for the loss (a bool tensor), but got the numbers 0 and 1.",
        ),
        (
            torch.zeros(5, 7).masked_fill(FLAT > 0, -torch.inf),
            FLAT > 0,
            "Expected True and False for the loss (a bool tensor), but got 0 and −∞",
        ),
        (FLAT, FLAT.long(), "Expected whole numbers for the loss, but got float32."),
        (FLAT, None, "Expected None for the loss, but your function returned a value."),
        (FLAT, 1.0, "Expected one number for the loss, but got a tensor of several."),
        (2.0, 2, "Expected a whole number for the loss, but got a float."),
        (None, "ValueError", "Expected a ValueError, but your code raised nothing."),
        (None, 2, "`loss` is None, but should be 2: the task asks for an attribute with this name."),
        (
            [None, None],
            ["hub", "local"],
            "Expected values for the loss, but got only None: your code reaches no `return`, or the value that it returns is None.",
        ),
    ],
)
def test_form_of_other_values(got, want, says):
    found = structure("loss", got, want)
    assert any(says in phrase for phrase in found), found


def test_a_batch_paired_with_itself():
    query, key = torch.randn(2, 3, 5, 7), torch.randn(2, 3, 4, 7)
    got = torch.tensordot(query, key, ([-1], [-1]))
    says = "In the scores, each batch entry is combined with every other batch entry. Combine it only with itself."
    assert structure("scores", got, query @ key.mT)[0] == says
    assert structure("scores", got[0, :, :, 0], query[0] @ key[0].mT)[0] == says
    assert says not in structure("scores", torch.randn(got.shape), query @ key.mT)


def test_the_grid_is_not_flattened():
    says = "There are too many axes in the patches: merge two of them into one."
    assert structure("patches", torch.randn(1, 2, 3, 4), torch.randn(1, 6, 4))[0] == says


@pytest.mark.parametrize("value", [WANT, 1.5, 3, True, None, ["hub"], [1.0, 2.0], "text"])
def test_nothing_is_said_of_the_right_form(value):
    assert structure("output", value, value, SIZES) == []
    other = torch.randn(WANT.shape) if isinstance(value, torch.Tensor) else value
    assert structure("output", other, value, SIZES) == []


def test_a_gradient_that_is_missing_is_no_form():
    assert structure("gradient of key", None, FLAT) == []


def test_results_in_each_others_places():
    output, weights = torch.randn(5, 3), torch.randn(5, 7)
    says = ["The two results are swapped: return the output first, then the weights."]
    want = {"output": output, "weights": weights}
    assert of_all({"output": weights, "weights": output}, want) == says
    assert of_all({"output": weights + 1, "weights": output + 1}, want) == says  # the shapes tell
    assert of_all(want, want) == []
    square = {"output": torch.randn(5, 5), "weights": torch.randn(5, 5)}
    assert of_all({"output": square["weights"], "weights": square["output"]}, square) == says
    assert of_all({"output": square["weights"], "weights": square["output"] + 1}, square) == says
    assert of_all({"output": torch.randn(5, 5), "weights": torch.randn(5, 5)}, square) == []


def test_one_result_twice():
    want = {"output": torch.randn(5, 5), "weights": torch.randn(5, 5)}
    twice = of_all({"output": want["weights"], "weights": want["weights"]}, want)
    assert twice == ["Your function returns the same tensor twice, as the output and as the weights."]
    other = of_all({"output": want["weights"], "weights": torch.randn(5, 5)}, want)
    assert other == ["The two results are swapped: return the output first, then the weights."]


def test_a_result_that_is_missing():
    want = {"output": FLAT, "weights": FLAT + 1}
    assert of_all({"output": FLAT}, want) == ["Your function does not return the weights."]
    assert of_all({}, want) == []
    assert of_all({"inputs unchanged": False}, {"inputs unchanged": True, **want}) == []


def test_a_list_in_the_place_of_a_tensor():
    parts = {f"heads[{index}]": WANT[:, index] for index in range(3)}
    got = {"heads (number)": 3, **parts}
    says = "Expected one tensor for the heads, but got a list or tuple of tensors"
    assert of_all(got, {"heads": WANT}) == [f"{says}: stack them along axis −3.", f"{says}."]
    assert of_all(got, {"heads": WANT.transpose(0, 1).flatten(0, 1)})[0] == f"{says}: join them along axis −3."
    assert of_all(got, {"heads": WANT + 1})[0] == f"{says}: make one tensor of them with torch.stack or torch.cat."
    assert of_all({"heads": WANT}, got) == ["Expected a list of tensors for the heads, but got one tensor."]


def test_a_list_of_another_length():
    want = {"maps (number)": 1, "maps[0]": FLAT}
    holds = of_all({"maps (number)": 2, "maps[0]": FLAT, "maps[1]": None}, want)
    assert holds == ["The list of maps contains None: leave such entries out."]
    many = of_all({"maps (number)": 2, "maps[0]": FLAT, "maps[1]": FLAT}, want)
    assert many == ["The list of maps has too many entries."]
    few = of_all({"maps (number)": 1, "maps[0]": FLAT}, {"maps (number)": 2, "maps[0]": FLAT, "maps[1]": FLAT})
    assert few[0] == "The list of maps has too few entries."


def seen(got, want, sizes=None, passed=False, error=""):
    return Seen("values", passed, got, want, sizes=sizes or {}, error=error)


def test_a_phrase_must_hold_in_all_failing_trials():
    batch = torch.randn(2, 5, 7)
    wrong = seen({"x": batch.flatten(0, 1)}, {"x": batch})
    assert form_of([wrong]).startswith("The leading axes of the x are merged")
    assert form_of([wrong, seen({"x": FLAT}, {"x": FLAT}, passed=True)]).startswith("The leading axes")
    assert form_of([wrong, seen({"x": FLAT[None]}, {"x": FLAT})]) == ""
    assert form_of([wrong, seen({}, {"x": FLAT}, error="TypeError")]) == ""
    assert form_of([seen({"x": FLAT}, {"x": FLAT}, passed=True)]) == ""


def test_axes_have_a_position_where_a_name_is_not_certain():
    square = torch.randn(3, 3, 7)
    trials = [
        seen({"x": one.mean(-2)}, {"x": one}, {"heads": heads, "tokens": 3})
        for one, heads in ((square, 3), (torch.randn(5, 3, 7), 5))
    ]
    assert form_of(trials) == "In the x, axis −2 is missing: did you sum, average or index along it?"


def test_trials_with_an_axis_of_length_1_do_not_deny():
    trials = [seen({"mask": torch.ones(n)}, {"mask": torch.ones(n, n)}, {"n": n}) for n in (1, 4, 7)]
    assert "mask" in form_of(trials)


def test_shapes_alone_are_not_sure():
    assert structure("x", FLAT.reshape(7, 5), FLAT, {}) == []  # no order of the axes makes it right
    longer = "In the x, the length of axis −1 is b, but should be c."
    assert longer in map(words, structure("x", FLAT.repeat(1, 2), FLAT, {"a": 5, "b": 14, "c": 7}))
    assert structure("x", FLAT.repeat(1, 2).cos(), FLAT, {"a": 5, "b": 14, "c": 7}, sure=True) == []
    assert structure("x", FLAT.T, FLAT, {}, sure=True)[0] == "The last two axes of the x are swapped."
    wrong = [seen({"x": FLAT.repeat(1, 2).cos()}, {"x": FLAT})]
    assert form_of(wrong, sure=True) == "" != form_of(wrong)


def test_one_number_everywhere_is_no_reduction():
    causal = torch.ones(4, 4).tril().bool()
    found = structure("mask", torch.ones(4).bool(), causal)
    assert found == [
        "In the mask, axis −2 is missing: did you sum, average or index along it?",
        "In the mask, axis −1 is missing: did you sum, average or index along it?",
        "There are too few axes in the mask.",
    ]
    assert structure("mask", torch.ones(4).bool(), causal, sure=True) == []
    assert structure("mask", torch.ones(4, 2).bool(), torch.ones(2, 4).bool(), sure=True) == []


def test_what_two_calls_gave_are_no_two_results_of_one():
    one, other = torch.randn(3, 5), torch.randn(3, 5)
    for names in (("loss", "loss at another temperature"), ("without head 0", "without head 1")):
        want = dict(zip(names, (one, other), strict=True))
        assert of_all(dict(zip(names, (other, one), strict=True)), want) == []
        assert of_all(dict.fromkeys(names, one), want) == []


def test_a_shape_that_another_trial_has_explains_the_one_that_is_shown_only_by_its_numbers():
    want = torch.randn(3, 3), torch.randn(3, 4)
    shown = seen({"x": want[0] + 1}, {"x": want[0]})
    assert form_of([shown, seen({"x": want[1][:, :1] + 1}, {"x": want[1]})]) == ""
    turned = [seen({"x": one.mT}, {"x": one}) for one in want]
    assert form_of(turned) == "The last two axes of the x are swapped."
    assert form_of([seen({"x": want[1][:, :1] + 1}, {"x": want[1]}), shown]).startswith(
        "In the x, axis −1 has length 1"
    )


def test_another_exception_than_is_due():
    assert structure("error for an unknown method", "KeyError", "ValueError") == [
        "Expected a ValueError, but got a KeyError. Check for this case yourself, and raise the ValueError."
    ]
    assert structure("pattern", "hub", "local") == []
    assert structure("error for an unknown method", "ValueError", "ValueError") == []
    assert structure("error for an unknown method", "no error", "ValueError") == []


def test_a_result_that_is_too_many_is_not_to_be_stacked():
    value = torch.randn(2, 3)
    for more in ([value + 1, None], [value + 1, torch.randn(2, 5)]):
        got = {"output (number)": 2, "output[0]": more[0], "output[1]": more[1]}
        assert of_all(got, {"output": value})[0] == "Your function returns several values: return only the output."


@pytest.mark.parametrize("shape", [(0, 3), (2, 0, 3), (0,)])
def test_a_tensor_without_elements_is_told_its_shape(shape):
    """It was compared with its first number, and there is none: the whole grade was withheld."""
    list(structure("scores", torch.empty(shape), torch.ones(2, 5, 3), {}))


def test_a_yes_or_no_that_is_not_known_is_no_missing_return():
    assert structure("from a normal distribution", None, True) == []


def test_a_size_is_named_where_several_trials_have_it_alone():
    """Two sizes are the same in the first trial, and in the second the shape is right by chance."""

    def trial(got: tuple, want: tuple, **sizes: int) -> Seen:
        return Seen("values", False, {"map": torch.rand(got)}, {"map": torch.rand(want)}, sizes=sizes)

    first = trial((2, 3), (2, 5), words=3, heads=3, patches=5)
    second = trial((2, 7), (2, 11), words=7, patches=11)
    third = trial((2, 7), (2, 7), words=7, patches=7)
    says = "In the map, the length of axis −1 is the number of words, but should be the number of patches."
    assert form_of([first, second]) == form_of([second, first, third]) == says
    assert form_of([first]) == "In the map, the axis of patches is too short."
    joined = [trial((2, 8), (2, 5), words=3, patches=5), trial((2, 18), (2, 11), words=7, patches=11)]
    says = "In the map, the axis of patches is too long by the number of words: did you join something to it?"
    assert form_of(joined) == says


def test_a_case_without_a_return():
    trial = Seen("values", False, {"patterns": ["hub", None]}, {"patterns": ["hub", "other"]})
    assert form_of([trial]) == "Some values of the patterns are None: in some cases your code reaches no `return`."


def test_heads_alone_name_no_width() -> None:
    """A map of attention has heads and no width: 4.1 with one head."""
    sizes = {"layers": 2, "heads": 1, "tokens": 3, "patches": 4}
    assert axis_names((1, 3, 4), sizes) == ["heads", "tokens", "patches"]
    assert whole_sizes({**sizes, "d_model": 6})["d_head"] == 6
