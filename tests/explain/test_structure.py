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
        (lambda x: None, "Nothing came back for the heads: no `return` is reached, or it hands back None."),
        (lambda x: 1.5, "A plain number came back for the heads, where a tensor is due."),
        (lambda x: x.flatten().tolist(), "A Python list came back for the heads, where a tensor is due."),
        (lambda x: "heads", "A text came back for the heads, where a tensor is due."),
        (lambda x: object(), "Something else than a tensor came back for the heads."),
        (lambda x: x[None], "The heads came with an axis of length 1 too many, in front."),
        (lambda x: x[..., None], "The heads came with an axis of length 1 too many, at the end."),
        (lambda x: x.unsqueeze(2), "The heads came with an axis of length 1 too many, at axis −3."),
        (lambda x: x[None, None], "The heads came with several axes of length 1 too many."),
        (
            lambda x: x.mean(1),
            "The heads came without the axis of heads: was something summed, averaged or picked along it?",
        ),
        (
            lambda x: x.sum(1),
            "The heads came without the axis of heads: was something summed, averaged or picked along it?",
        ),
        (
            lambda x: x.amax(-1),
            "The heads came without the axis of d_head: was something summed, averaged or picked along it?",
        ),
        (
            lambda x: x[:, 0],
            "The heads came without the axis of heads: was something summed, averaged or picked along it?",
        ),
        (
            lambda x: x[:, -1],
            "The heads came without the axis of heads: was something summed, averaged or picked along it?",
        ),
        (
            lambda x: x[:, 1],
            "The heads came without the axis of heads: was something summed, averaged or picked along it?",
        ),
        (lambda x: x.mean(1, keepdim=True), "The heads came with length 1 along the axis of heads"),
        (lambda x: x.mean(), "The heads came with too few axes."),
        (lambda x: x.sum(), "The heads came with too few axes."),
        (lambda x: x.norm(), "The heads came with too few axes."),
        (lambda x: x.transpose(1, 2), "In the heads, the axes of heads and tokens have changed places."),
        (lambda x: x.mT, "The last two axes of the heads have changed places."),
        (lambda x: x.permute(1, 2, 3, 0), "The axes of the heads stand in another order."),
        (
            lambda x: x.reshape(2, 5, 3, 7),
            "Axis −3 of the heads came as long as the number of tokens; the number of heads is due.",
        ),
        (lambda x: x.flatten(), "The heads came flattened to one axis."),
        (lambda x: x.flatten(0, 1), "The first axes of the heads came joined to one."),
        (lambda x: x.flatten(2), "The last axes of the heads came joined to one."),
        (lambda x: x.flatten(1, 2), "Some axes of the heads came joined to one."),
        (lambda x: torch.cat([x, x], 2), "The heads came right, but with more behind it along the axis of tokens."),
        (
            lambda x: torch.cat([x + 1, x], 2),
            "The heads came right, but with more in front of it along the axis of tokens.",
        ),
        (lambda x: torch.cat([x + 1, x + 2], 3), "The heads came twice as long along the axis of d_head"),
        (lambda x: torch.randn(2, 3, 6, 7), "The heads came one too long along the axis of tokens."),
        (
            lambda x: torch.randn(2, 3, 8, 7),
            "The heads came too long along the axis of tokens, by the number of heads: was that joined to it?",
        ),
        (
            lambda x: x[:, :, :3],
            "The heads came right as far as it goes, but the last are missing along the axis of tokens.",
        ),
        (
            lambda x: x[:, :, 2:],
            "The heads came right as far as it goes, but the first are missing along the axis of tokens.",
        ),
        (lambda x: torch.randn(2, 3, 4, 7), "The heads came one too short along the axis of tokens."),
        (
            lambda x: torch.randn(2, 3, 3, 7),
            "Axis −2 of the heads came as long as the number of heads; the number of tokens is due.",
        ),
        (lambda x: torch.randn(2, 3, 5, 21), "Axis −1 of the heads came as long as d_model; d_head is due."),
        (lambda x: torch.randn(2, 4, 8, 7), ""),
        (lambda x: torch.randn(2, 7, 5, 3), "Axis −3 of the heads came as long as d_head;"),
        (lambda x: x[:, :, -1:], "Only the last of the heads along the axis of tokens came back; all are due."),
        (lambda x: x[:, :1], "Only the first of the heads along the axis of heads came back; all are due."),
        (
            lambda x: torch.randn(5, 7, 5, 7),
            "Axis −4 of the heads came as long as the number of tokens; the size of the batch is due.",
        ),
        (lambda x: torch.randn(2, 7, 7, 7), "Axis −3 of the heads came as long as d_head; the number of heads is due."),
        (lambda x: x.double(), "The heads came as float64. Bring it back to the dtype of the inputs."),
        (lambda x: x.half(), "The heads came as float16. The inputs are float32, and so should this be."),
        (lambda x: x.long(), "The heads came as whole numbers (int64). float32 is due, as in the inputs."),
        (lambda x: x > 0, "The heads came as True and False. Numbers are due."),
    ],
)
def test_form_of_a_tensor(change, says):
    found = [words(phrase) for phrase in structure("heads", change(WANT), WANT, SIZES)]
    assert (says in found[0]) if says else found == [], found


@pytest.mark.parametrize(
    ("got", "want", "says"),
    [
        (FLAT.unflatten(0, (1, 5))[0].reshape(1, 5, 7), FLAT, "in front."),
        (FLAT.squeeze(), FLAT[None, :, None], "Axes of length 1 are gone from the loss"),
        (FLAT, FLAT[:, None], "came without the axis of length 1 that is due at axis −2."),
        (FLAT.reshape(5, 7, 1).expand(5, 7, 2), FLAT, "The loss came with an axis too many: axis −1."),
        (torch.stack([FLAT, FLAT + 2]), FLAT + 1, "The loss came with an axis too many: axis −3."),
        (torch.stack([FLAT, FLAT + 2]), 2 * FLAT + 2, "The loss came with an axis too many: axis −3."),
        (torch.randn(2, 5, 7), FLAT, "The loss came with an axis too many: axis −3."),
        (
            torch.tensor([1.0, 3.0]),
            torch.tensor(2.0),
            "One number is due for the loss: take the mean of those that came.",
        ),
        (
            torch.tensor([1.0, 3.0]),
            torch.tensor(4.0),
            "One number is due for the loss: take the sum of those that came.",
        ),
        (torch.tensor([1.0, 3.0]), torch.tensor(5.0), "One number is due for the loss; several came back."),
        (torch.randn(2, 3, 4, 5), FLAT, "The loss came with too many axes."),
        (torch.randn(3, 2), torch.randn(1, 2, 3, 4, 5), "The loss came with too few axes."),
        (
            FLAT.float(),
            FLAT.double(),
            "The inputs are float64, and the loss came as float32: `.float()` gives that, and so does `torch.zeros(…)` without dtype=….",
        ),
        (FLAT.half(), FLAT.double(), "The inputs are float64, and the loss came as float16."),
        (FLAT, FLAT > 0, "The loss came as numbers. True and False are due: a bool tensor."),
        ((FLAT > 0).float(), FLAT > 0, "The loss came as numbers 0 and 1."),
        (torch.zeros(5, 7).masked_fill(FLAT > 0, -torch.inf), FLAT > 0, "The loss came as 0 and −∞"),
        (FLAT, FLAT.long(), "The loss came as float32. Whole numbers are due."),
        (FLAT, None, "None is due for the loss, and something came back."),
        (FLAT, 1.0, "One number is due for the loss; a tensor of several came back."),
        (2.0, 2, "A whole number is due for the loss."),
        (None, "ValueError", "No ValueError came where one is due"),
        (None, 2, "`loss` is None, and 2 is due: the task asks for an attribute of this name."),
        (
            [None, None],
            ["hub", "local"],
            "Each time nothing came back for the loss: no `return` is reached, or it hands back None.",
        ),
    ],
)
def test_form_of_other_values(got, want, says):
    found = structure("loss", got, want)
    assert any(says in phrase for phrase in found), found


def test_a_batch_paired_with_itself():
    query, key = torch.randn(2, 3, 5, 7), torch.randn(2, 3, 4, 7)
    got = torch.tensordot(query, key, ([-1], [-1]))
    says = "In the scores, each batch entry is paired with every other, and not with itself alone."
    assert structure("scores", got, query @ key.mT)[0] == says
    assert structure("scores", got[0, :, :, 0], query[0] @ key[0].mT)[0] == says
    assert says not in structure("scores", torch.randn(got.shape), query @ key.mT)


def test_the_grid_is_not_flattened():
    says = "The patches came with more axes than are due: two of them should be joined to one."
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
    says = ["The two results have changed places: first the output, then the weights."]
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
    assert twice == ["The same came back twice, as the output and as the weights."]
    other = of_all({"output": want["weights"], "weights": torch.randn(5, 5)}, want)
    assert other == ["The two results have changed places: first the output, then the weights."]


def test_a_result_that_is_missing():
    want = {"output": FLAT, "weights": FLAT + 1}
    assert of_all({"output": FLAT}, want) == ["The weights did not come back."]
    assert of_all({}, want) == []
    assert of_all({"inputs unchanged": False}, {"inputs unchanged": True, **want}) == []


def test_a_list_in_the_place_of_a_tensor():
    parts = {f"heads[{index}]": WANT[:, index] for index in range(3)}
    got = {"heads (number)": 3, **parts}
    says = "A list or tuple of tensors came back for the heads, where one tensor is due"
    assert of_all(got, {"heads": WANT}) == [f"{says}: stack them along axis −3.", f"{says}."]
    assert of_all(got, {"heads": WANT.transpose(0, 1).flatten(0, 1)})[0] == f"{says}: join them along axis −3."
    assert of_all(got, {"heads": WANT + 1})[0] == f"{says}: torch.stack or torch.cat makes one of its parts."
    assert of_all({"heads": WANT}, got) == ["One tensor came back for the heads, where a list of tensors is due."]


def test_a_list_of_another_length():
    want = {"maps (number)": 1, "maps[0]": FLAT}
    holds = of_all({"maps (number)": 2, "maps[0]": FLAT, "maps[1]": None}, want)
    assert holds == ["The list of maps holds None; leave such entries out."]
    many = of_all({"maps (number)": 2, "maps[0]": FLAT, "maps[1]": FLAT}, want)
    assert many == ["Too many came back in the list of maps."]
    few = of_all({"maps (number)": 1, "maps[0]": FLAT}, {"maps (number)": 2, "maps[0]": FLAT, "maps[1]": FLAT})
    assert few[0] == "Too few came back in the list of maps."


def seen(got, want, sizes=None, passed=False, error=""):
    return Seen("values", passed, got, want, sizes=sizes or {}, error=error)


def test_a_phrase_must_hold_in_all_failing_trials():
    batch = torch.randn(2, 5, 7)
    wrong = seen({"x": batch.flatten(0, 1)}, {"x": batch})
    assert form_of([wrong]).startswith("The first axes of the x came joined")
    assert form_of([wrong, seen({"x": FLAT}, {"x": FLAT}, passed=True)]).startswith("The first axes")
    assert form_of([wrong, seen({"x": FLAT[None]}, {"x": FLAT})]) == ""
    assert form_of([wrong, seen({}, {"x": FLAT}, error="TypeError")]) == ""
    assert form_of([seen({"x": FLAT}, {"x": FLAT}, passed=True)]) == ""


def test_axes_have_a_position_where_a_name_is_not_certain():
    square = torch.randn(3, 3, 7)
    trials = [
        seen({"x": one.mean(-2)}, {"x": one}, {"heads": heads, "tokens": 3})
        for one, heads in ((square, 3), (torch.randn(5, 3, 7), 5))
    ]
    assert form_of(trials) == "The x came without axis −2: was something summed, averaged or picked along it?"


def test_trials_with_an_axis_of_length_1_do_not_deny():
    trials = [seen({"mask": torch.ones(n)}, {"mask": torch.ones(n, n)}, {"n": n}) for n in (1, 4, 7)]
    assert "mask" in form_of(trials)


def test_shapes_alone_are_not_sure():
    assert structure("x", FLAT.reshape(7, 5), FLAT, {}) == []  # no order of the axes makes it right
    longer = "Axis −1 of the x came as long as b; c is due."
    assert longer in map(words, structure("x", FLAT.repeat(1, 2), FLAT, {"a": 5, "b": 14, "c": 7}))
    assert structure("x", FLAT.repeat(1, 2).cos(), FLAT, {"a": 5, "b": 14, "c": 7}, sure=True) == []
    assert structure("x", FLAT.T, FLAT, {}, sure=True)[0] == "The last two axes of the x have changed places."
    wrong = [seen({"x": FLAT.repeat(1, 2).cos()}, {"x": FLAT})]
    assert form_of(wrong, sure=True) == "" != form_of(wrong)


def test_one_number_everywhere_is_no_reduction():
    causal = torch.ones(4, 4).tril().bool()
    found = structure("mask", torch.ones(4).bool(), causal)
    assert found == [
        "The mask came without axis −2: was something summed, averaged or picked along it?",
        "The mask came without axis −1: was something summed, averaged or picked along it?",
        "The mask came with too few axes.",
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
    assert form_of(turned) == "The last two axes of the x have changed places."
    assert form_of([seen({"x": want[1][:, :1] + 1}, {"x": want[1]}), shown]).startswith(
        "The x came with length 1 along"
    )


def test_another_exception_than_is_due():
    assert structure("error for an unknown method", "KeyError", "ValueError") == [
        "A KeyError came, and a ValueError is due: check for this case yourself, and raise it."
    ]
    assert structure("pattern", "hub", "local") == []
    assert structure("error for an unknown method", "ValueError", "ValueError") == []
    assert structure("error for an unknown method", "no error", "ValueError") == []


def test_a_result_that_is_too_many_is_not_to_be_stacked():
    value = torch.randn(2, 3)
    for more in ([value + 1, None], [value + 1, torch.randn(2, 5)]):
        got = {"output (number)": 2, "output[0]": more[0], "output[1]": more[1]}
        assert of_all(got, {"output": value})[0] == "Several values came back; the output alone is asked for."


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
    says = "Axis −1 of the map came as long as the number of words; the number of patches is due."
    assert form_of([first, second]) == form_of([second, first, third]) == says
    assert form_of([first]) == "The map came too short along the axis of patches."
    joined = [trial((2, 8), (2, 5), words=3, patches=5), trial((2, 18), (2, 11), words=7, patches=11)]
    says = "The map came too long along the axis of patches, by the number of words: was that joined to it?"
    assert form_of(joined) == says


def test_a_case_without_a_return():
    trial = Seen("values", False, {"patterns": ["hub", None]}, {"patterns": ["hub", "other"]})
    assert (
        form_of([trial]) == "Some of the patterns came back as None: there is a case in which no `return` is reached."
    )


def test_heads_alone_name_no_width() -> None:
    """A map of attention has heads and no width: 4.1 with one head."""
    sizes = {"layers": 2, "heads": 1, "tokens": 3, "patches": 4}
    assert axis_names((1, 3, 4), sizes) == ["heads", "tokens", "patches"]
    assert whole_sizes({**sizes, "d_model": 6})["d_head"] == 6
