"""The pocket-sized model: its questions, its training, and what each broken piece does to it."""

import pytest
import torch
from attention.data.digits import BLANK, POSITIONS
from attention.data.tokens import WORDS
from attention.experiments.pocket_vlm import (
    POCKET_RATE,
    PocketVLM,
    align_pocket,
    draw_pocket_start,
    pocket_questions,
    pocket_rate,
    pocket_scores,
    train_pocket,
)
from attention.repairs import look_at_image, shuffle_questions, start_stage_two


def test_questions_name_a_place_and_answer_with_what_stands_there():
    drawn = pocket_questions(50, torch.Generator().manual_seed(3), fewest=2, most=5)
    shown = (drawn.labels != BLANK).sum(1)
    assert (shown.min(), shown.max()) == (2, 5)
    for (place, digit), cell, labels in zip(drawn.token_ids.tolist(), drawn.cells, drawn.labels, strict=True):
        assert WORDS[place] == POSITIONS[int(cell)]
        assert WORDS[digit] == str(int(labels[cell]))


def test_stage_one_brings_each_digit_to_its_word():
    model = PocketVLM()
    draw_pocket_start(model, 0)
    align_pocket(model)
    questions = pocket_questions(200, torch.Generator().manual_seed(5), "test")
    digits = model.embedding.weight[WORDS.index("0") : WORDS.index("9") + 1]
    nearest = torch.cdist(model.aligner(questions.image_patches), digits.unsqueeze(0)).argmin(-1)
    assert (nearest == questions.labels).float().mean() > 0.9


def test_the_rate_warms_up_and_comes_down():
    rates = [pocket_rate(step) for step in range(250)]
    assert rates[0] < 0.1 * POCKET_RATE
    assert max(rates) == pytest.approx(POCKET_RATE, rel=0.05)
    assert rates[-1] < 0.01 * POCKET_RATE


def test_a_training_learns_from_its_seed_alone():
    model, losses = train_pocket(0)
    again, same = train_pocket(0, look_at_image, start_stage_two)  # the mended pieces change nothing in a training
    assert losses == pytest.approx(same)
    assert len(losses) == 250
    scores = pocket_scores(model)
    assert scores["right"] > 0.9
    assert scores["on the patch"] > 0.95
    assert pocket_scores(again) == scores


def test_sorted_questions_are_shuffled_by_the_mended_piece():
    seen = []

    def watched(token_ids, image_patches, generator):
        assert (token_ids[:, 0].diff() >= 0).all(), "not sorted by place"
        words, images = shuffle_questions(token_ids, image_patches, generator)
        seen.append(words[:, 0])
        return words, images

    model, _ = train_pocket(1, shuffle_questions=watched)
    assert len(seen) == 10
    assert all((places.diff() < 0).any() for places in seen)
    assert pocket_scores(model)["right"] > 0.9


def test_everything_but_the_aligner_is_frozen_before_stage_two():
    found = {}

    def watched(model):
        found.update({name: one.requires_grad for name, one in model.named_parameters()})
        return start_stage_two(model)

    train_pocket(0, start_stage_two=watched)
    assert {name for name, learns in found.items() if learns} == {"aligner.weight", "aligner.bias"}
