"""Explanations by hand, by another way of computing them, and on models whose answer is known."""

import pytest
import torch
from attention.activation_patching import patch_head
from attention.deletion import area_under, deletion_curve, insertion_curve
from attention.experiments import recipe
from attention.explanation_maps import attention_rollout, gradient_attention
from attention.grounding import value_weighted_map
from attention.measures.evaluation import held_out, looked, prompt_of
from attention.measures.faithfulness import (
    effects_of,
    first_word,
    four_maps,
    probability_of,
    put_in_and_taken_out,
    rank_correlation,
    shuffled,
    value_weighted,
    with_weights,
)
from attention.open_vlm import OpenVLM
from attention.patches import swap_patches
from attention.vlm import MiniVLM
from torch import Tensor


def softmax(*shape: int, seed: int = 3) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).softmax(-1)


@pytest.fixture(scope="module")
def model() -> OpenVLM:
    """A model at its start, with larger weights in the cross-attention, so that its heads look somewhere."""
    model = OpenVLM(**recipe.MODEL)
    recipe.draw_start(model, 3)
    with torch.no_grad():
        for name in ("W_Q", "W_K"):
            getattr(model.blocks[-1].cross_attn, name).weight.mul_(3)
    return model


def test_rollout_by_hand():
    word_maps = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    seen = attention_rollout([word_maps], torch.eye(2).unsqueeze(0))
    assert seen.tolist() == [[1, 0], [0.25, 0.75]]


def test_rollout_is_the_sum_over_all_paths():
    """Two layers: from the last word back through a word of each layer, to a patch."""
    first, second, cross = softmax(2, 3, 3, seed=1), softmax(2, 3, 3, seed=2), softmax(2, 3, 5, seed=3)
    first_step, second_step = ((maps.mean(0) + torch.eye(3)) / 2 for maps in (first, second))
    expected = sum(
        second_step[2, late] * first_step[late, early] * cross.mean(0)[early] for late in range(3) for early in range(3)
    )
    seen = attention_rollout([first, second], cross)
    assert torch.allclose(seen[2], expected)
    assert torch.allclose(seen.sum(-1), torch.ones(3, dtype=torch.float64))


def test_gradient_attention_by_hand():
    weights = torch.tensor([0.5, 0.8], requires_grad=True).reshape(2, 1, 1)
    score = (weights.flatten() * torch.tensor([2.0, -3.0])).sum()
    assert gradient_attention(weights, score).tolist() == [[0.5]]


def test_a_scenes_gradient_is_its_own():
    weights = softmax(3, 2, 5, 7).requires_grad_()
    score = (weights.square() * torch.arange(7)).sum((1, 2, 3))
    together = gradient_attention(weights, score)
    for scene in range(3):
        alone = weights[scene].detach().requires_grad_()
        own = gradient_attention(alone, (alone.square() * torch.arange(7)).sum())
        assert torch.allclose(together[scene], own)


def test_curves_by_hand():
    patches, blank = torch.tensor([[[1.0], [2.0], [4.0]]]), torch.tensor([0.5])

    def total(shown: Tensor) -> Tensor:
        return shown.sum((1, 2))

    order = torch.tensor([[2, 0, 1]])
    assert deletion_curve(total, patches, order, blank).tolist() == [[7, 3.5, 3, 1.5]]
    assert insertion_curve(total, patches, order, blank).tolist() == [[1.5, 5, 5.5, 7]]
    assert area_under(torch.tensor([1.0, 0.5, 0.0])).item() == 0.5
    assert area_under(torch.tensor([[0.0, 1.0], [2.0, 2.0]])).tolist() == [0.5, 2]


def test_the_value_weighted_map_is_lesson_3s(model):
    questions = held_out("where", 5)
    prompts, patches = prompt_of("where", questions), questions.image_patches
    closed = MiniVLM(**recipe.MODEL)
    closed.load_state_dict(model.state_dict())
    tokens, image_tokens, weights = looked(closed, prompts, patches)
    expected = value_weighted_map(closed.blocks[-1].cross_attn, tokens, image_tokens)
    assert torch.allclose(value_weighted(model, patches, weights), expected, atol=1e-5)
    maps = four_maps(model, prompts, patches, attention_rollout, gradient_attention)
    assert {tuple(found.shape) for found in maps.values()} == {(5, 9)}
    assert torch.allclose(maps["value-weighted"], expected[:, -1], atol=1e-5)


def test_a_head_that_does_all_the_work_is_found(model):
    """Only head 2 adds anything: it is enough, it is needed, and shuffling any other head changes nothing."""
    one = OpenVLM(**recipe.MODEL)
    one.load_state_dict(model.state_dict())
    width = recipe.MODEL["d_model"] // recipe.MODEL["num_heads"]
    with torch.no_grad():
        kept = one.blocks[-1].cross_attn.W_O.weight[:, 2 * width : 3 * width].clone()
        one.blocks[-1].cross_attn.W_O.weight.zero_()
        one.blocks[-1].cross_attn.W_O.weight[:, 2 * width : 3 * width] = 30 * kept
    prompts = prompt_of("what", held_out("what", 40))
    clean, twin = 20 * torch.randn(2, 40, 9, 64, generator=torch.Generator().manual_seed(3))
    shares = put_in_and_taken_out(one, patch_head, prompts, clean, twin)
    assert shares["put in"] == [0, 0, 1, 0]
    assert shares["alone"][2] == 1
    assert [shares["taken out"][head] for head in (0, 1, 3)] == [0, 0, 0]
    assert shares["taken out"][2] > 0.5
    said = first_word(one, prompts, clean)
    for head, same in enumerate((True, True, False, True)):
        assert torch.equal(with_weights(one, prompts, clean, shuffled([head])), said) == same


def test_patching_by_hand(model):
    """Of the head's vectors what W_O makes is exchanged, and nothing else."""
    questions = held_out("where", 3)
    prompts, clean = prompt_of("where", questions), questions.image_patches
    twin = swap_patches(clean, 0, 5)
    good, bad = model.inside(prompts, clean).heads, model.inside(prompts, twin).heads
    mixed = torch.stack([bad[:, 0], good[:, 1], bad[:, 2], bad[:, 3]], 1)
    expected = model.inside(prompts, twin, lambda _: mixed).logits
    assert torch.allclose(patch_head(model, 1, prompts, clean, twin), expected)
    assert not torch.allclose(expected, model(prompts, twin)[0], atol=1e-4)


def test_effects_and_ranks():
    def first_patch(shown: Tensor) -> Tensor:
        return shown[:, 0, 0]

    patches = torch.arange(2 * 9 * 64.0).reshape(2, 9, 64)
    effects = effects_of(first_patch, patches)
    assert (effects[:, 1:] == 0).all()
    assert (effects[:, 0] == patches[:, 0, 0] + 0.3 / 0.38).all()
    rows = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    others = torch.tensor([[4.0, 5.0, 6.0], [6.0, 5.0, 4.0], [4.0, 6.0, 5.0]])
    assert rank_correlation(rows, others).tolist() == pytest.approx([1, -1, 1 / 3])


def test_the_score_is_the_probability_of_the_word(model):
    questions = held_out("what", 7)
    prompts, patches = prompt_of("what", questions), questions.image_patches
    said = first_word(model, prompts, patches)
    assert torch.allclose(
        probability_of(model, prompts, said)(patches), model(prompts, patches)[0][:, -1].softmax(-1).amax(-1)
    )
