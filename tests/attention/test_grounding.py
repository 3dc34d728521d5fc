import torch
from attention.grounding import value_weighted_map
from attention.multi_head import MultiHeadAttention


def test_equals_the_sum_head_by_head():
    torch.manual_seed(0)
    layer = MultiHeadAttention(6, 3).double()
    tokens, image = torch.randn(2, 5, 6).double(), torch.randn(2, 7, 6).double()
    weights = layer(tokens, image)[1]
    expected = torch.zeros(2, 5, 7).double()
    for b in range(2):
        for t in range(5):
            for s in range(7):
                brought = torch.zeros(6).double()
                for h in range(3):
                    value = layer.W_V.weight[2 * h : 2 * h + 2] @ image[b, s]
                    brought += weights[b, h, t, s] * (layer.W_O.weight[:, 2 * h : 2 * h + 2] @ value)
                expected[b, t, s] = brought.norm()
    assert torch.allclose(value_weighted_map(layer, tokens, image), expected)


def test_the_vectors_behind_it_sum_to_the_output():
    """With one patch the map is the length of the whole output."""
    torch.manual_seed(0)
    layer = MultiHeadAttention(6, 2)
    tokens, image = torch.randn(5, 6), torch.randn(1, 6)
    assert torch.allclose(
        value_weighted_map(layer, tokens, image)[:, 0], layer(tokens, image)[0].norm(dim=-1), atol=1e-6
    )
