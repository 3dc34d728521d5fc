import pytest
import torch
from attention.dot_product import masked_attention
from attention.efficient import fused_attention, fused_forward, linear_attention, sliding_window_attention, window_mask
from attention.multi_head import MultiHeadAttention
from torch.nn import functional as F


def drawn(*lead, n=11, d=3, d_v=5):
    generator = torch.Generator().manual_seed(0)
    return (torch.randn(*lead, n, width, generator=generator, dtype=torch.float64) for width in (d, d, d_v))


@pytest.mark.parametrize("window", [0, 1, 2, 3, 10, 17])
@pytest.mark.parametrize("n", [1, 7, 11, 12])
def test_window_equals_dense_attention_under_the_mask(n, window):
    query, key, value = drawn(2, 3, n=n)
    dense = F.scaled_dot_product_attention(query, key, value, attn_mask=window_mask(n, window))
    assert torch.allclose(sliding_window_attention(query, key, value, window), dense)


def test_the_mask_by_hand():
    assert window_mask(4, 1).int().tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]


def test_a_negative_window():
    with pytest.raises(ValueError, match="window"):
        sliding_window_attention(*drawn(), -1)


def test_window_gradients():
    query, key, value = (tensor.requires_grad_() for tensor in drawn(n=5, d=2, d_v=3))
    assert torch.autograd.gradcheck(lambda q, k, v: sliding_window_attention(q, k, v, 2), (query, key, value))


def test_linear_equals_its_quadratic_form():
    query, key, value = drawn(2, 3)
    similarity = (F.elu(query) + 1) @ (F.elu(key) + 1).mT
    expected = similarity / similarity.sum(-1, keepdim=True) @ value
    assert torch.allclose(linear_attention(query, key, value), expected)


def test_linear_mixes_tokens():
    query, key, value = drawn()
    changed = value.clone()
    changed[0] += 1
    moved = (linear_attention(query, key, changed) - linear_attention(query, key, value)).abs().amax(-1)
    assert (moved > 1e-3).all()


def test_fused_equals_explicit():
    query, key, value = drawn(2)
    mask = torch.rand(2, 11, 11, generator=torch.Generator().manual_seed(1)) < 0.5
    mask[..., 0] = True
    mask[0, 4] = False  # a query that may attend nowhere
    assert torch.allclose(fused_attention(query, key, value, mask), masked_attention(query, key, value, mask)[0])


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
@pytest.mark.parametrize("cross", [False, True])
def test_fused_forward_equals_the_layer(lead, cross):
    torch.manual_seed(0)
    layer = MultiHeadAttention(6, 3)
    tokens, context = torch.randn(*lead, 5, 6), torch.randn(*lead, 7, 6) if cross else None
    mask = torch.rand(*lead, 5, 7 if cross else 5) < 0.6
    mask[..., 0] = True
    for one in (None, mask):
        assert torch.allclose(fused_forward(layer, tokens, context, one), layer(tokens, context, one)[0], atol=1e-6)


def test_fused_attention_never_reads_beyond_its_values():
    """PyTorch's kernel does: with 3 keys and 5 values, or the other way round, it returned whatever lay in memory."""
    query, key, value = torch.randn(3, 4), torch.randn(3, 4), torch.randn(5, 4)
    for keys, values in ((key, value), (value, key)):
        with pytest.raises(ValueError, match="keys do not go with"):
            fused_attention(query, keys, values)
