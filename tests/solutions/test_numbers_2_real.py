"""What lesson 2 says of real widths: tokens of a model that others trained, carried to words by the aligner of the course."""

from __future__ import annotations

import sys
from functools import cache
from unittest.mock import patch

import pytest
import torch
from attention.alignment import TokenAligner, alignment_loss
from attention.experiments.matching import draw_linear, matching_accuracy, word_vectors
from attention.real.real_eyes import EYES_WIDTH, NoRealEyes, load_real_eyes
from attention.real.real_photos import ASIDE, PHOTOS, in_box, pictures_aside, sample_pictures
from attention.real.real_tokens import pixels_of, real_tokens
from attention.vit import patch_embedding, vit_block
from torch import Tensor
from torch.nn import functional as F

from tests.published import EYES, needs
from tests.solutions.prose_2 import PROSE, says

ROWS = {"the model's 384 numbers": "model", "588 numbers for the pixels": "pixels"}
OTHER = {"temple": "flower", "flower": "temple"}


@cache
def tokens() -> dict[str, dict[str, Tensor]]:
    return {"model": real_tokens(), "pixels": {name: pixels_of(one) for name, one in sample_pictures().items()}}


@cache
def tokens_aside() -> dict[str, Tensor]:
    with patch("attention.real.real_tokens.sample_pictures", pictures_aside):
        return real_tokens()


def right(kind: str, asked_about: str, seed: int, aside: str = "") -> float:
    """The share of a photo's patches that an aligner tells, which learned from the other photo."""
    photos, learned_on = tokens()[kind], OTHER[asked_about]
    asked_about += aside
    photos = photos | tokens_aside() if aside else photos
    words, labels = (
        word_vectors(0, 4096)[:2],
        {name: in_box(name).flatten().long() for name in (learned_on, asked_about)},
    )
    aligner = TokenAligner(photos[learned_on].shape[-1], 4096)
    draw_linear(aligner, seed)
    optimizer = torch.optim.Adam(aligner.parameters(), lr=1e-3)
    for _ in range(30):
        optimizer.zero_grad()
        alignment_loss(aligner(photos[learned_on]), words, labels[learned_on]).backward()
        optimizer.step()
    return matching_accuracy(aligner(photos[asked_about]), words, labels[asked_about])


def ranges(row: str) -> dict[str, tuple[float, float]]:
    low, high, least, most = says(rf"\| {row} \| # to # \| # to # \|")
    return {"temple": (low, high), "flower": (least, most)}


@needs(EYES)
def test_the_tokens_are_those_of_the_last_layer_with_its_norm() -> None:
    """The published program ends where our own layers end: after the norm the two are the same."""
    eyes, picture = load_real_eyes(), sample_pictures()["flower"]
    found = tokens()["model"]["flower"]
    assert found.shape == (256, EYES_WIDTH)
    ours = patch_embedding(_normed(picture), eyes.weight, eyes.bias, eyes.cls, eyes.positions)
    for layer in eyes.layers:
        ours, _ = vit_block(layer, ours)
    ours = F.layer_norm(ours[1:], (EYES_WIDTH,))
    # The file's norm has weights and offsets of its own: two numbers for each of the 384 dimensions explain all 256 patches.
    for dimension in (0, 100, 383):
        line = torch.stack([ours[:, dimension], torch.ones(256)], dim=1).double()
        left = found[:, dimension].double() - line @ torch.linalg.lstsq(line, found[:, dimension].double()).solution
        assert left.abs().max() < 1e-3 * found[:, dimension].abs().max()


def _normed(picture: Tensor) -> Tensor:
    return F.fold(pixels_of(picture).T.unsqueeze(0), picture.shape[1:], 14, stride=14)[0]


@needs(EYES)
def test_the_place_alone_does_not_explain_what_the_aligner_finds() -> None:
    """The control: another cut of the photo, in which the object stands at the left edge."""
    boxes = {name: in_box(name) for name in (*PHOTOS, *(name + ASIDE for name in PHOTOS))}
    for tail, shares in (
        ("", says(r"\| the box of the other photo \| # \| # \|")),
        (ASIDE, says(r"at the left edge, the other box is right in # and #,")),
    ):
        assert shares == [round((boxes[name + tail] == boxes[OTHER[name]]).float().mean().item(), 2) for name in PHOTOS]
    assert right("model", "flower", seed=0, aside=ASIDE) > shares[1] + 0.2


@pytest.mark.slow(
    held_by="tests/solutions/test_numbers_2_real.py::test_the_place_alone_does_not_explain_what_the_aligner_finds"
)
@needs(EYES)
def test_the_aligner_over_five_seeds_where_objects_stand_aside() -> None:
    ends = says(r"and the same aligner in # to # and # to #\. What both have")
    for name, low, high in (("temple", *ends[:2]), ("flower", *ends[2:])):
        found = [right("model", name, seed, ASIDE) for seed in range(5)]
        assert low - 0.012 <= min(found) <= max(found) <= high + 0.012, found


def test_chance_is_to_say_background_always() -> None:
    assert says(r"\| always \"background\" \| # \| # \|") == [
        round(1 - in_box(name).float().mean().item(), 2) for name in PHOTOS
    ]


@needs(EYES)
@pytest.mark.parametrize("row", ROWS)
def test_the_aligner_at_the_notebook_s_own_seed(row: str) -> None:
    low, high = ranges(row)["temple"]
    assert low - 0.012 <= right(ROWS[row], "temple", seed=0) <= high + 0.012


@needs(EYES)
@pytest.mark.slow(held_by="tests/solutions/test_numbers_2_real.py::test_the_aligner_at_the_notebook_s_own_seed")
@pytest.mark.parametrize("row", ROWS)
def test_the_aligner_over_five_seeds(row: str) -> None:
    """A patch is 0.004 of a photo: three of them may tip over with other kernels."""
    for photo, ends in ranges(row).items():
        shares = [right(ROWS[row], photo, seed) for seed in range(5)]
        assert [min(shares), max(shares)] == pytest.approx(ends, abs=0.012)


@needs(EYES)
def test_without_the_programs_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(NoRealEyes, match=r"What runs the real weights is not installed: pip install onnx onnxruntime;"):
        real_tokens()
    assert "Without it the next cell says what to install" in PROSE
