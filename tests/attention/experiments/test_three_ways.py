"""The comparison of the three ways: FLOPs by formula and by count, the task, and what a trained model scores."""

import pytest
import torch
from attention.data.tokens import WORDS, decode
from attention.experiments import recipe
from attention.experiments.three_ways import (
    CONCATENATION,
    GATED,
    QUERIES,
    WAYS,
    WayLayers,
    WayVLM,
    added_layers,
    counted_flops,
    draw_way_start,
    new_layers,
    over_patches,
    place_questions,
    train_way,
    way_flops,
    way_scores,
)
from attention.image_into_text import ConcatenatedAttention, GatedCrossAttention, LearnedQueries
from attention.open_vlm import OpenVLM

LAYERS = WayLayers(ConcatenatedAttention, GatedCrossAttention, LearnedQueries)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sizes", [dict(words=1, blocks=1, patches=9), dict(words=5, blocks=2, patches=7)])
def test_the_formula_counts_what_pytorch_counts(way: str, sizes: dict[str, int]) -> None:
    words, blocks, patches = sizes.values()
    model = WayVLM(way, LAYERS, num_queries=3, width=12, num_heads=2, num_blocks=blocks, num_patches=patches)
    shared = 2 * patches * 64 * 12 + 2 * words * 12 * len(WORDS)  # the aligner and the head
    assert counted_flops(model, words) - shared == way_flops(way, patches, words, 3, 12, blocks)


def test_a_question_is_answered_by_the_digit_at_its_place() -> None:
    asked = place_questions(50, torch.Generator().manual_seed(0), fewest=1, most=4)
    for ids, cell, labels in zip(asked.token_ids, asked.cells[:, 0], asked.labels, strict=True):
        place, digit = decode(ids).split()
        assert WORDS.index(place) - WORDS.index("top-left") == cell
        assert int(digit) == labels[cell]


def test_the_map_of_learned_queries_is_a_distribution_over_patches() -> None:
    torch.manual_seed(0)
    model = WayVLM(QUERIES, LAYERS, num_queries=3)
    draw_way_start(model, 0)
    asked = place_questions(5, torch.Generator().manual_seed(0))
    _, maps = model(asked.token_ids[:, :1], asked.image_patches)
    looks = over_patches(model, maps)
    assert looks.shape == (5, 1, 9)
    met = maps[1].sum(-1).mean(1)  # a word looks at itself, too
    torch.testing.assert_close(looks.sum(-1), met)
    assert (met < 1).all()


def test_training_is_the_same_for_the_same_seed_and_learns() -> None:
    model, losses = train_way(CONCATENATION, LAYERS, 0, steps=250)
    assert train_way(CONCATENATION, LAYERS, 0, steps=3)[1] != losses[:3]  # another number of steps, another schedule
    again, _ = train_way(GATED, LAYERS, 0, steps=2)
    once_more, _ = train_way(GATED, LAYERS, 0, steps=2)
    assert all(map(torch.equal, again.parameters(), once_more.parameters()))
    scores = way_scores(model, 500)
    assert scores["right"] > 0.6  # 250 steps of 500; chance is 0.1
    torch.testing.assert_close(scores["by place"].mean().item(), scores["right"], atol=0.03, rtol=0)


def test_new_layers_change_nothing_while_their_gates_are_closed() -> None:
    torch.manual_seed(0)
    model = OpenVLM(**recipe.MODEL)
    asked = place_questions(3, torch.Generator().manual_seed(0))
    before, _ = model(asked.token_ids, asked.image_patches)
    with added_layers(model, new_layers(GatedCrossAttention, 2, 0.0)):
        closed, _ = model(asked.token_ids, asked.image_patches)
    with added_layers(model, new_layers(GatedCrossAttention, 2, 100.0)):
        opened, _ = model(asked.token_ids, asked.image_patches)
    after, _ = model(asked.token_ids, asked.image_patches)
    assert torch.equal(before, closed)
    assert torch.equal(before, after)
    assert (before - opened).abs().max() > 0.01
