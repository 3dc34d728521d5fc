"""The three layers of the lab, each against an independent writing of the same thing."""

import pytest
import torch
from attention.image_into_text import ConcatenatedAttention, GatedCrossAttention, LearnedQueries
from attention.masks import causal_mask
from torch.nn import functional as F


def test_concatenation_is_one_attention_in_which_the_image_sees_no_word() -> None:
    torch.manual_seed(0)
    text, image = torch.randn(2, 3, 10), torch.randn(2, 5, 10)
    layer = ConcatenatedAttention(10, 2)
    tokens, weights = layer(text, image, causal_mask(3))
    changed, _ = layer(torch.randn(2, 3, 10), image, causal_mask(3))
    assert torch.equal(tokens[:, :5], changed[:, :5])  # other words, the same image
    assert (weights[:, :, 5:, :5] > 0).all()
    assert torch.equal(weights[0, 0, 5:, 5:] > 0, causal_mask(3))
    alone, _ = layer.self_attn(image)
    torch.testing.assert_close(tokens[:, :5], alone)
    last, _ = layer.self_attn(text[:, 2:], torch.cat([image, text], 1))  # the last word sees everything
    torch.testing.assert_close(tokens[:, 7:], last)


def test_a_closed_gate_changes_nothing_and_still_learns() -> None:
    torch.manual_seed(0)
    layer = GatedCrossAttention(10, 2)
    text, image = torch.randn(2, 3, 10), torch.randn(2, 5, 10)
    tokens, weights = layer(text, image)
    assert torch.equal(tokens, text)
    (gradient,) = torch.autograd.grad(tokens.square().sum(), layer.gate)
    assert gradient.abs() > 0.1
    torch.nn.init.constant_(layer.gate, 0.5)
    seen, same = layer.cross_attn(F.layer_norm(text, (10,)), image)
    torch.testing.assert_close(layer(text, image)[0], text + 0.46211716 * seen)
    torch.testing.assert_close(weights, same)


def test_learned_queries_are_the_same_for_every_image() -> None:
    torch.manual_seed(0)
    layer = LearnedQueries(3, 10, 2)
    images = torch.randn(2, 7, 5, 10)
    summary, weights = layer(images)
    assert (summary.shape, weights.shape) == ((2, 7, 3, 10), (2, 7, 2, 3, 5))
    seen, _ = layer.cross_attn(layer.queries, images[1, 4])
    torch.testing.assert_close(summary[1, 4], F.layer_norm(layer.queries + seen, (10,)))


def test_queries_that_begin_alike_stay_alike() -> None:
    torch.manual_seed(0)
    layer = LearnedQueries(3, 10, 2).double()
    torch.nn.init.ones_(layer.queries)
    summary, _ = layer(torch.randn(7, 5, 10).double())
    (gradient,) = torch.autograd.grad((summary * torch.arange(10.0).double()).square().sum(), layer.queries)
    torch.testing.assert_close(gradient, gradient[:1].expand(3, 10))
    assert gradient.abs().max() > 0.1


@pytest.mark.parametrize("alike", [True, False])
def test_training_takes_only_those_queries_apart_that_began_apart(alike: bool) -> None:
    """Queries that begin alike stay alike in 200 steps of Adam, if what reads the summary treats all its tokens alike."""
    torch.manual_seed(0)
    layer, images, wanted = LearnedQueries(3, 10, 2).double(), torch.randn(7, 5, 10), torch.randn(7, 1, 10)
    if alike:
        torch.nn.init.ones_(layer.queries)
    start, optimizer = layer.queries.detach().clone(), torch.optim.Adam(layer.parameters(), lr=1e-2)
    for _ in range(200):
        optimizer.zero_grad()
        (layer(images.double())[0] - wanted).square().sum().backward()
        optimizer.step()
    queries = layer.queries.detach()
    assert (queries - start).abs().max() > 0.1
    assert ((queries - queries[0]).abs().max() < 1e-6) == alike
