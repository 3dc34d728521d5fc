"""Every number and every "because" of lesson 1 that needs no training, measured again with PyTorch's own functions."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from attention.builtin import masked_attention
from attention.data.digits import digits
from attention.single_head import SelfAttention
from torch import Tensor, nn
from torch.nn import functional as F

from grader.course import lessons
from tests.solutions.prose_1 import claims, held, markdown, numbers, said, unheld

TOKENS = torch.tensor([[1, 0.5], [0.5, 1], [0.3, 0.7]], dtype=torch.float64)


VALUE = torch.tensor([[2, 1], [1, 2], [1.5, 1.5]], dtype=torch.float64)


QUERY = torch.tensor([[1, 0, 1], [0, 1, 1]], dtype=torch.float64)


KEY = torch.tensor([[1, 1, 1], [0, 1, 0]], dtype=torch.float64)


SENTENCES = (1, 2, 4, 8, 16, 32, 64)


def weights(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(query, key, torch.eye(len(key), dtype=key.dtype))


@cache
def gradient_lengths(d_k: int, root: bool) -> tuple[Tensor, Tensor]:
    """|∂output/∂query| of 2,000 random queries, and each query's nine weights in ascending order."""
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(2000, n, d, generator=generator) for n, d in ((1, d_k), (9, d_k), (9, 1)))
    p = torch.softmax(torch.einsum("bqd,bkd->bqk", query, key) / (d_k**0.5 if root else 1), -1).squeeze(1)
    spread = p * (value.squeeze(-1) - (p * value.squeeze(-1)).sum(-1, keepdim=True))  # p (v − o), by hand
    gradient = torch.einsum("bk,bkd->bd", spread, key) / (d_k**0.5 if root else 1)
    return gradient.norm(dim=-1), p.sort(-1).values


def recall(summarise) -> list[float]:
    generator = torch.Generator().manual_seed(0)
    sentences = [torch.randn(200, n, 64, generator=generator) for n in SENTENCES]
    return [F.cosine_similarity(summarise(x), x[:, 0], dim=-1).mean().item() for x in sentences]


def sharpness(d_k: int, scale: float) -> tuple[float, float]:
    """Mean largest weight and mean p(1 − p) of random queries against nine keys."""
    largest, slope = [], []
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        query, key = (torch.randn(256, n, d_k, generator=generator) for n in (1, 9))
        p = torch.softmax(torch.einsum("bqd,bkd->bqk", query, key) * scale, -1)
        largest.append(p.amax(-1).mean().item())
        slope.append((p - p.square()).mean().item())
    return sum(largest) / 3, sum(slope) / 3


def test_a_number_that_is_wrong_or_missing_is_noticed() -> None:
    with pytest.raises(AssertionError, match="0 places say"):
        said("the answer is #", 42, decimals=0)
    with pytest.raises(AssertionError, match=r"but it is 0\.117100"):
        said("With 64 tokens the similarity is **#**.", 0.1171, decimals=3)
    with pytest.raises(AssertionError, match="0 places say"):
        claims("the earth is flat")
    with pytest.raises(AssertionError, match="places say"):
        claims("softmax")
    assert unheld("The loss is **0.5**, 12.3 % of it.", ()) == ["**0.5**", "12.3"]
    assert unheld("The loss is **0.5**, 12.3 % of it.", ("loss is **#**", ", # %")) == []


def test_the_box_forgets() -> None:
    box = recall(lambda x: x.mean(1))
    said("from # for a single token to # for 64 tokens. It follows 1/√n", box[0], box[-1], decimals=2)
    said("With 64 tokens the similarity is **#**.", box[-1], decimals=3)
    claims("it is the one most similar to the box in a third of all sentences; chance is a tenth")
    generator = torch.Generator().manual_seed(0)
    tokens, strangers = (torch.randn(2000, n, 64, generator=generator) for n in (64, 9))
    candidates = torch.cat([tokens[:, :1], strangers], 1)
    closest = F.cosine_similarity(tokens.mean(1, keepdim=True), candidates, dim=-1).argmax(1)
    assert (closest == 0).double().mean().item() == pytest.approx(1 / 3, abs=0.05)
    for n, similarity in zip(SENTENCES, box, strict=True):
        assert similarity == pytest.approx(n**-0.5, abs=0.02)
    lookup = recall(lambda x: F.scaled_dot_product_attention(x[:, :1], x, x)[:, 0])
    said("the line of attention, which stays at # up to 64 tokens", min(lookup), decimals=2)
    generator = torch.Generator().manual_seed(1)
    strangers = recall(
        lambda x: F.scaled_dot_product_attention(torch.randn(200, 1, 64, generator=generator), x, x)[:, 0]
    )
    said("and for 64 tokens the similarity is #: less than the box", strangers[-1], decimals=2)
    claims("Nothing was learned here; the query was made to fit.")
    assert strangers[-1] < box[-1]


def test_the_two_tokens() -> None:
    scores = QUERY @ KEY.T
    said("q₁·k₁ = # q₁·k₂ = #", *scores[0].tolist(), decimals=0)
    said("q₂·k₁ = # q₂·k₂ = #", *scores[1].tolist(), decimals=0)
    said("for the example above: `[[#, #], [#, #]]`", *scores.flatten().tolist(), decimals=0)
    scaled = scores / math.sqrt(3)
    said("with d_k = 3: `[[#, #], [#, #]]`", *scaled.flatten().tolist(), decimals=3)
    p = weights(QUERY, KEY)
    output = p @ torch.tensor([[10, 0], [0, 10]], dtype=torch.float64)
    said("with values [10, 0] and [0, 10]", decimals=0)
    for one in (0, 1):
        row = f"[{scaled[one, 0]:.3f}, {scaled[one, 1]:.3f}] → [#, #] → [#, #]"
        got = numbers(row)
        assert got[:2] == [round(weight, 3) for weight in p[one].tolist()]
        assert got[2:] == [round(value, 2) for value in output[one].tolist()]
    assert p[1].tolist() == pytest.approx([0.640, 0.360], abs=5e-4)


def test_dividing_by_the_root_keeps_the_softmax_soft() -> None:
    small, large, scaled = sharpness(2, 1)[0], sharpness(512, 1)[0], sharpness(512, 512**-0.5)[0]
    said("the largest weight climbs from # to #:", small, large, decimals=2)
    said("weight is **#** unscaled against **#** scaled", large, scaled, decimals=3)
    claims("The softmax that follows turns such differences into all or nothing.")
    claims("The unscaled line falls from each width to the next. The scaled one stays near 0.09.")
    slopes = [sharpness(d_k, 1)[1] for d_k in (2, 8, 32, 128, 512)]
    assert slopes == sorted(slopes, reverse=True)
    for d_k in (2, 8, 32, 128, 512):
        assert sharpness(d_k, d_k**-0.5)[1] == pytest.approx(0.09, abs=0.005)
    for d_k in (2, 8, 32, 128, 512):
        assert sharpness(d_k, d_k**-0.5)[0] == pytest.approx(1 / 3, abs=0.03)  # "near a third at every width"
        generator = torch.Generator().manual_seed(d_k)
        query, key = (torch.randn(20_000, d_k, generator=generator) for _ in range(2))
        assert (query * key).sum(-1).var().item() == pytest.approx(d_k, rel=0.05)
        assert ((query * key).sum(-1) / d_k**0.5).var().item() == pytest.approx(1, rel=0.05)
    claims("each product has variance 1, and so the sum has variance d_k")
    claims("Dividing by √d_k brings the variance back to 1, whatever the width.")
    scores = torch.randn(4000, 512, generator=torch.Generator().manual_seed(0)) @ torch.randn(
        512, generator=torch.Generator().manual_seed(1)
    )
    assert 0.2 < (scores.abs() > 20).double().mean().item() < 0.6  # "scores of ±20 are ordinary"
    generator = torch.Generator().manual_seed(1)  # the slider's maps
    query, key = torch.randn(4, 512, generator=generator), torch.randn(9, 512, generator=generator)
    (percent,) = numbers("without the root each row has # % or more of its weight on one or two bright cells")
    assert 100 * torch.softmax(query @ key.T, -1).sort(-1).values[:, -2:].sum(-1).min() >= percent
    assert torch.softmax(query @ key.T / 512**0.5, -1).amax() < 0.6


def test_the_root_lets_every_query_have_a_gradient() -> None:
    slope, scaled = sharpness(512, 1)[1], sharpness(512, 512**-0.5)[1]
    said("the mean of p(1 − p) is **#** without the root and **#** with it", slope, scaled)
    claims("on the way back to the query the root divides once more")
    assert slope > scaled / 512**0.5
    (without, weight), (with_root, _) = gradient_lengths(512, False), gradient_lengths(512, True)
    said("is larger *without* the root, **#** against **#**,", without.mean().item(), with_root.mean().item())
    low, high = without.median().item(), with_root.median().item()
    said("So the **median** is **#** without and **#** with the root.", low, high)
    tenth = without >= without.sort().values[-200]
    said("One query in ten gets # % of all that arrives", 100 * (without[tenth].sum() / without.sum()).item())
    claims("the queries where two keys happen to share the weight")
    assert weight[tenth, -2].min() > 0.03
    assert weight[~tenth, -2].median() < 1e-4
    claims("The poorer half give their best key more than 99.9 % of it, and almost no gradient reaches them.")
    assert weight[without < without.median(), -1].min() > 0.999
    claims("The root does not make gradients larger. At this width it lets *every* query have one.")
    assert without.quantile(0.05) < 1e-9 < 0.1 < with_root.quantile(0.05)
    claims("and most queries get next to no gradient")
    assert without.median() < 0.01 * high
    medians = [gradient_lengths(32, root)[0].median().item() for root in (False, True)]
    said("the median, too, is larger without it, # against #.)", *medians)
    claims("the lengths are spread over more than twelve powers of ten")
    assert without.max() / without.quantile(0.05) > 1e12
    claims("mean and median agree")
    assert with_root.mean().item() == pytest.approx(high, rel=0.1)


def test_softmax() -> None:
    said("torch.tensor([2.0, 1.0]))` gives `[#, #]`", *torch.softmax(torch.tensor([2.0, 1.0]), 0).tolist(), decimals=3)
    said("The softmax of a *single* number is exactly **#**", torch.softmax(torch.tensor([3.0]), 0).item())
    scores = torch.randn(5, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    claims("adding the same number to all scores changes nothing, because it cancels")
    assert torch.allclose(torch.softmax(scores + 1000, -1), torch.softmax(scores, -1))
    claims("`exp(1000)` is infinite in floating point, and ∞/∞ is not a number (NaN).")
    assert torch.exp(torch.tensor(1000.0)).item() == math.inf
    assert math.isnan(math.inf / math.inf)
    claims("Then the largest exponent is exp(0) = 1, and nothing can overflow.")
    assert torch.exp(1e4 * scores - (1e4 * scores).amax(-1, keepdim=True)).amax(-1).tolist() == [1.0] * 5
    claims("Then the largest score is −∞ itself, and −∞ − (−∞) is NaN.")
    assert math.isnan(-math.inf - -math.inf)
    claims(
        "Attention mixes, and picks only if there is a single dish. The shares add up to 1, as long as there is a dish at all."
    )
    assert ((torch.softmax(scores, -1) > 0) & (torch.softmax(scores, -1) < 1)).all()
    assert torch.softmax(scores, -1).sum(-1).tolist() == pytest.approx([1.0] * 5)
    dishes = torch.tensor([True, False, False]), torch.tensor([False, False, False])
    single, none = (masked_attention(TOKENS, TOKENS, VALUE, seen.expand(3, 3))[1] for seen in dishes)
    assert single.tolist() == [[1.0, 0.0, 0.0]] * 3
    assert none.sum().item() == 0


def test_the_three_tokens() -> None:
    p = weights(TOKENS, TOKENS)
    said("`[[#, #, #], [#, #, #], [#, #, #]]`, drawn", *p.flatten().tolist(), decimals=3)
    said("all nine weights lie between # and #.", p.min().item(), p.max().item(), decimals=2)
    said("with three tokens lies between # and #.", p.min().item(), p.max().item(), decimals=2)
    said("its largest weight, **#**, to token 2, and not to itself (**#**)", p[2, 1].item(), p[2, 2].item(), decimals=3)
    assert p[2].argmax() == 1
    claims("the dot product rewards long vectors, and token 2 is longer")
    assert TOKENS[1].norm() > TOKENS[2].norm()
    claims("Make all three equally long, and each attends most to itself.")
    equal = TOKENS / TOKENS.norm(dim=-1, keepdim=True)
    assert weights(equal, equal).argmax(-1).tolist() == [0, 1, 2]
    first = torch.softmax((TOKENS @ TOKENS.T / math.sqrt(2)).tril() + torch.full((3, 3), -1e30).triu(1), -1)[0]
    said("the first row of weights is `[#, #, #]`", *first.tolist(), decimals=0)


def test_gradients_through_the_weights() -> None:
    scores = (TOKENS @ TOKENS.T / math.sqrt(2))[2].requires_grad_()
    output = torch.softmax(scores, 0) @ VALUE[:, 0]
    (gradient,) = torch.autograd.grad(output, scores)
    said("For the scores, both say `[#, #, #]`", *gradient.tolist(), decimals=3)
    said("has the value #, above the output of #:", VALUE[0, 0].item(), output.item(), decimals=3)
    claims("raise the score of a key whose value lies above the present output, and the output goes up")
    raised = scores.detach() + torch.tensor([1e-4, 0, 0])
    assert (torch.softmax(raised, 0) @ VALUE[:, 0] - output).item() == pytest.approx(
        1e-4 * gradient[0].item(), rel=1e-3
    )
    claims("A key with weight 0 gets no gradient through the output, however good its value is.")
    hidden = torch.tensor([1.0, 2.0, -800.0], dtype=torch.float64, requires_grad=True)
    better = torch.softmax(hidden, 0) @ torch.tensor([1.0, 1.5, 1e6], dtype=torch.float64)
    assert torch.autograd.grad(better, hidden)[0][2].item() == 0
    said("Token 2 has #, below it. Token 3 has #,", VALUE[1, 0].item(), VALUE[2, 0].item(), decimals=1)
    claims("A value gets as much of the gradient as its weight says.")
    column = VALUE[:, 0].clone().requires_grad_()
    shares = torch.softmax(scores.detach(), 0)
    assert torch.allclose(torch.autograd.grad(shares @ column, column)[0], shares)


def test_one_matrix_for_queries_and_keys() -> None:
    claims(
        "Then the table of scores would be symmetric. And the score of a token with itself would be the squared length"
    )
    claims("A query that is at least as long as all others would give its largest weight to its own token")
    queries = torch.randn(50, 8, generator=torch.Generator().manual_seed(0))
    scores = queries @ queries.T
    assert torch.allclose(scores, scores.T)
    assert torch.allclose(scores.diagonal(), queries.norm(dim=-1) ** 2)
    longest = queries.norm(dim=-1).argmax()
    assert scores[longest].argmax() == longest


def test_the_layers_count_their_parameters() -> None:
    said("`SelfAttention(8, 4)` has 3 · 8 · 4 = # parameters", 3 * sum(p.numel() for p in nn.Linear(8, 4, False).parameters()), decimals=0)  # fmt: skip
    said("has 4 · 6 + 2 · 4 · 10 = # parameters", nn.Linear(6, 4, False).weight.numel() + 2 * nn.Linear(10, 4, False).weight.numel(), decimals=0)  # fmt: skip


def test_the_loss_of_a_uniform_map() -> None:
    expected = F.cross_entropy(torch.zeros(5, 9), torch.arange(5)).item()
    said("uniform map over nine patches, log 9 = #;", expected, decimals=3)


def test_the_mask_that_is_handed_over_as_it_is_gives_nan() -> None:
    """ "It even gives NaN for the last position." """
    allowed = torch.ones(5, 5).tril().bool()
    layer = nn.MultiheadAttention(8, 1, bias=False, batch_first=True)
    tokens = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(3))
    rows = layer(tokens, tokens, tokens, attn_mask=allowed)[0].isnan().any(-1)
    assert rows[0].tolist() == [False] * 4 + [True]


def test_masks_come_before_the_softmax() -> None:
    scores, mask = torch.tensor([1.0, 2.0, -1.0]), torch.tensor([True, True, False])
    right = torch.softmax(scores[:2], 0)
    claims("Setting it to 0 is not enough, since exp(0) = 1.")
    assert torch.softmax(scores.masked_fill(~mask, 0.0), 0)[2] > 0.05
    claims("Multiplying the weights afterwards is not enough either, since the rows would add up to less than 1.")
    assert (torch.softmax(scores, 0) * mask).sum() < 0.99
    assert torch.allclose(torch.softmax(scores.masked_fill(~mask, -math.inf), 0)[:2], right)


def test_a_layer_that_was_never_trained_tells_no_story() -> None:
    tokens = torch.randn(6, 16, generator=torch.Generator().manual_seed(0))
    tokens[4] = tokens[0]  # "the" is there twice
    torch.manual_seed(0)
    first, second = SelfAttention(16, 8), SelfAttention(16, 8)
    with torch.no_grad():
        claims("Because W_Q and W_K differ, the scores are not symmetric")
        scores, equal = first.W_Q(tokens) @ first.W_K(tokens).T, first.W_K(tokens) @ first.W_K(tokens).T
        assert not torch.allclose(scores, scores.T, atol=0.1)
        assert torch.allclose(equal, equal.T, atol=1e-5)
        p = first(tokens)[1]
        claims("another start tells another story")
        assert (p - second(tokens)[1]).abs().max() > 0.05
        claims('Look at the two rows of "the" in the first map: they are the same.')
        assert torch.allclose(p[0], p[4])
        claims(
            "Without a mask, self-attention does not know the order of the words: shuffle them, and the map is shuffled"
        )
        order = torch.tensor([3, 5, 0, 2, 1, 4])
        assert torch.allclose(first(tokens[order])[1], p[order][:, order], atol=1e-6)
        claims(
            'With the causal mask the two rows differ, because the second "the" may look at more words than the first.'
        )
        causal = torch.ones(6, 6, dtype=torch.bool).tril()
        p = first(tokens, causal)[1]
        assert not torch.allclose(first(tokens[order], causal)[1], p[order][:, order], atol=0.05)
        assert not torch.allclose(p[0], p[4], atol=0.05)
        alike = causal.clone()
        alike[0] = alike[4]  # the first "the" may look at as many words
        p = first(tokens, alike)[1]
        assert torch.allclose(p[0], p[4])


def test_what_looking_costs() -> None:
    words, patches, finer = 32, 24 * 24, 4 * 24 * 24
    both, cross = (words + patches) ** 2, words * patches
    said("one sequence of # tokens", words + patches)
    said("# scores against #: **#** times as many.", both, cross, both / cross)
    said("# % of the # are patches that look at patches", 100 * patches**2 / both, both)
    said("(32 + 2304)² / (32 + 576)² = # times", (words + finer) ** 2 / both)
    claims("Cross-attention: 4 times, since each word is compared with each patch, T · S.")
    assert words * finer == 4 * cross


def test_the_images_are_held_out() -> None:
    """That 13 people wrote them is history: UCI's description of the data set."""
    said(
        "split before scenes are built: # to train on, # held out",
        *(len(digits(split).labels) for split in ("train", "test")),
    )
    pictures = {split: {tuple(one) for one in digits(split).patches.tolist()} for split in ("train", "test")}
    assert not pictures["train"] & pictures["test"]


def test_no_number_of_the_prose_is_without_a_test() -> None:
    # Names: exercises 1.1 to 1.9, section 3.2 of the paper, LLaVA-1.5. The waiter's plate is a picture, and what is
    # asked of a student (at least 90 %) is declared in the lesson.
    names = {*(exercise.id for exercise in lessons()["1-attention"].exercises), "3.2", "70", "20", "90"}
    assert [number for number in unheld(markdown(details=False), held()) if number not in names] == []


def test_the_top_of_the_lesson_says_how_long_it_takes() -> None:
    exercises = lessons()["1-attention"].exercises
    solving, _ = numbers("minutes to read, # minutes for the nine exercises, # minutes for two")
    assert len(exercises) == 9
    assert solving == sum(exercise.minutes for exercise in exercises)
    claims("There is no practice beyond the exercises in this lesson.")
    assert all(exercise.points for exercise in exercises)
