"""The mended pieces, by hand and against PyTorch's own."""

import torch
from attention.multi_head import MultiHeadAttention
from attention.repairs import look_at_image, shuffle_questions, start_stage_two
from torch import nn


def test_every_word_may_look_at_every_patch():
    layer = MultiHeadAttention(6, 2)
    words, patches = torch.randn(3, 5, 6), torch.randn(3, 7, 6)
    seen, weights = look_at_image(layer, words, patches)
    assert seen.shape == words.shape
    assert weights.shape == (3, 2, 5, 7)
    assert (weights > 0).all()
    moved = patches.clone()
    moved[:, -1] += 1.0  # the last patch matters to the first word
    assert (look_at_image(layer, words, moved)[0][:, 0] - seen[:, 0]).abs().max() > 1e-3


def test_every_parameter_is_thawed_and_listed():
    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.LayerNorm(3), nn.Linear(3, 5)))
    model.requires_grad_(False)
    learning = start_stage_two(model)
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert [id(one) for one in learning] == [id(one) for one in model.parameters()]
    frozen = nn.Linear(2, 3).requires_grad_(False)
    frozen.requires_grad = True  # what the broken piece does
    assert not any(parameter.requires_grad for parameter in frozen.parameters())


def test_pairs_stay_together():
    token_ids, images = torch.arange(13).unsqueeze(1), torch.arange(13.0).reshape(13, 1, 1)
    generator = torch.Generator().manual_seed(0)
    words, seen = shuffle_questions(token_ids, images, generator)
    assert torch.equal(words.float().flatten(), seen.flatten())
    assert sorted(words.flatten().tolist()) == list(range(13))
    assert not torch.equal(words, token_ids)
    assert not torch.equal(shuffle_questions(token_ids, images, generator)[0], words)
