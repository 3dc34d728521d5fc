"""Relations between a wrong value and the expected one: each is found where it holds, and nowhere else."""

import pytest
import torch
from torch.nn.functional import gelu

from grader.explain.explain import Seen
from grader.explain.values.relations import Leaf, relation_of, relations, shared_relations

SIZES = {"queries": 5, "keys": 7, "d_k": 3}
WANT = torch.randn(5, 7, generator=torch.Generator().manual_seed(1))
SCORES = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(2))
WEIGHTS = torch.softmax(SCORES, -1)
CAUSAL = torch.ones(7, 7).tril().bool()


def found(got, want=WANT, name="scores", sizes=SIZES, **inputs):
    return relations(name, got, want, sizes, inputs)


def first(got, want=WANT, name="scores", sizes=SIZES, **inputs):
    return next(iter(found(got, want, name, sizes, **inputs)), "")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda x: x * 3**0.5, "Every number of the scores is √d_k times too large."),
        (lambda x: x / 3**0.5, "Every number of the scores is √d_k times too small."),
        (lambda x: x / 1.37, "Every number of the scores is 1.37 times too small."),
        (lambda x: -x, "Every number of the scores has the wrong sign."),
        (lambda x: -x / 3**0.5, "Every number of the scores has the wrong sign, and is √d_k times too small."),
        (lambda x: x + 2.5, "Every number of the scores is 2.5 too large."),
        (lambda x: x - 2.5, "Every number of the scores is 2.5 too small."),
        (
            lambda x: x + SCORES[0, 0],
            "In the scores, every row is off by the same vector: is a bias missing, or is there one too many?",
        ),
        (lambda x: 1 - x, "Every number of the scores is 1 minus what is due."),
        (torch.relu, "as after a ReLU"),
        (gelu, "the GELU of what is due"),
        (torch.floor, "rounded down to whole numbers"),
    ],
)
def test_relation_of_floats(change, says):
    assert any(says in phrase for phrase in found(change(WANT))[:2]), found(change(WANT))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda s: s.softmax(-2),
            "In the weights, the columns sum to 1, and not the rows: does the softmax run over axis −2, or were they turned?",
        ),
        (lambda s: s.softmax(0), "does the softmax run over axis 0"),
        (lambda s: s.log_softmax(-1), "the log of what is due"),
        (lambda s: s.softmax(-1).tril() / s.softmax(-1).tril().sum(-1, keepdim=True), "nobody looks ahead"),
    ],
)
def test_relation_of_weights(change, says):
    phrases = found(change(SCORES), WEIGHTS, "weights", {**SIZES, "batch_shape": (2,)})
    assert any(says in phrase for phrase in phrases[:3]), phrases


def masked(scores, mask):
    hidden = scores.masked_fill(~mask, -torch.inf)
    return hidden.softmax(-1).nan_to_num(0.0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda x, tokens: tokens, "The scores came out as tokens went in."),
        (lambda x, tokens: x + tokens, "tokens is added to the scores, which is not asked for."),
        (lambda x, tokens: x - tokens, "tokens is missing from the scores: it should be added."),
        (lambda x, tokens: x * tokens, "The scores came out multiplied by tokens, which is not asked for."),
    ],
)
def test_relation_to_an_input(change, says):
    tokens = torch.rand(5, 7, generator=torch.Generator().manual_seed(3))
    assert first(change(WANT, tokens), tokens=tokens) == says


def test_random_values_are_never_explained():
    generator = torch.Generator().manual_seed(0)
    for round in range(300):
        shape = [(2, 5, 7), (5, 7), (3, 4), (2, 3, 5, 7), (11,)][round % 5]
        want, got = (torch.randn(shape, generator=generator) for _ in range(2))
        tokens = torch.randn(shape, generator=generator)
        assert found(got, want, tokens=tokens) == []
        assert found(want + 1e-3 * got, want, tokens=tokens) == []
        weights = [torch.randn(shape, generator=generator).softmax(-1) for _ in range(2)]
        assert found(*weights, name="weights") == []


def test_wrong_in_one_number_is_not_a_relation():
    got = WANT.clone()
    got[1, 2] += 1
    for change in (
        lambda x: x * 3**0.5,
        lambda x: x + 2.5,
        torch.exp,
        lambda x: x.flip(-1),
        lambda x: x.T.reshape(5, 7),
    ):
        assert found(change(got)) == []


def test_rounding_errors_are_no_relation():
    assert found(WANT * (1 + 1e-7)) == []


def trials(name, *pairs):
    return [Seen("values", passed, {name: got}, {name: want}, sizes=sizes) for got, want, sizes, passed in pairs]


def random_pairs(change, sizes, passed=()):
    wants = [torch.randn(5, 7, generator=torch.Generator().manual_seed(seed)) for seed in range(len(sizes))]
    return [
        (change(want, size), want, size, index in passed)
        for index, (want, size) in enumerate(zip(wants, sizes, strict=True))
    ]


SEVERAL = [{"keys": 7, "d_k": d_k} for d_k in (4, 5, 3)]


@pytest.mark.parametrize(
    ("change", "passed", "says"),
    [
        (lambda x, s: x / s["d_k"] ** 0.5, (), "Every number of the scores is √d_k times too small."),
        (lambda x, s: x * 2, (), "Every number of the scores is 2 times too large."),
        (lambda x, s: x * (s["d_k"] / 3) ** 0.5, (2,), "off as if d_k were 3 in every trial"),
        (lambda x, s: x * (s["d_k"] / 7) ** 0.5, (), "divided by the root of the number of keys in the place of √d_k."),
        (lambda x, s: x * s["d_k"] ** 0.5 / (s["d_k"] / 2), (), "divided by half of d_k in the place of √d_k."),
        (lambda x, s: x * (1 + s["d_k"] / 11), (), "All numbers of the scores are off by one and the same factor"),
    ],
)
def test_constant_of_several_trials(change, passed, says):
    assert says in relation_of(trials("scores", *random_pairs(change, SEVERAL, passed)))


def test_one_trial_does_not_name_a_whole_constant():
    one = random_pairs(lambda x, s: x * 2, [{"d_k": 4}])
    assert relation_of(trials("scores", *one)) == "Every number of the scores is 2 times too large."


def test_a_trial_that_passed_denies():
    pairs = random_pairs(lambda x, s: x * s["d_k"] ** 0.5, SEVERAL)
    right = (WANT, WANT, {"d_k": 5}, True)
    assert "√d_k" not in relation_of(trials("scores", *pairs, right))
    agrees = (WANT, WANT, {"d_k": 1}, True)
    assert "√d_k" in relation_of(trials("scores", *pairs, agrees))


def test_scalars_need_two_trials():
    pairs = [(1 - torch.tensor(x), torch.tensor(x), {}, False) for x in (0.3, 0.85)]
    assert relation_of(trials("share", *pairs[:1])) == ""
    assert relation_of(trials("share", *pairs)) == "The share is 1 minus what is due."
    plain = [(1 - x, x, {}, False) for x in (0.3, 0.85)]
    assert relation_of(trials("share", *plain)) == "The share is 1 minus what is due."
    other = [(got, torch.tensor(want), {}, False) for got, want in ((torch.tensor(0.4), 0.7), (torch.tensor(0.5), 0.3))]
    assert relation_of(trials("share", *other)) == ""


def test_lists_of_floats():
    leaf = relations("losses", [2.0, 4.2, 6.6], [1.0, 2.1, 3.3], {})
    assert leaf[0] == "Every number of the losses is 2 times too large."


def test_the_most_telling_of_several_values():
    sizes = {"queries": 5, "keys": 7}
    value = torch.randn(7, 2)
    got, want = SCORES[0].softmax(-2), WEIGHTS[0]
    seen = [
        Seen(
            "values",
            False,
            {"output": got @ value, "weights": got},
            {"output": want @ value, "weights": want},
            sizes=sizes,
        )
    ]
    assert "does the softmax run over axis −2" in relation_of(seen)


def test_what_is_vague_comes_last_and_is_not_sure():
    pairs = random_pairs(lambda x, s: x * (1 + s["d_k"] / 11), SEVERAL)
    assert relation_of(trials("scores", *pairs), sure=True) == ""
    assert "off by one and the same factor" in relation_of(trials("scores", *pairs))
    mask = torch.ones(5, 7).tril(1).bool()
    got, want = masked(SCORES, mask.roll(1, 1)), masked(SCORES, mask)
    assert relation_of(trials("weights", (got, want, {}, False)), sure=True) == ""
    assert relation_of(trials("weights", (got, want, {}, False))) == "In the weights, some get weight where 0 is due."


def test_nothing_is_said_of_what_raised_or_has_another_form():
    assert relation_of([Seen("values", False, {}, {"scores": WANT}, error="TypeError")]) == ""
    assert relations("scores", WANT.T, WANT, SIZES) == []
    assert relations("scores", None, WANT, SIZES) == []
    assert shared_relations("scores", [Leaf(None, WANT)]) == []
    assert relation_of([Seen("values", True, {"scores": WANT}, {"scores": WANT})]) == ""


def test_zeros_are_no_rounding():
    wants = [torch.tensor(0.11), torch.tensor(0.87)]
    assert relation_of([trial("share", torch.tensor(0.0), want) for want in wants]) == ""
    wants = [torch.tensor(1.11), torch.tensor(2.87)]
    pairs = [trial("share", want.floor(), want) for want in wants]
    assert "rounded down" in relation_of(pairs)


def trial(name, got, want, passed=False, **inputs):
    return Seen("values", passed, {name: got}, {name: want}, inputs)


def test_of_a_row_that_is_swept_away_nothing_grew() -> None:
    swept = WEIGHTS.masked_fill(torch.arange(5).unsqueeze(-1) == 2, 0.0)
    assert "In the weights, some are 0 that should not be." in found(swept, WEIGHTS, name="weights")


def test_a_single_one_in_each_column_tells_nothing_of_a_softmax() -> None:
    """Large scores make rows of a single 1, and what is left of a masked one may be a row of zeros."""
    got = torch.eye(7)[[3, 0, 6, 2, 5]] * torch.tensor([1.0, 1, 0, 1, 1]).unsqueeze(-1)
    assert not any("sum to 1" in phrase for phrase in found(got, WEIGHTS[0], name="weights"))
