"""CLIP's and SigLIP's losses: by hand, against PyTorch's own losses, and in batches."""

import pytest
import torch
from attention.contrastive import contrastive_loss, sigmoid_loss
from torch import Tensor
from torch.nn import functional as F

LOSSES = (contrastive_loss, sigmoid_loss)


def pairs(*shape: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(7)
    return torch.randn(*shape, generator=generator), torch.randn(*shape, generator=generator)


def test_contrastive_loss_by_hand() -> None:
    # Cosines [[1, 0], [.6, .8]], temperature .5: each picture and each text chooses between two.
    image, text = torch.tensor([[3.0, 0.0], [0.6, 0.8]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    of_pictures = [torch.tensor(2.0).exp().reciprocal().log1p(), torch.tensor(-0.4).exp().log1p()]
    of_texts = [torch.tensor(-0.8).exp().log1p(), torch.tensor(-1.6).exp().log1p()]
    by_hand = sum([*of_pictures, *of_texts]) / 4
    torch.testing.assert_close(contrastive_loss(image, text, temperature=0.5), by_hand)


def test_contrastive_loss_is_two_cross_entropies() -> None:
    image, text = pairs(5, 3)
    cosine = torch.cosine_similarity(image.unsqueeze(1), text, dim=-1) / 0.07
    diagonal = torch.arange(5)
    expected = (F.cross_entropy(cosine, diagonal) + F.cross_entropy(cosine.T, diagonal)) / 2
    torch.testing.assert_close(contrastive_loss(image, text), expected)
    torch.testing.assert_close(contrastive_loss(text, image), expected)  # the two sides play the same part


def test_sigmoid_loss_by_hand_and_against_binary_cross_entropy() -> None:
    image, text = torch.tensor([[3.0, 0.0], [0.6, 0.8]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    logits = torch.tensor([[1.0, 0.0], [0.6, 0.8]]) / 0.5 - 1
    by_hand = sum(
        torch.log1p((-sign * logit).exp()) for sign, logit in zip((1, -1, -1, 1), logits.flatten(), strict=True)
    )
    torch.testing.assert_close(sigmoid_loss(image, text, temperature=0.5, bias=-1.0), by_hand / 2)
    image, text = pairs(7, 5)
    logits = torch.cosine_similarity(image.unsqueeze(1), text, dim=-1) * 10 - 10
    expected = F.binary_cross_entropy_with_logits(logits, torch.eye(7), reduction="sum") / 7
    torch.testing.assert_close(sigmoid_loss(image, text), expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_batches_are_averaged_and_do_not_meet(loss) -> None:
    image, text = pairs(2, 3, 5, 7)
    apart = [loss(one, other) for one, other in zip(image.flatten(0, 1), text.flatten(0, 1), strict=True)]
    torch.testing.assert_close(loss(image, text), torch.stack(apart).mean())


@pytest.mark.parametrize("loss", LOSSES)
def test_a_small_temperature_stays_finite_and_gradients_reach_both_sides(loss) -> None:
    image, text = (side.requires_grad_() for side in pairs(5, 3))
    value = loss(image, text, temperature=1e-3)
    value.backward()
    assert value.isfinite()
    assert image.grad.abs().max() > 0
    assert text.grad.abs().max() > 0
