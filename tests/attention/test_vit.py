"""A vision transformer's parts, each against PyTorch's own or another writing; and real eyes, against the file that they come from."""

import torch
from attention.vit import cls_map, patch_embedding, vit_attention, vit_block
from attention.vit_layer import ViTLayer
from torch import nn
from torch.nn import functional as F


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_a_convolution_with_stride_is_a_linear_of_patches() -> None:
    images, weight, bias, cls = drawn(2, 3, 6, 10), drawn(7, 3, 2, 2), drawn(7), drawn(7)
    tokens = patch_embedding(images, weight, bias, cls, torch.zeros(10, 7))
    patches = F.unfold(images, 2, stride=2).transpose(1, 2)
    torch.testing.assert_close(tokens[:, 1:], F.linear(patches, weight.flatten(1), bias))
    torch.testing.assert_close(tokens[:, 0], cls.expand(2, 7))
    torch.testing.assert_close(patch_embedding(images[1], weight, bias, cls, torch.zeros(10, 7)), tokens[1])


def test_positions_of_the_same_grid_are_added_as_they_are_and_others_are_interpolated() -> None:
    weight, nothing = torch.zeros(5, 3, 2, 2), torch.zeros(5)
    positions = drawn(10, 5)
    assert torch.equal(patch_embedding(torch.zeros(3, 6, 6), weight, nothing, nothing, positions), positions)
    ramp = torch.cat([drawn(1, 1), torch.arange(49.0)[:, None]]).expand(-1, 5)  # 7 × 7, row by row
    made = patch_embedding(torch.zeros(3, 14, 6), weight, nothing, nothing, ramp)[1:, 0].unflatten(0, (7, 3))
    slope = torch.tensor([21 + 2 / 3, 24, 27 - 2 / 3])
    torch.testing.assert_close(made[3], slope, atol=0.2, rtol=0)
    torch.testing.assert_close(made[:, 1], torch.arange(3.0, 49.0, 7))
    assert torch.equal(patch_embedding(torch.zeros(3, 14, 6), weight, nothing, nothing, ramp)[0], ramp[0])


def test_attention_is_pytorchs_own() -> None:
    layer, own = ViTLayer(15, 5), nn.MultiheadAttention(15, 5, batch_first=True)
    for kind in ("weight", "bias"):
        together = torch.cat([getattr(one, kind) for one in (layer.W_Q, layer.W_K, layer.W_V)])
        getattr(own, f"in_proj_{kind}").data = together.detach()
        getattr(own.out_proj, kind).data = getattr(layer.W_O, kind).data
    tokens = drawn(2, 7, 15)
    for got, wanted in zip(
        vit_attention(layer, tokens), own(tokens, tokens, tokens, average_attn_weights=False), strict=True
    ):
        torch.testing.assert_close(got, wanted)


def test_a_block_is_pytorchs_own_where_the_scales_are_1_and_nothing_where_they_are_0() -> None:
    layer, tokens = ViTLayer(12, 3), drawn(2, 5, 12)
    own = nn.TransformerEncoderLayer(12, 3, 48, 0.0, "gelu", 1e-6, batch_first=True, norm_first=True)
    attention = own.self_attn
    for kind in ("weight", "bias"):
        together = torch.cat([getattr(one, kind) for one in (layer.W_Q, layer.W_K, layer.W_V)])
        getattr(attention, f"in_proj_{kind}").data = together.detach()
        for ours, theirs in (
            (layer.W_O, attention.out_proj), (layer.expand, own.linear1), (layer.contract, own.linear2),
            (layer.norm_1, own.norm1), (layer.norm_2, own.norm2),
        ):  # fmt: skip
            getattr(theirs, kind).data = getattr(ours, kind).data
    torch.testing.assert_close(vit_block(layer, tokens)[0], own(tokens))
    layer.scale_1.data.zero_()
    layer.scale_2.data.zero_()
    assert torch.equal(vit_block(layer, tokens)[0], tokens)


def test_the_map_of_cls() -> None:
    weights = torch.arange(2 * 7 * 7.0).reshape(2, 7, 7)
    assert cls_map(weights, 2, 3).tolist() == [[[1, 2, 3], [4, 5, 6]], [[50, 51, 52], [53, 54, 55]]]
