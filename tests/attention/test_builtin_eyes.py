"""The vision transformer made of PyTorch's own parts computes what the reference does."""

from __future__ import annotations

import torch
from attention import vit
from attention.real import builtin_eyes
from attention.vit_layer import ViTLayer


def test_patches_become_the_same_tokens() -> None:
    images, weight = torch.randn(2, 3, 8, 12), torch.randn(6, 3, 4, 4)
    rest = torch.randn(6), torch.randn(6), torch.randn(10, 6)
    found, right = (module.patch_embedding(images, weight, *rest) for module in (builtin_eyes, vit))
    torch.testing.assert_close(found, right, rtol=0, atol=1e-5)
    torch.testing.assert_close(builtin_eyes.patch_embedding(images[0], weight, *rest)[0], right[0], rtol=0, atol=1e-5)


def test_a_layer_and_its_map_are_the_same() -> None:
    layer, tokens = ViTLayer(6, 2), torch.randn(2, 7, 6)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_()
        (found, weights), (right, right_weights) = (module.vit_block(layer, tokens) for module in (builtin_eyes, vit))
    torch.testing.assert_close(found, right, rtol=0, atol=1e-4)
    torch.testing.assert_close(weights, right_weights, rtol=0, atol=1e-5)
    assert torch.equal(builtin_eyes.cls_map(weights, 2, 3), vit.cls_map(weights, 2, 3))
