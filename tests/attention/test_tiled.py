"""Tiled attention is dense attention, in less memory."""

import pytest
import torch
from attention.measures.scaling import cost_of, dense_attention, slope
from attention.tiled import tiled_attention


def drawn(*lead, queries, keys, scale=1.0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    shapes = ((queries, 3), (keys, 3), (keys, 5))
    return [torch.randn(*lead, *shape, generator=generator, dtype=dtype) * scale for shape in shapes]


@pytest.mark.parametrize("tile", [1, 2, 4, 13, 50])
def test_equals_dense_attention(tile):
    tensors = drawn(2, 3, queries=7, keys=13)
    assert torch.allclose(tiled_attention(*tensors, tile), dense_attention(*tensors), atol=1e-12)


def test_equals_it_to_six_digits_in_single_precision():
    tensors = drawn(queries=500, keys=500, dtype=torch.float32)
    assert (tiled_attention(*tensors, 64) - dense_attention(*tensors)).abs().max() < 1e-6


def test_scores_of_thousands():
    tensors = drawn(queries=7, keys=13, scale=100.0)
    assert torch.allclose(tiled_attention(*tensors, 4), dense_attention(*tensors), atol=1e-9)


def test_memory_grows_with_n_and_not_with_its_square():
    lengths = (512, 1024, 2048)
    memory = {n: cost_of(lambda *tensors: tiled_attention(*tensors, 32), n).megabytes for n in lengths}
    assert slope(memory) == pytest.approx(1.0, abs=0.02)


def test_gradients():
    tensors = [tensor.requires_grad_() for tensor in drawn(queries=3, keys=5)]
    assert torch.autograd.gradcheck(lambda *given: tiled_attention(*given, 2), tensors)


def test_in_training_every_tile_is_kept():
    """What the docstring says: autograd holds as many numbers as there are scores, and more."""
    query, key, value = (tensor.requires_grad_() for tensor in drawn(queries=100, keys=100))
    held = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: held.append(tensor.numel()) or tensor, lambda tensor: tensor
    ):
        tiled_attention(query, key, value, 10)
    assert sum(held) > 100 * 100


def test_an_empty_tile():
    with pytest.raises(ValueError, match="not 0"):
        tiled_attention(*drawn(queries=3, keys=5), 0)
