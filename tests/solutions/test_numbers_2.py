"""Every number and every "because" in lesson 2's prose, up to the point where readers are trained, held by a computation.

The readers, the fusion and what comes from benchmarks are in test_numbers_2_trained.py.
"""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import pairwise
from statistics import fmean, stdev

import pytest
import torch
from attention.alignment import TokenAligner, alignment_loss, explained_variance
from attention.data.digits import digits
from attention.dot_product import attention
from attention.experiments.matching import draw_linear, matching_accuracy, train_aligner, train_words, word_vectors
from attention.heads import split_heads
from attention.multi_head import MultiHeadAttention
from attention.patterns import attention_entropy, classify_pattern
from attention.real.real_eyes import EYES_WIDTH
from sklearn.svm import SVC
from torch import Tensor, nn
from torch.nn import functional as F

from grader.course.lesson_2 import LESSON
from tests.scripts import cells_of
from tests.solutions.prose_2 import NEAR, PROSE, SCRIPT, says, size

# ---------------------------------------------------------------- the top of the lesson


def test_the_times_are_honest():
    graded, practice = says(r"minutes, the eight exercises about #, the practice # more")
    assert graded == sum(exercise.minutes for exercise in LESSON.exercises if exercise.points)
    assert practice == sum(exercise.minutes for exercise in LESSON.exercises if not exercise.points)


def test_clips_loss_by_hand():
    own, half, none, other, temperature, *costs = says(
        r"cosines \$\\begin\{pmatrix\} # & # \\\\ # & # \\end\{pmatrix\}\$ and the temperature #: "
        r"the rows cost # on average, the columns #, together #\."
    )
    scores, right = torch.tensor([[own, half], [none, other]]) / temperature, torch.arange(2)
    rows, columns = (F.cross_entropy(one, right).item() for one in (scores, scores.T))
    assert costs == pytest.approx([rows, columns, (rows + columns) / 2], abs=6e-4)


def test_heads_of_two_widths_have_the_same_matrices_and_do_not_fit_into_one_tensor():
    """The reason that lesson 2 gives for heads that are equally wide."""
    first, second = says(r"With two heads of # and # numbers the matrices stay the same")
    cut = torch.randn(5, int(first + second)).split([int(first), int(second)], dim=-1)
    assert [one.shape[-1] for one in cut] == [first, second]
    with pytest.raises(RuntimeError, match="equal size"):
        torch.stack(cut)


def test_exercises_stand_in_the_order_of_their_numbers():
    cells = cells_of("2-heads")
    order = [cell.metadata["exercise"] for cell in cells if "exercise" in cell.metadata]
    assert order == [exercise.id for exercise in LESSON.exercises]


def test_students_read_no_directives_of_tools():
    source = SCRIPT.read_text("utf-8")
    assert "# fmt:" not in source
    assert "# noqa" not in source


def test_every_figure_has_a_caption():
    cells = cells_of("2-heads")
    for cell, after in pairwise(cells):
        if (
            cell.cell_type == "code"
            and "def " not in cell.source
            and re.search(r"^ *show_(?!reading)", cell.source, re.M)
        ):
            assert re.match(r"\*[^*]", after.source), f"no caption after {cell.metadata}"


# ---------------------------------------------------------------- alignment


def test_a_number_that_is_not_in_the_prose_is_noticed():
    with pytest.raises(AssertionError, match="0 times in the prose"):
        says("# unicorns")


def test_sizes_of_the_aligners():
    width_in, width_out, bias, linear = says(r"has # · # \+ # = # numbers to learn")
    assert linear == width_in * width_out + bias == size(TokenAligner(64, 32))
    first, side, again, more, mlp = says(r"and the two-layer form # \+ # · # \+ # = #\.")
    assert first == linear
    assert mlp == first + side * again + more == size(TokenAligner(64, 32, "mlp"))


def test_real_widths():
    patch, word, inner, outer, bias, total, lab = says(
        r"has # numbers for each patch .*? has # for each word .*? learns # · # \+ # = # numbers\. "
        r"The model that others trained, which you meet in the lab 5-real, has # for each patch"
    )
    assert (patch, word) == (inner, outer)
    assert total == inner * outer + bias == size(TokenAligner(int(patch), int(word)))
    assert lab == EYES_WIDTH


def test_the_aligner_by_hand():
    one, _, _ = says(r"the aligned token is \$\(# \+ 6 \+ 0\.5,\\; 2 - 3\) = \(#, (-?\d+)\)\$")
    weight, bias = torch.tensor([[1.0, 0, 2], [0, 1, -1]]), torch.tensor([0.5, 0])
    x, y = (weight @ torch.tensor([1.0, 2, 3]) + bias).tolist()
    assert one == 1
    assert says(r"2 - 3\) = \(#, (-?\d+)\)\$") == [x, y]


def test_explained_variance_by_hand():
    *_, share = says(r"\(1 \+ 4\) / \(1 \+ 4 \+ 9\) = #")
    signs = torch.tensor([[a, b, c] for a in (-1.0, 1) for b in (-1.0, 1) for c in (-1.0, 1)])
    tokens = signs * torch.tensor([1.0, 2, 3])
    assert share == round(explained_variance(tokens, tokens[:, :2]).item(), 3)


def test_variance_of_pixels():
    own_upper, own, upper, skipping, more, less = says(
        r"hold # of the variance in the upper half, and # in every second pixel\. What survives is more, # and #, because .* "
        r"explains more of what is missing, # against #: each"
    )
    patches = digits("test").patches
    variance = patches.var(0) / patches.var(0).sum()
    for kept, alone, survives, explained in (
        (range(0, 64, 2), own, skipping, more),
        (range(32), own_upper, upper, less),
    ):
        found = explained_variance(patches, patches[:, list(kept)]).item()
        itself = variance[list(kept)].sum().item()
        assert (survives, alone) == (round(found, 2), round(itself, 2))
        assert explained == round((found - itself) / (1 - itself), 2)


def test_why_pixels_can_be_left_out():
    (empty,) = says(r"nearly always empty \(the four corners, in \*\*#\*\* of the cases\)")
    pixels = digits("test").patches.reshape(-1, 8, 8)
    corners = pixels[:, [0, 0, 7, 7], [0, 7, 0, 7]]
    assert empty == round((corners == corners.min()).double().mean().item(), 3)
    across, down, any_two = says(
        r"correlation is \*\*#\*\* from left to right and \*\*#\*\* from top to bottom, against # for any two"
    )
    together, place = correlations(), torch.arange(64).reshape(8, 8)
    assert across == round(together[place[:, :-1], place[:, 1:]].mean().item(), 2)
    assert down == round(together[place[:-1], place[1:]].mean().item(), 2)
    assert any_two == round(together[~torch.eye(64, dtype=torch.bool)].mean().item(), 2)


def correlations() -> Tensor:
    """(64, 64) of every pixel with every other; 0 for a pixel that never changes."""
    return torch.corrcoef(digits("test").patches.T).nan_to_num(0)


def test_a_missing_pixel_has_a_neighbour_left():
    skipping, upper = says(r"correlation of # with it on average, and only # where the lower half is missing")
    for said, kept in ((skipping, range(0, 64, 2)), (upper, range(32))):
        missing = [pixel for pixel in range(64) if pixel not in kept]
        best = correlations()[missing][:, list(kept)].abs().max(1).values
        assert said == round(best.mean().item(), 2)


def test_the_spread_is_not_information():
    patches = digits("test").patches
    aligned = patches[:, :32]
    assert (10 * aligned).std() == pytest.approx(10 * aligned.std().item())
    assert float(explained_variance(patches, 10 * aligned)) == pytest.approx(
        float(explained_variance(patches, aligned)), abs=1e-4
    )


def test_lstsq_may_go_wrong_where_columns_repeat_one_another_and_pinv_does_not():
    """In some runs lstsq loses all here (1.0), in others no more than pinv: that depends on where its numbers lie in memory."""
    tokens = digits("test").patches
    upper, tokens = (side - side.mean(0) for side in (tokens[:, :32], tokens))  # some pixels never change
    lost = {
        name: ((tokens - upper @ readout).square().sum() / tokens.square().sum()).item()
        for name, readout in (
            ("lstsq", torch.linalg.lstsq(upper, tokens).solution),
            ("pinv", torch.linalg.pinv(upper) @ tokens),
        )
    }
    assert lost["pinv"] == pytest.approx(0.325, abs=0.01)
    assert lost["lstsq"] > lost["pinv"] - 0.01


def test_a_small_temperature_makes_the_choice_sharp():
    mild, sharp = says(r"gives that word # at temperature 1, and # at 0\.1")
    cosines = torch.eye(10, dtype=torch.float64)[0]
    assert mild == round(cosines.softmax(0)[0].item(), 2)
    assert sharp == round((cosines / 0.1).softmax(0)[0].item(), 4)


def test_the_loss_by_hand():
    (loss,) = says(r"\\log\(1 \+ e\^\{-2\}\) = #\$")
    two = alignment_loss(torch.tensor([[1.0, 0]]), torch.eye(2), torch.tensor([0]), temperature=0.5)
    assert loss == round(two.item(), 3)
    assert PROSE.count(f"Expected: {loss} for the example above") == 1
    (chance,) = says(r"\\log 2 = #\$")
    even = alignment_loss(torch.tensor([[1.0, 1]]), torch.eye(2), torch.tensor([0]), temperature=0.5)
    assert chance == round(even.item(), 3)


def test_sizes_of_the_data():
    learned, tested = says(r"# patches are there to learn from, # others to test on")
    assert (learned, tested) == (len(digits("train").labels), len(digits("test").labels))


@cache
def aligner(name: str) -> nn.Module:
    chosen = {"mlp": TokenAligner(64, 32, "mlp"), "half": nn.Sequential(FirstHalf(), TokenAligner(32, 32))}.get(
        name, TokenAligner(64, 32)
    )
    draw_linear(chosen, 0)
    if name != "random":
        train_aligner(chosen, word_vectors(0), 200, 0)
    return chosen


def matched(name: str) -> tuple[float, float]:
    """Share of unseen patches whose nearest word is right, and variance that survives."""
    chosen, (patches, labels) = aligner(name), digits("test")
    with torch.no_grad():
        aligned = chosen(patches)
    return matching_accuracy(aligned, word_vectors(0), labels), explained_variance(patches, aligned).item()


def similarities(name: str) -> tuple[Tensor, Tensor]:
    """Cosines of unseen patches with all words (N, 10), and which word is their own (N, 10)."""
    chosen, (patches, labels) = aligner(name), digits("test")
    with torch.no_grad():
        table = F.normalize(chosen(patches), dim=-1) @ word_vectors(0).T
    return table, F.one_hot(labels, 10).bool()


class FirstHalf(nn.Module):
    def forward(self, tokens):
        return tokens[..., :32]


def test_every_second_pixel_explains_more_because_of_the_pixels_around():
    """Without the eight pixels around the missing one, nothing of the lead is left: 0.32, beside 0.35 for the upper half."""
    assert "each missing one has a neighbour left" in PROSE
    patches = digits("test").patches - digits("test").patches.mean(0)
    row, column = torch.arange(64) // 8, torch.arange(64) % 8

    def explained(kept: Tensor, around: int) -> float:
        """What the kept pixels that are more than `around` away explain of the missing ones."""
        lost = whole = 0.0
        for pixel in (~kept).nonzero().flatten():
            near = ((row - row[pixel]).abs() <= around) & ((column - column[pixel]).abs() <= around)
            others, missing = patches[:, kept & ~near], patches[:, pixel]
            readout = torch.linalg.pinv(others, rtol=1e-4) @ missing
            lost, whole = lost + (missing - others @ readout).square().sum(), whole + missing.square().sum()
        return float(1 - lost / whole)

    upper, second = row < 4, column % 2 == 0
    assert explained(second, 0) > explained(upper, 0) + 0.1
    assert explained(second, 1) < explained(upper, 1) + 0.02


def test_nearly_every_word_is_nearest_to_its_own_patch():
    """All ten are in about three quarters of the draws with the linear aligner, and in nine of ten with the mlp."""
    draws, *said = says(r"over # draws of ten, # of the words with the linear aligner, # with the mlp")
    labels = digits("test").labels
    generator = torch.Generator().manual_seed(0)
    lots = torch.rand(int(draws), 10, len(labels), generator=generator)
    picked = lots.masked_fill(labels != torch.arange(10).unsqueeze(1), -1.0).argmax(
        -1
    )  # (draws, 10), a patch of each digit
    first = torch.stack([(labels == digit).nonzero()[0, 0] for digit in range(10)])
    assert "each of these ten words is nearest to its own patch" in PROSE
    for name, share in zip(("linear", "mlp"), said, strict=True):
        table, _ = similarities(name)
        own = table[picked].argmax(1) == torch.arange(10)
        assert own.float().mean().item() == pytest.approx(share, abs=NEAR)
        assert not own.all()
        assert (table[first].argmax(0) == torch.arange(10)).all()


def test_why_truncation_is_below_chance():
    """Luck, over 200 draws. That most patches are nearest to two words is not the reason: without it the spread is as large."""
    patches, labels = digits("test")
    upper = F.normalize(patches[:, :32], dim=-1)
    (right,) = says(r"learns nothing is right in #, \*below\* chance\. That is luck")
    taken, of, apart = says(
        r"The upper halves of digits are much alike, so # of the # patches are nearest to the same two words .*? "
        r"without the mean of all upper halves only # are"
    )
    nearest = (upper @ word_vectors(0).T).argmax(-1)
    counts = nearest.bincount(minlength=10)
    assert (taken, of) == (counts[2] + counts[3], len(labels))
    assert counts.topk(2).indices.sort().values.tolist() == [2, 3]
    assert right == pytest.approx((nearest == labels).float().mean().item(), abs=6e-4)
    pairs = len(labels) * (len(labels) - 1)
    assert ((upper @ upper.T).sum().item() - len(labels)) / pairs > 0.45  # of any two directions it would be about 0
    centred = F.normalize(patches[:, :32] - digits("train").patches[:, :32].mean(0), dim=-1)
    counts = (centred @ word_vectors(0).T).argmax(-1).bincount(minlength=10)
    assert counts.topk(2).values.sum() == apart
    draws, *told = says(r"over # draws of the ten words it is right in # ± # \(# to #\)")
    same_draws, mean, spread = says(r"only # are, and over the # draws # ± # are right")[1:]
    assert draws == same_draws
    found, found_centred = (
        [matching_accuracy(one, word_vectors(seed), labels) for seed in range(int(draws))] for one in (upper, centred)
    )
    assert told == pytest.approx([fmean(found), stdev(found), min(found), max(found)], abs=6e-3)
    assert [mean, spread] == pytest.approx([fmean(found_centred), stdev(found_centred)], abs=6e-3)


def test_what_was_cut_off_is_not_learned_back_by_a_stronger_reader_either():
    assert "What was cut off cannot be learned back" in PROSE
    (seen, names), (unseen, answers) = digits("train"), digits("test")
    half, whole = (SVC(C=10).fit(seen[:, :n], names).score(unseen[:, :n], answers) for n in (32, 64))
    assert half < 0.92 < 0.98 < whole


def mixed_up(one: int, other: int, words: Tensor) -> int:
    """How many patches of two digits get the other one's word from an aligner that was trained on these words."""
    patches, labels = digits("test")
    aligner = TokenAligner(64, 32)
    train_aligner(aligner, words, 200, 0)
    with torch.no_grad():
        given = (F.normalize(aligner(patches), dim=-1) @ words.T).argmax(-1)
    return (((labels == one) & (given == other)) | ((labels == other) & (given == one))).sum().item()


def test_words_that_lie_close_cost_next_to_nothing():
    """Over several draws of the words; one draw alone would say that they cost much."""
    cosine, draws, *close, of = says(
        r"give their words a cosine of #, too, and over # draws of the words it mixes up the two in # ± # of the # patches\."
    )
    drawn = says(r"With the words as drawn it is # ± #\. So words that lie close cost next to nothing here")
    one_draw = says(r"\(One draw alone has # beside #, and could have fooled us\.\)")
    counts = []
    for draw in range(int(draws)):
        words = word_vectors(draw)
        nearby = words.clone()
        nearby[8] = F.normalize(words[1] + 0.2 * words[8], dim=0)
        assert (nearby[1] @ nearby[8]).item() == pytest.approx(cosine, abs=0.01)
        counts.append((mixed_up(1, 8, nearby), mixed_up(1, 8, words)))
    assert len(digits("test").labels) == of
    for measured, (mean, deviation) in zip(zip(*counts, strict=True), (close, drawn), strict=True):
        assert fmean(measured) == pytest.approx(mean, abs=0.5)
        assert stdev(measured) == pytest.approx(deviation, abs=0.7)
    assert counts[0] == pytest.approx(one_draw, abs=1)


def test_heads_of_unequal_width_fit_into_one_product():
    """Filled up with zeros, each with its own root, they give what each gives alone; with one root for both they do not."""
    assert "You can fill up the narrow one with zeros, which change no dot product" in PROSE
    query, key, value = torch.randn(3, 5, 32, generator=torch.Generator().manual_seed(0))
    widths = re.search(r"`queries\.split\(\[(\d+), (\d+)\], dim=-1\)` cuts", PROSE).groups()
    cut = [tensor.split([int(width) for width in widths], -1) for tensor in (query, key, value)]
    alone = torch.stack([F.pad(attention(*head)[0], (0, 24 - head[0].shape[-1])) for head in zip(*cut, strict=True)])
    query, key, value = (torch.stack([F.pad(head, (0, 24 - head.shape[-1])) for head in heads]) for heads in cut)
    together = [
        torch.softmax(query @ key.mT / torch.tensor(roots).sqrt().reshape(2, 1, 1), -1) @ value
        for roots in ([8.0, 24.0], [24.0, 24.0])
    ]
    assert torch.allclose(together[0], alone, atol=1e-6)
    assert not torch.allclose(together[1], alone, atol=1e-2)


def test_what_alignment_keeps_and_brings():
    kept, right = says(r"the random aligner keeps # of the variance and matches # of the patches")
    assert matched("random") == pytest.approx((right, kept), abs=NEAR)
    kept, right = says(r"The mlp keeps #, least of the three that read all 64 pixels, and matches best, #\.")
    assert matched("mlp") == pytest.approx((right, kept), abs=NEAR)
    whole, half = says(r"\| linear \| – \| # to # \|"), says(r"\| linear on the upper half \| – \| # to # \|")
    for name, (low, high) in (("linear", whole), ("half", half)):
        assert low - NEAR <= matched(name)[0] <= high + NEAR
    assert matched("mlp")[1] < matched("linear")[1] < matched("random")[1]
    assert matched("mlp")[0] > matched("linear")[0] > matched("half")[0] > matched("random")[0]


def test_what_an_mlp_keeps_before_and_after_and_makes_of_half_a_digit():
    patches, labels = digits("test")
    ranges = [
        says(r"\| mlp, before its training \| # to # \| – \|"),
        says(r"\| mlp \| # to # \| (?:\S+) to (?:\S+) \|"),
        says(r"\| mlp on the upper half of the pixels \| – \| # to # \|"),
        says(r"\| mlp \| \S+ to \S+ \| # to # \|"),
    ]
    for seed in range(5):
        whole, half = TokenAligner(64, 32, "mlp"), nn.Sequential(FirstHalf(), TokenAligner(32, 32, "mlp"))
        draw_linear(whole, seed)
        with torch.no_grad():
            found = [explained_variance(patches, whole(patches)).item()]
        train_aligner(whole, word_vectors(0), 200, seed)
        train_aligner(half, word_vectors(0), 200, seed)
        with torch.no_grad():
            found.append(explained_variance(patches, whole(patches)).item())
            found += [matching_accuracy(one(patches), word_vectors(0), labels) for one in (half, whole)]
        for number, (low, high) in zip(found, ranges, strict=True):
            assert low - 0.016 <= number <= high + 0.016, (seed, found)


def test_who_learned_the_first_half_of_clips_loss_is_better_at_the_second():
    """Over five seeds: a word picks its own patch among ten with less loss than before the training, and nearly for sure."""
    patches, labels = digits("test")
    ten = torch.stack([(labels == digit).nonzero()[0, 0] for digit in range(10)])
    for seed in range(5):
        costs = []
        for steps in (0, 200):
            chosen = TokenAligner(64, 32)
            draw_linear(chosen, seed)
            train_aligner(chosen, word_vectors(0), steps, seed)
            with torch.no_grad():
                table = F.normalize(chosen(patches[ten]), dim=-1) @ word_vectors(0).T / 0.1
            costs.append(F.cross_entropy(table.T, torch.arange(10)).item())
        before, after = costs
        assert after < 0.7 < before


def test_three_of_the_maps_made_by_hand_fit_no_word():
    apart = (torch.arange(8)[:, None] - torch.arange(8)).abs()
    steps = 0.4 * (apart == 0) + 0.3 * (apart == 3)
    for seed in range(20):  # noise of any seed is "other", as the caption says of the notebook's
        noise = torch.softmax(2 * torch.randn(8, 8, generator=torch.Generator().manual_seed(seed)), dim=-1)
        for one in (noise, steps / steps.sum(-1, keepdim=True), torch.eye(8).flip(1)):
            assert classify_pattern(0.9 * one + 0.1 / 8) == "other"


def test_own_words_come_closer_and_the_diagonal_lights_up():
    before, after = says(r"own word is # above that to the others, with the linear one #\.")
    for name, said in (("random", before), ("linear", after)):
        table, own = similarities(name)
        assert said == pytest.approx((table[own].mean() - table[~own].mean()).item(), abs=NEAR)
    for name, bright in (("random", False), ("linear", True), ("mlp", True)):
        table, own = similarities(name)
        means = torch.stack([table[own[:, digit]].mean(0) for digit in range(10)])
        assert (means.argmax(1) == torch.arange(10)).all() == bright


def test_what_identity_costs(monkeypatch):
    alone, words_moved, linear, cosine = says(
        r"Identity alone matches #, chance\. .* and match #, little less than the # of the linear aligner\. .*"
        r"fourth line, #: the moved words"
    )
    patches, labels = digits("test")
    wide, learned = word_vectors(0, 64), TokenAligner(64, 64)
    moved = train_words(wide, 200, 0)
    train_aligner(learned, wide, 200, 0)
    with torch.no_grad():
        aligned = learned(patches)
    assert alone == pytest.approx(matching_accuracy(patches, wide, labels), abs=NEAR)
    assert words_moved == pytest.approx(matching_accuracy(patches, moved, labels), abs=NEAR)
    assert linear == pytest.approx(matching_accuracy(aligned, wide, labels), abs=NEAR)
    assert cosine == pytest.approx(F.cosine_similarity(moved, wide).mean().item(), abs=NEAR)
    rate, usual, low, high, near, nearer, few, many = says(
        r"learning rate of # in place of # they match as well, # to # over five seeds, at a cosine of # to #, and # to # of the"
    )
    assert usual == 1e-2
    adam = torch.optim.Adam
    monkeypatch.setattr(torch.optim, "Adam", lambda learned, lr: adam(learned, lr=rate))
    for seed in range(5):
        wide = word_vectors(seed, 64)
        moved = train_words(wide, 200, seed)
        near_to = F.normalize(moved, dim=-1) @ wide.T
        assert low - NEAR <= matching_accuracy(patches, moved, labels) <= high + NEAR
        assert near - NEAR <= near_to.diagonal().mean() <= nearer + NEAR
        assert few <= (near_to.argmax(1) == torch.arange(10)).sum() <= many


# ---------------------------------------------------------------- heads


def test_two_tokens_split_into_two_heads():
    tokens = torch.tensor([[0, 1, 2, 3], [10, 11, 12, 13]])
    script = SCRIPT.read_text("utf-8").replace(" ", "")
    for head, numbers in enumerate(split_heads(tokens, 2).tolist()):
        assert f"head {head}: {numbers}".replace(" ", "") in script
    assert f"head 0 would be `{tokens.reshape(2, 2, 2)[0].tolist()}`" in PROSE


def test_scale_and_size_of_many_heads():
    d_model, heads, d_head, root, whole, wrong = says(
        r"With d_model = # and # heads, divide by √# = #, not by √# = #\."
    )
    assert d_head == d_model / heads
    assert (root, whole, wrong) == (math.sqrt(d_head), d_model, math.sqrt(d_model))
    four, side, again, total, width = says(r"four square matrices are (4) · # · # = # numbers for d_model = #,")
    assert total == four * side * again
    assert {size(MultiHeadAttention(int(width), heads)) for heads in (1, 8)} == {int(total)}


def test_concat_is_not_alone_in_keeping_who_brought_what():
    """Exchange what two heads look at: only added up *and* with one matrix of values the two outputs are the same."""
    one, other = torch.randn(2, 8, generator=torch.Generator().manual_seed(0))
    first, second = torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(1))
    for own, added in ((True, False), (True, True), (False, False), (False, True)):
        values = (first, second if own else first)
        outputs = []
        for cells in ((one, other), (other, one)):
            heads = [cell @ value for cell, value in zip(cells, values, strict=True)]
            outputs.append(sum(heads) if added else torch.cat(heads))
        assert torch.allclose(*outputs, atol=1e-5) == (added and not own)


def test_dot_products_grow_with_the_width_of_a_head():
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(20_000, 16, generator=generator) for _ in range(2))
    assert (query * key).sum(-1).std().item() == pytest.approx(math.sqrt(16), rel=0.02)


def test_every_head_reads_all_of_d_model_and_stays_in_its_columns_without_w_o():
    torch.manual_seed(0)
    layer, tokens = MultiHeadAttention(8, 2), torch.randn(5, 8)
    nudged = tokens.clone()
    nudged[:, 7] += 1  # a feature of the second half
    assert not torch.allclose(layer(tokens)[1][0], layer(nudged)[1][0])  # and head 0 looks elsewhere
    with torch.no_grad():
        for mixing, columns in ((torch.eye(8), range(4)), (layer.W_O.weight.clone(), range(8))):
            layer.W_O.weight.copy_(mixing)
            before = layer(tokens)[0]
            layer.W_V.weight[:4] += 1  # head 0's values
            changed = (layer(tokens)[0] - before).abs().amax(0) > 1e-6
            assert changed.nonzero().flatten().tolist() == list(columns)


def test_a_mask_without_an_axis_for_the_heads_is_broadcast_wrongly_and_silently():
    scores, mask = torch.zeros(3, 3, 2, 5), torch.ones(3, 2, 5, dtype=torch.bool)  # 3 scenes, 3 heads
    mask[0] = False  # of the first scene
    hidden = scores.masked_fill(~mask, -1).flatten(2).amin(-1)
    assert hidden.tolist() == [[-1, 0, 0]] * 3  # but it hides the first head of every scene
    right = scores.masked_fill(~mask.unsqueeze(-3), -1).flatten(2).amin(-1)
    assert right.tolist() == [[-1] * 3, [0] * 3, [0] * 3]


def test_dropout_keeps_the_mean():
    kept = F.dropout(torch.ones(100_000), 0.2, training=True)
    assert set(kept.tolist()) == {0.0, 1.25}
    assert kept.mean().item() == pytest.approx(1, abs=0.01)


def test_entropy_by_hand():
    (half,) = says(r"log 2 / log 4 = #\.")
    weights = torch.tensor([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    assert attention_entropy(weights).tolist() == pytest.approx([0, half, 1])
