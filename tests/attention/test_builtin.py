import pytest
import torch
from attention import builtin, dot_product, masks


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_built_in_attention_equals_the_reference(lead, masked, dtype):
    torch.manual_seed(2)
    query, key, value = (torch.randn(*lead, *size, dtype=dtype) for size in ((5, 3), (7, 3), (7, 2)))
    mask = None
    if masked:
        mask = torch.rand(*lead, 5, 7) < 0.5
        mask[..., 1, :] = False  # one query may attend nowhere
    for leaf in (query, key, value):
        leaf.requires_grad_()
    got = builtin.masked_attention(query, key, value, mask)
    expected = dot_product.masked_attention(query, key, value, mask)
    tolerance = dict(atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(got[0], expected[0], **tolerance)
    torch.testing.assert_close(got[1], expected[1], **tolerance)
    mine, theirs = (
        torch.autograd.grad(output.square().sum() + weights.square().sum(), (query, key, value))
        for output, weights in (got, expected)
    )
    if not masked:
        for one, two in zip(mine, theirs, strict=True):
            torch.testing.assert_close(one, two, atol=1e-5, rtol=1e-4)


def test_a_padding_mask_broadcasts_over_the_queries():
    torch.manual_seed(3)
    query, key, value = torch.randn(2, 5, 3), torch.randn(2, 7, 3), torch.randn(2, 7, 2)
    mask = builtin.padding_mask(torch.tensor([4, 0]), 7)
    got, expected = (module.masked_attention(query, key, value, mask) for module in (builtin, dot_product))
    torch.testing.assert_close(got[0], expected[0])
    torch.testing.assert_close(got[1], expected[1])
    assert (got[0][1] == 0).all()


def test_the_built_in_masks_equal_the_reference():
    lengths = torch.tensor([0, 3, 5])
    assert torch.equal(builtin.causal_mask(7), masks.causal_mask(7))
    assert torch.equal(builtin.padding_mask(lengths, 5), masks.padding_mask(lengths, 5))
