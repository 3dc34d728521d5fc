"""The mended pieces of the lab, by hand and against PyTorch's own."""

import math

import pytest
import torch
from attention.lab_repairs import image_tokens, look_once, look_past_padding, looking_loss, mirror_left_right
from attention.multi_head import MultiHeadAttention
from torch import nn
from torch.nn import functional as F


def test_no_weight_is_on_the_padding_and_all_is_on_the_scene():
    layer = MultiHeadAttention(6, 2)
    words, patches = torch.randn(3, 5, 6), torch.randn(3, 7, 6)
    padding = torch.arange(7) >= torch.tensor([[2], [5], [7]])
    seen, weights = look_past_padding(layer, words, patches, padding)
    assert seen.shape == words.shape
    for scene, length in enumerate((2, 5, 7)):
        assert (weights[scene, ..., :length] > 0).all()
        assert (weights[scene, ..., length:] == 0).all()


def test_one_look_is_pytorchs():
    query, key, value = torch.randn(2, 3, 11), torch.randn(2, 5, 11), torch.randn(2, 5, 7)
    seen, weights = look_once(query, key, value)
    torch.testing.assert_close(seen, F.scaled_dot_product_attention(query, key, value))
    torch.testing.assert_close(weights @ value, seen)


def test_the_aligner_learns_and_the_encoder_does_not():
    encoder, aligner = nn.Linear(5, 3), nn.Linear(3, 2)
    patches = torch.randn(7, 9, 5)
    tokens = image_tokens(encoder, aligner, patches)
    torch.testing.assert_close(tokens, aligner(encoder(patches)))
    tokens.sum().backward()
    assert aligner.weight.grad is not None
    assert encoder.weight.grad is None


def test_scene_and_question_are_mirrored_together():
    patches = torch.arange(18.0).reshape(2, 9, 1)
    cells, scenes = mirror_left_right(torch.tensor([3, 3]), patches, torch.tensor([True, False]))
    assert cells.tolist() == [5, 3]
    assert scenes[0].flatten().tolist() == [2, 1, 0, 5, 4, 3, 8, 7, 6]
    assert torch.equal(scenes[1], patches[1])
    every = torch.arange(9)  # the digit that is asked about is the same before and after
    patches = torch.randn(9, 9, 2)
    cells, scenes = mirror_left_right(every, patches, torch.ones(9, dtype=torch.bool))
    assert torch.equal(scenes[every, cells], patches[every, every])


def test_the_bonus_is_the_entropy():
    logits, answers = torch.randn(2, 5), torch.tensor([1, 4])
    even, one = torch.full((2, 9), 1 / 9), F.one_hot(torch.tensor([3, 7]), 9).float()
    plain = F.cross_entropy(logits, answers).item()
    assert looking_loss(logits, answers, even, 0.5).item() == pytest.approx(plain - 0.5 * math.log(9))
    one.requires_grad_()
    loss = looking_loss(logits, answers, one, 0.5)
    assert loss.item() == pytest.approx(plain)
    loss.backward()
    assert one.grad.isfinite().all()
