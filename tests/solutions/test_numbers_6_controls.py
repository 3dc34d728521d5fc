"""What could refute the lab's reasons: short trainings that differ from the notebook's in one thing.

The bounds are far from what came out with the kernels of two processors: each test's docstring gives that.
"""

from __future__ import annotations

import pytest
import torch
from attention.data.digits import draw_scenes
from attention.data.tokens import WORDS
from attention.experiments.short_trainings import (
    ALIGNER,
    FIRST_DIGIT,
    FIRST_PLACE,
    GATE,
    PADDING,
    SCALE,
    Examples,
    answers_and_maps,
    short_scores,
    start_pointer,
    train_short,
)
from attention.experiments.three_ways import QUERIES, WayLayers, place_questions, train_way
from attention.image_into_text import ConcatenatedAttention, GatedCrossAttention, LearnedQueries
from attention.lab_repairs import look_past_padding
from torch import Tensor

from tests.solutions.test_numbers_6_explain import PROSE, says


def drawn(count: int, generator: torch.Generator, split: str, fewest: int = 3, most: int = 8) -> Examples:
    """As the first training draws, but no cell of the padding shows the digit in question."""
    patches, labels = draw_scenes(count, generator, split)
    left_over, others = draw_scenes(count, generator, split)
    held = torch.randint(fewest, most + 1, (count, 1), generator=generator)
    padding = torch.rand(count, 9, generator=generator).argsort(1).argsort(1) >= held
    cells = torch.rand(count, 9, generator=generator).masked_fill(padding, -1.0).argmax(1)
    asked = labels.gather(1, cells.unsqueeze(1))
    left_over = torch.where((others == asked).unsqueeze(-1), left_over.roll(-1, 1), left_over)
    patches = torch.where(padding.unsqueeze(-1), left_over, patches)
    return Examples((FIRST_DIGIT + asked, patches, padding), FIRST_PLACE + cells, cells)


def look_everywhere(cross_attn, words: Tensor, patches: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
    return cross_attn(words, patches)


def paint_over(cross_attn, words: Tensor, patches: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
    return cross_attn(words, patches.masked_fill(padding.unsqueeze(-1), 0.0))


def test_without_a_mask_a_second_seven_is_not_what_makes_it_fail():
    """Right, at three seeds: 0.11 to 0.18 without the mask, 0.10 to 0.14 in full scenes, and 0.95 to 0.97 with the mask."""
    assert "The second 7 is not to blame: without one in any padding it fails, too, and so do full scenes" in PROSE
    no_second = PADDING._replace(draw=lambda count, generator, split, *_: drawn(count, generator, split))
    full = PADDING._replace(draw=lambda count, generator, split, *_: drawn(count, generator, split, 9, 9))
    right = [
        short_scores(training, train_short(training, piece, 0)[0])["right"]
        for training, piece in (
            (PADDING, look_everywhere),
            (no_second, look_everywhere),
            (full, look_past_padding),
            (no_second, look_past_padding),
        )
    ]
    assert max(right[:3]) < 0.4 < GATE < right[3]


def test_cells_that_are_painted_over_get_no_weight_in_the_end():
    """At 5 seeds: 0.37 to 0.39 before the first step, as many as there are; after the last at most 0.01 in any scene."""
    low, high = says("the empty cells take their share of the weight, # to #; only the training")
    examples = PADDING.draw(2000, torch.Generator().manual_seed(7), "test", 9, 9)
    shares = []
    for steps in (0, None):
        model, _ = train_short(PADDING, paint_over, 0, steps=steps)
        shares.append((answers_and_maps(model, *examples.asked)[1] * examples.asked[2]).sum(-1))
    assert low - 0.01 < shares[0].mean() < high + 0.01
    assert shares[1].mean() < 0.01
    assert min(short_scores(PADDING, model).values()) > GATE


def test_neither_the_start_nor_the_root_alone_mends_the_second_training():
    """Right, at 5 seeds: 0.32 to 0.81 from an even start without the root, 0.50 to 0.81 from a sharp one with it."""
    even_low, even_high = says("the broken piece begins as evenly as yours: # to # right.")
    sharp_low, sharp_high = says("yours begins as sharply: # to #. Both miss the threshold, at each of 5 seeds.")

    def look(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        weights = (query @ key.transpose(-2, -1)).softmax(-1)
        return weights @ value, weights

    def mended(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return look(query / query.shape[-1] ** 0.5, key, value)

    def right(piece, factor: float) -> float:
        def start(model, seed: int) -> None:
            SCALE.start(model, seed)
            with torch.no_grad():
                model.cross_attn.W_Q.weight.mul_(factor)
                model.cross_attn.W_K.weight.mul_(factor)

        training = SCALE._replace(start=start)
        return short_scores(training, train_short(training, piece, 0)[0])["right"]

    root = 128**0.25  # in W_Q and in W_K: both together are √d_k
    assert even_low <= right(look, 1 / root) <= even_high <= GATE < right(mended, 1)
    assert sharp_low <= right(mended, root) <= sharp_high <= GATE


def test_the_third_training_fails_because_its_eight_directions_are_random():
    """Right, at three seeds: 0.47; with the eight main directions of the digits in their place, as fixed, 0.88."""
    assert "because the embedding and the projections still learn, around eight directions that stay random" in PROSE

    def fixed(encoder, aligner, patches: Tensor) -> Tensor:
        with torch.no_grad():
            return aligner(encoder(patches))

    def start(model, seed: int) -> None:
        start_pointer(model, seed)
        with torch.no_grad():
            model.aligner.weight.copy_(torch.eye(32)[-8:])  # the encoder's directions come in rising order
            model.aligner.bias.zero_()

    trainings = (ALIGNER, ALIGNER._replace(start=start))
    right = [short_scores(training, train_short(training, fixed, 0)[0])["right"] for training in trainings]
    assert right[0] < 0.6 < 0.8 < right[1]


@pytest.mark.slow(
    held_by="tests/attention/experiments/test_three_ways.py::test_the_map_of_learned_queries_is_a_distribution_over_patches"
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_blend_is_read_and_what_stands_where_is_not(seed: int):
    """Asked about a place of a blend, it names one of the blend in 0.77 to 0.91, where guessing gives 0.2 to 0.4."""
    low, high = says("in # to # of the cases it names one of them, the right one hardly more often than another")
    layers = WayLayers(ConcatenatedAttention, GatedCrossAttention, LearnedQueries)
    model, _ = train_way(QUERIES, layers, seed)
    asked = place_questions(4000, torch.Generator().manual_seed(7), "test")
    with torch.no_grad():
        logits, maps = model(asked.token_ids[:, :1], asked.image_patches)
    said = logits[:, 0].argmax(-1) - WORDS.index("0")
    looks = maps[0].mean((0, 1))  # (K, 9)
    blends = [
        blend for blend, look in zip(looks > 0.2, looks, strict=True) if blend.sum() > 1 and look[blend].sum() > 0.75
    ]
    assert blends
    for blend in blends:
        (places,) = blend.nonzero(as_tuple=True)
        about = (asked.cells == places).any(1)
        named = said[about].unsqueeze(1) == asked.labels[about][:, places]
        right = said[about] == asked.labels[about].gather(1, asked.cells[about]).squeeze(1)
        assert low < named.any(1).float().mean() < high + 0.03
        assert right.float().mean() < named.any(1).float().mean() / len(places) + 0.1
