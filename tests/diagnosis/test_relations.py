"""Relations between a wrong value and the expected one: each is found where it holds, and nowhere else."""

import pytest
import torch
from torch.nn.functional import dropout, gelu, one_hot

from grader.diagnosis.explain import Seen
from grader.diagnosis.values.relations import Leaf, relation_of, relations, shared_relations

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
        (
            lambda x: -x / 3**0.5,
            "Every number of the scores has the wrong sign, and is √d_k times too small.",
        ),
        (lambda x: x + 2.5, "Every number of the scores is 2.5 too large."),
        (
            lambda x: x + SCORES[0, 0],
            "In the scores, every row is off by the same vector: is there a bias that nobody asked for?",
        ),
        (lambda x: x + SCORES[0, :, :1], "and each row by its own"),
        (lambda x: x - 2.5, "Every number of the scores is 2.5 too small."),
        (lambda x: 1 - x, "Every number of the scores is 1 minus what is due."),
        (lambda x: 4.5 - x, "Every number of the scores is a constant minus what is due."),
        (
            torch.exp,
            "Every number of the scores is the exp of what is due: a log is missing, or an exp too many.",
        ),
        (torch.square, "Every number of the scores is the square of what is due: a root is missing."),
        (lambda x: 1 / x, "1 divided by what is due"),
        (torch.abs, "negative numbers came out positive"),
        (torch.relu, "as after a ReLU"),
        (gelu, "the GELU of what is due"),
        (torch.tanh, "the tanh of what is due"),
        (torch.sigmoid, "the sigmoid of what is due"),
        (torch.floor, "rounded down to whole numbers"),
        (torch.round, "rounded to whole numbers"),
        (torch.trunc, "without its decimals"),
        (lambda x: x.softmax(-1), "the softmax of what is due came: there is a softmax too many."),
        (lambda x: x.softmax(-2), "taken over axis −2"),
        (lambda x: x.log_softmax(-1), "the log-softmax of what is due came"),
        (lambda x: x / x.norm(dim=-1, keepdim=True), "normalised to length 1"),
        (lambda x: x / x.sum(-1, keepdim=True), "normalised to sum to 1"),
        (lambda x: x - x.mean(-1, keepdim=True), "less the mean of each row"),
        (lambda x: x + torch.arange(5.0)[:, None], "all numbers of a row are off by the same amount"),
        (lambda x: x * torch.arange(1.0, 6)[:, None], "each row is off by a factor of its own"),
        (lambda x: x * torch.arange(1.0, 8), "each column is off by a factor of its own"),
        (lambda x: x.clamp(min=-0.5), "all small numbers are lifted"),
        (lambda x: x.clamp(max=0.5), "all large numbers are cut off"),
        (lambda x: x.clamp(-0.5, 0.5), "large and small numbers are cut off"),
        (lambda x: x.round(decimals=3), "The scores came rounded to 3 decimals."),
        (lambda x: x.half().float(), "the precision of float16 only"),
        (lambda x: x.bfloat16().float(), "the precision of bfloat16 only"),
        (lambda x: dropout(x, 0.3, True), "as after dropout"),
        (torch.zeros_like, "Every number of the scores is 0."),
        (lambda x: torch.full_like(x, 2.0), "One and the same number came everywhere in the scores."),
        (lambda x: torch.full_like(x, torch.nan), "NaN came everywhere in the scores."),
        (
            lambda x: torch.where(x > 1, torch.nan, x),
            "NaN came in some places of the scores; the others are right.",
        ),
        (lambda x: torch.where(x > 1, torch.inf, x), "All wrong numbers of the scores are infinite."),
        (lambda x: torch.where(x > 1, 0.0, x), "Some numbers of the scores are 0 where they should not be"),
        (lambda x: torch.where(x < 0, x / 2, x), "wrong only where a number below 0 is due"),
        (lambda x: x.flip(-1), "The keys of the scores come in reverse order."),
        (lambda x: x.roll(2, 0), "The queries of the scores are moved round"),
        (
            lambda x: x[torch.tensor([1, 0, 4, 3, 2])],
            "The queries of the scores are right, but come in another order.",
        ),
        (lambda x: x.T.reshape(5, 7), "the axis of queries and the axis of keys are mixed"),
        (lambda x: torch.cat([torch.ones(1, 7), x[:-1]]), "one place too late along the axis of queries"),
        (lambda x: torch.cat([x[:, 1:], torch.ones(5, 1)], 1), "one place too early along the axis of keys"),
        (lambda x: x[:1].expand(5, 7), "Every query of the scores came out as the first one."),
        (lambda x: x[-1:].expand(5, 7), "Every query of the scores came out as the last one."),
        (
            lambda x: x.mean(0, keepdim=True).expand(5, 7),
            "Every query of the scores came out as the mean over all",
        ),
        (
            lambda x: torch.arange(7.0).expand(5, 7),
            "Every query of the scores came out the same; they should differ.",
        ),
        (
            lambda x: x[torch.tensor([0, 0, 2, 3, 4])],
            "Some queries of the scores came twice, and others are lost.",
        ),
        (lambda x: torch.cat([x[:1] + 1, x[1:]]), "Only the first query of the scores is wrong."),
        (lambda x: torch.cat([x[:, :-1], x[:, -1:] + 1], 1), "Only the last key of the scores is wrong."),
    ],
)
def test_relation_of_floats(change, says):
    assert any(says in phrase for phrase in found(change(WANT))[:2]), found(change(WANT))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda s: s.softmax(-2),
            "In the weights, the softmax runs over axis −2: the columns sum to 1, and not the rows.",
        ),
        (lambda s: s.softmax(0), "In the weights, the softmax runs over axis 0"),
        (lambda s: s.flatten(1).softmax(-1).view_as(s), "All of the weights together sum to 1"),
        (lambda s: (s * 3**0.5).softmax(-1), "every score before the softmax is √d_k times too large."),
        (lambda s: (s / 3**0.5).softmax(-1), "every score before the softmax is √d_k times too small."),
        (lambda s: (s * 1.7).softmax(-1), "The weights came too sharp"),
        (lambda s: (s / 1.7).softmax(-1), "The weights came too even"),
        (lambda s: s, "The softmax of the weights would be right: a softmax is missing."),
        (lambda s: s.log_softmax(-1), "the log of what is due"),
        (lambda s: s.exp(), "The rows of the weights have the right proportions, but do not sum to 1"),
        (lambda s: s.softmax(-1).tril() / s.softmax(-1).tril().sum(-1, keepdim=True), "nobody looks ahead"),
        (lambda s: one_hot(s.argmax(-1), 7).float(), "In the weights, the largest score takes all weight."),
        (lambda s: torch.full_like(s, 1 / 7), "every place of a row has the same weight"),
        (lambda s: s.softmax(-1).tanh() - 0.2, "Some numbers of the weights are negative"),
    ],
)
def test_relation_of_weights(change, says):
    phrases = found(change(SCORES), WEIGHTS, "weights", {**SIZES, "batch_shape": (2,)})
    assert any(says in phrase for phrase in phrases[:3]), phrases


def masked(scores, mask):
    hidden = scores.masked_fill(~mask, -torch.inf)
    return hidden.softmax(-1).nan_to_num(0.0)


def test_relations_of_masked_weights():
    mask = torch.ones(5, 7).tril(1).bool()
    want = masked(SCORES, mask)
    sizes = {**SIZES, "batch_shape": (2,)}
    ignored = found(WEIGHTS, want, "weights", sizes, mask=mask)
    assert (
        "In the weights, some get weight where 0 is due; the others are right among themselves. Is the mask used"
        in ignored[0]
    )
    assert "Is the mask used" not in found(WEIGHTS, want, "weights", sizes)[0]
    assert "the mask is turned around" in first(masked(SCORES, ~mask), want, "weights", sizes)
    after = found(WEIGHTS * mask, want, "weights", sizes)
    assert any("the right proportions, but do not sum to 1" in phrase for phrase in after)


@pytest.mark.parametrize(
    ("came", "says"),
    [
        (torch.nan, "NaN came: 0 divided by 0, or −∞ less −∞."),
        (1 / 7, "all numbers came out equal, as a softmax makes of equal scores."),
    ],
)
def test_rows_that_may_attend_nowhere(came, says):
    want = WEIGHTS.clone()
    want[:, 2] = 0
    got = want.clone()
    got[:, 2] = came
    assert first(got, want, "weights").endswith(says)
    along = found(got.mT, want.mT, "weights")  # rows along another axis
    assert along[0].endswith(says)
    got[0, 0, 0] += 0.5
    assert not any(says in phrase for phrase in found(got, want, "weights"))


def test_large_inputs():
    says = "exp of a number above 88 is too large for float32."
    assert first(torch.full((5, 7), torch.nan), x=WANT * 1e4).endswith(says)
    assert not any(says in phrase for phrase in found(torch.full((5, 7), torch.nan), x=WANT))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda x, tokens: tokens, "The scores came out as tokens went in."),
        (lambda x, tokens: x + tokens, "tokens is added to the scores, which is not asked for."),
        (lambda x, tokens: x - tokens, "tokens is missing from the scores: it should be added."),
        (lambda x, tokens: x * tokens, "The scores came out multiplied by tokens, which is not asked for."),
        (lambda x, tokens: tokens - x, "The scores came out as tokens minus what is due."),
    ],
)
def test_relation_to_an_input(change, says):
    tokens = torch.rand(5, 7, generator=torch.Generator().manual_seed(3))
    assert first(change(WANT, tokens), tokens=tokens) == says


def test_heads():
    sizes = {"heads": 2, "tokens": 5, "d_head": 3}
    want = torch.randn(5, 6)
    mixed = want.view(5, 2, 3).transpose(0, 1).reshape(5, 6)
    assert "the axis of tokens and the heads are mixed" in first(mixed, want, "tokens", sizes)
    woven = want.view(5, 2, 3).mT.reshape(5, 6)
    assert "The columns of the tokens come as if a grid were read column by column" in " ".join(
        found(woven, want, "tokens", sizes)
    )
    assert any("interleaved" in phrase for phrase in found(woven, want, "tokens", sizes))
    alike = want.view(5, 2, 3).mean(1, keepdim=True).expand(5, 2, 3).reshape(5, 6)
    assert "Every head of the tokens came out as the mean over all of them." in found(
        alike, want, "tokens", sizes
    )


def test_transposed():
    square = torch.randn(2, 5, 5)
    assert first(square.mT, square) == "Rows and columns of the scores have changed places."
    cube = torch.randn(4, 3, 4)
    assert first(cube.transpose(0, 2), cube) == "In the scores, axis −3 and axis −1 have changed places."


def test_batch():
    batch = torch.randn(3, 5, 7)
    got = torch.cat([batch[:1], torch.randn(2, 5, 7)])
    assert "Only the first batch entry of the scores is right." in found(got, batch)
    assert "Every batch entry of the scores came out as the first one." in found(
        batch[:1].expand(3, 5, 7), batch
    )


@pytest.mark.parametrize(
    ("got", "says"),
    [
        (~CAUSAL, "The mask came out turned around: True where False is due, and False where True is due."),
        (CAUSAL.T, "Rows and columns of the mask have changed places."),
        (CAUSAL.tril(-1), "Only the diagonal of the mask came out wrong."),
        (torch.ones(7, 7).tril(1).bool(), "Only one place above the diagonal, the mask came out wrong."),
        (torch.ones(7, 7).bool(), "The mask came out True everywhere."),
        (torch.zeros(7, 7).bool(), "The mask came out False everywhere."),
        (
            CAUSAL & (torch.arange(49).view(7, 7) % 5 > 0),
            "The mask came out with too few True; the others are right.",
        ),
    ],
)
def test_relation_of_masks(got, says):
    assert any(says in phrase for phrase in found(got, CAUSAL, "mask", {"n": 7})), found(got, CAUSAL, "mask")


def test_one_true_too_many_in_each_row():
    lengths, positions = torch.tensor([3, 6, 1, 7]), torch.arange(7)
    want = positions < lengths[:, None]
    many = positions <= lengths[:, None]
    few = positions < lengths[:, None] - 1
    assert "Each row of the mask has one True too many." in found(many, want, "mask")
    assert "Each row of the mask has one True too few." in found(few, want, "mask")


def test_relation_of_ids():
    want = torch.tensor([[-100, -100, 7, 8, 2], [-100, 5, 6, 2, -100]])
    sizes = {"ignore_index": -100, "pad_id": 0}
    got = want.masked_fill(want == -100, 0)
    assert (
        first(got, want, "targets", sizes)
        == "In the targets, pad_id stands where ignore_index is due; all else is right."
    )
    ids = torch.randint(10, 99, (2, 5))
    assert "the number of token_ids at the same place came" in first(
        ids, want, "targets", sizes, token_ids=ids
    )
    assert first(want + 1, want, "targets", sizes) == "Every number of the targets is 1 too large."
    kept = torch.where(want == -100, ids, want)
    assert (
        "another number stands where ignore_index is due; all else is right."
        in found(kept, want, "targets", sizes)[0]
    )
    gone = torch.tensor([[-100, -100, -100, 8, 2], [-100, -100, 6, 2, -100]])
    assert "ignore_index stands where another number is due" in found(gone, want, "targets", sizes)[0]


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
    return [
        Seen("values", passed, {name: got}, {name: want}, sizes=sizes) for got, want, sizes, passed in pairs
    ]


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
        (
            lambda x, s: x * (s["d_k"] / 7) ** 0.5,
            (),
            "divided by the root of the number of keys in the place of √d_k.",
        ),
        (
            lambda x, s: x * s["d_k"] ** 0.5 / (s["d_k"] / 2),
            (),
            "divided by half of d_k in the place of √d_k.",
        ),
        (
            lambda x, s: x * (1 + s["d_k"] / 11),
            (),
            "All numbers of the scores are off by one and the same factor",
        ),
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


def test_a_region_is_denied_where_it_is_right():
    batch = torch.randn(3, 5, 7)
    wrong = (torch.cat([batch[:1], torch.randn(2, 5, 7)]), batch, {}, False)
    assert relation_of(trials("scores", wrong)) == "Only the first batch entry of the scores is right."
    rows = torch.cat([torch.randn(3, 1, 7), batch[:, 1:]], 1)
    assert (
        relation_of(trials("scores", (rows, batch, {}, False)))
        == "Only the first row of the scores is wrong."
    )
    assert relation_of(trials("scores", (rows, batch, {}, False), (batch, batch, {}, True))) == ""
    assert relation_of(trials("scores", wrong, (WANT, WANT, {}, True))) != ""  # has no batch


def test_scalars_need_two_trials():
    pairs = [(1 - torch.tensor(x), torch.tensor(x), {}, False) for x in (0.3, 0.85)]
    assert relation_of(trials("share", *pairs[:1])) == ""
    assert relation_of(trials("share", *pairs)) == "The share is 1 minus what is due."
    plain = [(1 - x, x, {}, False) for x in (0.3, 0.85)]
    assert relation_of(trials("share", *plain)) == "The share is 1 minus what is due."
    other = [
        (got, torch.tensor(want), {}, False)
        for got, want in ((torch.tensor(0.4), 0.7), (torch.tensor(0.5), 0.3))
    ]
    assert relation_of(trials("share", *other)) == ""


def test_lists_of_floats():
    leaf = relations("losses", [2.0, 4.2, 6.6], [1.0, 2.1, 3.3], {})
    assert leaf[0] == "Every number of the losses is 2 times too large."


def test_a_trial_that_cannot_tell_does_not_deny():
    sizes = [{"d_k": 5}, {"d_k": 3}]
    wants = [torch.randn(1, 3), torch.randn(5, 7)]  # three weights show too little of the scores
    pairs = [
        ((x * s["d_k"] ** 0.5).softmax(-1), x.softmax(-1), s, False)
        for x, s in zip(wants, sizes, strict=True)
    ]
    assert "√d_k times too large" in relation_of(trials("weights", *pairs))


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
    assert "the softmax runs over axis −2" in relation_of(seen)


def test_what_is_vague_comes_last_and_is_not_sure():
    pairs = random_pairs(lambda x, s: x * (1 + s["d_k"] / 11), SEVERAL)
    assert relation_of(trials("scores", *pairs), sure=True) == ""
    assert "off by one and the same factor" in relation_of(trials("scores", *pairs))
    mask = torch.ones(5, 7).tril(1).bool()
    got, want = masked(SCORES, mask.roll(1, 1)), masked(SCORES, mask)
    assert relation_of(trials("weights", (got, want, {}, False)), sure=True) == ""
    assert (
        relation_of(trials("weights", (got, want, {}, False)))
        == "In the weights, some get weight where 0 is due."
    )


def test_nothing_is_said_of_what_raised_or_has_another_form():
    assert relation_of([Seen("values", False, {}, {"scores": WANT}, error="TypeError")]) == ""
    assert relations("scores", WANT.T, WANT, SIZES) == []
    assert relations("scores", None, WANT, SIZES) == []
    assert shared_relations("scores", [Leaf(None, WANT)]) == []
    assert relation_of([Seen("values", True, {"scores": WANT}, {"scores": WANT})]) == ""


def test_gradients():
    want = torch.randn(5, 7)
    assert (
        relations("gradient of key", want * 2, want, {})[0]
        == "Every number of the gradient of key is 2 times too large."
    )
    assert "Every number of the gradient of W_Q.weight is 0." in relations(
        "gradient of W_Q.weight", want * 0, want, {}
    )


def test_zeros_are_no_rounding():
    wants = [torch.tensor(0.11), torch.tensor(0.87)]
    assert relation_of([trial("share", torch.tensor(0.0), want) for want in wants]) == ""
    wants = [torch.tensor(1.11), torch.tensor(2.87)]
    pairs = [trial("share", want.floor(), want) for want in wants]
    assert "rounded down" in relation_of(pairs)


def test_batch_entries_that_are_right_are_in_no_other_order():
    want = torch.randn(3, 5, 2)
    got = want.clone()
    got[1:] = want[1:, [1, 0, 2, 3, 4]]
    said = found(got, want, "patches", {})
    assert not any("another order" in says for says in said)
    says = "Only the first batch entry of the patches is right."
    assert relation_of([trial("patches", got, want)]) == says
    assert relation_of([trial("patches", got[:2], want[:2])]) == ""  # right by chance half the time
    assert relation_of([trial("patches", got, want), trial("patches", got[:2], want[:2])]) == says
    # Another entry may need what the first one needs.
    more, due = torch.cat([got, got[1:], want[:1]]), torch.cat([want, want[1:], want[:1]])
    assert relation_of([trial("patches", got, want), trial("patches", more, due)]) == says


def test_one_large_offset_does_not_deny_that_large_numbers_overflow():
    spread = torch.tensor([[0.0, 1e4], [5e3, -5e3]])
    want = torch.rand(2, 2)
    bad = trial("weights", torch.full((2, 2), torch.nan), want, scores=spread)
    good = trial("weights", want, want, passed=True, scores=torch.rand(2, 2) + 1e4)
    assert "With large numbers the weights came out as NaN" in relation_of([bad, good])


def trial(name, got, want, passed=False, **inputs):
    return Seen("values", passed, {name: got}, {name: want}, inputs)
