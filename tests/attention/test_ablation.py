import pytest
import torch
from attention.ablation import ablate_head
from attention.multi_head import MultiHeadAttention


@pytest.mark.parametrize("head", [0, 1, 2])
@pytest.mark.parametrize("cross", [False, True])
def test_ablation_is_zeroing_the_heads_columns_of_the_output_projection(head, cross):
    torch.manual_seed(4)
    layer = MultiHeadAttention(15, 3, d_context=7 if cross else None).eval()
    tokens = torch.randn(2, 5, 15)
    context = torch.randn(2, 11, 7) if cross else None
    mask = torch.rand(2, 5, 11 if cross else 5) < 0.7
    got = ablate_head(layer, head, tokens, context, mask)
    with torch.no_grad():
        layer.W_O.weight[:, 5 * head : 5 * head + 5] = 0
    torch.testing.assert_close(got, layer(tokens, context, mask)[0])


def test_the_heads_contributions_add_up_to_the_output():
    torch.manual_seed(5)
    layer, tokens = MultiHeadAttention(6, 3).eval(), torch.randn(7, 6)
    output, _ = layer(tokens)
    removed = sum(output - ablate_head(layer, head, tokens) for head in range(3))
    torch.testing.assert_close(removed, output)


def test_the_layer_stays_as_it_is():
    layer = MultiHeadAttention(6, 3).eval()
    before = {name: parameter.clone() for name, parameter in layer.named_parameters()}
    ablate_head(layer, 1, torch.randn(7, 6))
    assert not layer.training
    assert all(torch.equal(parameter, before[name]) for name, parameter in layer.named_parameters())
