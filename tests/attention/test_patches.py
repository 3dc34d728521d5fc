"""Patches against PyTorch's own unfold, and by hand."""

import pytest
import torch
from attention.patches import patchify, swap_patches
from torch.nn import functional as F


def test_by_hand():
    image = torch.arange(24).reshape(1, 4, 6)
    assert patchify(image, 2)[0].tolist() == [
        [0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11], [12, 13, 18, 19], [14, 15, 20, 21], [16, 17, 22, 23],
    ]  # fmt: skip


@pytest.mark.parametrize(("height", "width", "size"), [(6, 10, 2), (15, 9, 3), (5, 5, 5), (3, 2, 1)])
def test_equals_unfold(height, width, size):
    images = torch.randn(3, height, width)
    assert torch.equal(patchify(images, size), F.unfold(images.unsqueeze(1), size, stride=size).mT)


@pytest.mark.parametrize(("height", "width"), [(6, 7), (7, 6)])
def test_refuses_what_does_not_divide(height, width):
    with pytest.raises(ValueError, match=f"{height}×{width}"):
        patchify(torch.zeros(2, height, width), 3)


def test_swap_one_pair_for_all():
    patches = torch.randn(3, 7, 5)
    kept = patches.clone()
    swapped = swap_patches(patches, 1, 4)
    assert torch.equal(patches, kept)
    assert torch.equal(swapped, patches[:, [0, 4, 2, 3, 1, 5, 6]])


def test_swap_a_pair_for_each():
    patches = torch.randn(2, 3, 5)
    swapped = swap_patches(patches, torch.tensor([0, 2]), torch.tensor([1, 2]))
    assert torch.equal(swapped[0], patches[0, [1, 0, 2]])
    assert torch.equal(swapped[1], patches[1])


def test_swap_without_a_batch():
    patches = torch.randn(7, 5)
    assert torch.equal(swap_patches(patches, 2, 0), patches[[2, 1, 0, 3, 4, 5, 6]])
