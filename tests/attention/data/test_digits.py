"""The scenes: distinct digits, handwriting split before scenes are built, the same on every machine."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from attention.data.digits import BLANK, POSITIONS, digits, draw_scenes, to_images
from attention.data.digits import _handwriting as handwriting


def test_the_splits_share_no_image() -> None:
    train, test = digits("train"), digits("test")
    assert (len(train.patches), len(test.patches)) == (1347, 450)
    both = torch.cat([train.patches, test.patches])
    assert both.shape == (1797, 64)
    # A few handwritten digits may be pixel for pixel alike; across the splits there are none.
    assert not bool((torch.cdist(test.patches, train.patches).amin(1) == 0).any())
    assert both.mean().item() == pytest.approx(0, abs=0.05)
    assert both.std().item() == pytest.approx(1, abs=0.05)


def test_they_are_scikit_learns_digits_read_without_importing_it() -> None:
    from sklearn.datasets import load_digits  # here alone: it takes a second

    code = "import sys; from attention.data.digits import digits; digits('test'); sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    pixels, labels = load_digits(return_X_y=True)
    assert (handwriting() == np.column_stack([pixels, labels])).all()


def test_they_are_asked_for_where_their_file_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = handwriting()
    monkeypatch.setattr("attention.data.digits.find_spec", lambda name: None)
    asked = handwriting()
    assert asked.dtype != found.dtype  # it came another way
    assert (asked == found).all()


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ValueError, match="not 'all'"):
        digits("all")


def test_scenes_are_of_distinct_digits_of_their_split() -> None:
    scenes = draw_scenes(30, torch.Generator().manual_seed(1), "test")
    assert scenes.patches.shape == (30, 9, 64)
    for labels in scenes.labels.tolist():
        assert len(set(labels)) == 9
    of_split = digits("test")
    nearest = torch.cdist(scenes.patches.flatten(0, 1), of_split.patches).argmin(1)
    assert torch.equal(of_split.patches[nearest], scenes.patches.flatten(0, 1))
    assert torch.equal(of_split.labels[nearest], scenes.labels.flatten())


def test_the_same_generator_gives_the_same_scenes() -> None:
    one, two = (draw_scenes(5, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one.patches, two.patches)
    assert not torch.equal(one.patches, draw_scenes(5, torch.Generator().manual_seed(4)).patches)


def test_blank_patches_are_blank_and_as_many_as_asked_for() -> None:
    scenes = draw_scenes(200, torch.Generator().manual_seed(5), fewest=2, most=5)
    shown = (scenes.labels != BLANK).sum(1)
    assert set(shown.tolist()) == {2, 3, 4, 5}
    blank = scenes.patches[scenes.labels == BLANK]
    assert bool((blank == blank[0, 0]).all())


def test_every_digit_and_every_place_are_about_equally_likely() -> None:
    scenes = draw_scenes(2000, torch.Generator().manual_seed(6), fewest=1, most=1)
    places = (scenes.labels != BLANK).double().mean(0)
    torch.testing.assert_close(places, torch.full((9,), 1 / 9, dtype=torch.float64), atol=0.03, rtol=0)
    counts = torch.bincount(scenes.labels.flatten(), minlength=11)[:10] / 2000
    torch.testing.assert_close(counts, torch.full((10,), 0.1), atol=0.03, rtol=0)


def test_images_put_the_patches_row_by_row() -> None:
    patches = torch.arange(9 * 64.0).reshape(1, 9, 64)
    image = to_images(patches)[0]
    assert image.shape == (24, 24)
    for place, name in enumerate(POSITIONS):
        row, column = divmod(place, 3)
        square = image[8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
        assert torch.equal(square, patches[0, place].reshape(8, 8)), name
