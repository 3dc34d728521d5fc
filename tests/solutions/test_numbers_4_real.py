"""Every number in the lab's part on real eyes, computed again from the real weights and compared with what the script says.

A number may be off by half a unit of its last digit, and by what processors round: the maps of two kernels differ by less than
0.0001.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest
import torch
from attention.deletion import area_under, deletion_curve
from attention.explanations import attention_rollout
from attention.real_changes import last_cls, mean_colour, middle_first, order_by, pictures_of, squares_of
from attention.real_eyes import EYES_WIDTH, HEADS, INSTALL, LAYERS, SIDE, find_file, load_real_eyes, look
from attention.real_maps import STORED_LAYERS
from attention.real_measures import distance, evenness, resting, share_in
from attention.real_photos import PHOTOS, in_box, sample_pictures
from attention.vit import cls_map, patch_embedding, vit_block
from torch import Tensor

from benchmarks.real_eyes import one_head_less
from grader.course.lesson_4 import LESSON
from tests.scripts import cells_of

CELLS = cells_of("4-lab")
PROSE = " ".join(" ".join(cell.source.split()) for cell in CELLS if cell.cell_type == "markdown")
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "real_eyes.txt"
CHANGED = list(json.loads(RESULTS.read_text("utf-8").splitlines()[-1])["figures"].values())  # temple, flower
NUMBER = r"(\d+(?:\.\d+)?)"


def says(text: str) -> list[str]:
    """The numbers, as they are written, in the one place of the prose that says `text`; `#` stands for a number."""
    found = re.findall(re.escape(text).replace(r"\#", NUMBER), PROSE)
    assert len(found) == 1, f"{len(found)} places say {text!r}"
    return list(found[0]) if isinstance(found[0], tuple) else [found[0]]


def agree(written: list[str], measured: list[float]) -> None:
    """Compare each number with what is measured, to half a unit of its last digit and 0.0002 for rounding."""
    for text, value in zip(written, measured, strict=True):
        digits = len(text.partition(".")[2])
        assert abs(float(text) - value) <= 0.5 * 10**-digits + (2e-4 if digits else 0), (text, value)


@cache
def seen() -> dict[str, Tensor]:
    """All maps (12, 6, 257, 257) of both photos."""
    eyes = load_real_eyes()
    return {name: look(eyes, one, patch_embedding, vit_block) for name, one in sample_pictures().items()}


def each(measure) -> list[float]:
    """What a measure says of both photos, the temple first."""
    return [float(measure(maps)) for maps in seen().values()]


def shares(maps: Tensor, name: str) -> Tensor:
    return share_in(cls_map(maps, SIDE, SIDE), in_box(name))


def solution(exercise: str):
    names: dict = {"torch": torch, "F": torch.nn.functional, "Tensor": Tensor, "nn": torch.nn}
    exec(next(cell.source for cell in CELLS if cell.metadata.get("exercise") == exercise), names)
    return names[LESSON.exercise(exercise).defines[0]]


def test_the_sizes() -> None:
    assert says("with # layers, # heads in each, and # numbers for each token") == [
        str(n) for n in (LAYERS, HEADS, EYES_WIDTH)
    ]
    agree(says("**The weights** are # MB"), [find_file().stat().st_size / 1e6])
    assert says("A photo's patch of # × # pixels in three colours has #") == ["14", "14", str(14 * 14 * 3)]
    eyes = load_real_eyes()
    assert len(eyes.positions) == 1 + int(says("learned them for # × 37 patches")[0]) ** 2
    assert says("of its layers # and # they are stored") == [str(layer) for layer in STORED_LAYERS]
    assert f"{INSTALL}" in PROSE


def test_the_examples_by_hand() -> None:
    pixels = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).T.reshape(3, 1, 2)
    learned = torch.tensor([[0.5], [1.0]])
    weight, bias, cls = torch.ones(1, 3, 1, 1), torch.tensor([10.0]), torch.tensor([100.0])
    for function in (patch_embedding, solution("4.18")):
        agree(says("The tokens are #, # and #."), function(pixels, weight, bias, cls, learned)[:, 0].tolist())
    row = [float(number) for number in says("the row of [CLS] is #, #, #. Half rests")]
    made = solution("4.21")(torch.tensor([row, row, row]), 1, 2)
    agree(says("and the map is [[#, #]]"), made[0].tolist())


def test_what_rests_on_cls() -> None:
    early, late = each(lambda maps: resting(maps)[:6].mean()), each(lambda maps: resting(maps)[6:].mean())
    both, *written = says("it gives itself # of its weight on both photos, in the last six # and #.")
    agree([both, both, *written], [*early, *late])
    counts = [each(lambda maps, part=part: (resting(maps)[part] > 0.5).sum()) for part in (slice(6), slice(6, 12))]
    agree(says("# and # give it more than half; of the last 36, # and #."), [*counts[0], *counts[1]])
    near = min((resting(maps) - 0.5).abs().min().item() for maps in seen().values())
    assert near > 1e-3, "a count hangs on rounding"
    agree(says("By chance it is #."), [1 / 257])


def test_evenness_and_distance() -> None:
    even = [each(lambda maps, layer=layer: evenness(maps[layer]).mean()) for layer in (0, 11)]
    first, *last = says("rises from # in layer 0 to # and # in layer 11")
    agree([first, first, *last], [*even[0], *even[1]])
    far = {name: distance(maps, SIDE).mean(1) for name, maps in seen().items()}
    *ends, chance = says("from # and # patches to # and #; even weights have #.")
    agree(ends, [one[layer].item() for layer in (3, 11) for one in far.values()])
    agree([chance], [distance(torch.full((257, 257), 1 / 257), SIDE).item()])
    agree(says("farther than layers 1 to 9, # and # patches"), [one[0].item() for one in far.values()])
    for one in far.values():
        assert one[:10].argmax() == 0
        assert one[1:6].max() < one[6:].min() + 0.5  # "near in layers 1 to 5, then farther again"


def test_heads_on_object_and_background() -> None:
    chance = {name: in_box(name).float().mean().item() for name in PHOTOS}
    agree(says("Chance is # for the temple and # for the flower."), list(chance.values()))
    temple, flower = (shares(maps[11], name) for name, maps in seen().items())
    on = [0, 1, 2, 5]
    *ranges, four, same = says(
        "heads 0, 1, 2 and 5 have # to # of their map on the temple and # to # on the flower; head 4 has # and #."
    )
    agree(ranges, [bound(one[on]).item() for one in (temple, flower) for bound in (torch.min, torch.max)])
    agree([four, same], [temple[4].item(), flower[4].item()])
    background = says("Head 3 looks at the background**: # and #, about half of chance or less")
    agree(background, [temple[3].item(), flower[3].item()])
    assert all(one[3] < 0.55 * share for one, share in zip((temple, flower), chance.values(), strict=True))


def test_rollout_over_twelve_layers() -> None:
    followed, plain, best = [], [], []
    for name, maps in seen().items():
        rows = attention_rollout(list(maps), torch.eye(257).unsqueeze(0))
        assert rows.sum(-1) == pytest.approx(torch.ones(257).numpy(), abs=1e-4)
        followed.append(shares(rows, name).item())
        plain.append(shares(maps[11].mean(0), name).item())
        best.append(shares(maps[11, 2], name).item())
    agree(
        says("# of its map on the temple and # on the flower; the plain mean over the heads of the last layer # and #, its head 2 alone # and #."),
        [*followed, *plain, *best],
    )  # fmt: skip


def test_what_the_captions_say() -> None:
    """Layers 1 to 5 are mostly dark: what is left for the patches is less than half of the weight, in the mean."""
    for maps in seen().values():
        lit = 1 - resting(maps).mean(1)
        assert lit[1:6].max() < 0.55
        assert lit[8:].min() > 0.7


def test_the_areas_under_deletion() -> None:
    areas = [one["areas"] for one in CHANGED]
    for row, name in (
        ("mean of the last layer", "mean of the last layer"), ("its head 2", "head 2"),
        ("its head 3, of the background", "head 3"), ("rollout", "rollout"), ("middle first", "middle first"),
    ):  # fmt: skip
        agree(says(f"| {row} | # | # |"), [one[name] for one in areas])
    bounds = says("| random orders | # to # | # to # |")
    agree(bounds, [bound(one["random"]) for one in areas for bound in (min, max)])
    better = [sum(one["mean of the last layer"] < area for area in one["random"]) for one in areas]
    agree(says("better than # and # of the # random orders"), [*better, len(areas[0]["random"])])
    for one in areas:
        assert one["middle first"] < min(one["mean of the last layer"], one["rollout"])


def test_one_head_less() -> None:
    left = [torch.tensor(one["removed"]) for one in CHANGED]
    heads, temple, flower, limit = says(
        "one of the # heads hand on nothing. For # of them on the temple, and # on the flower, [CLS] stays alike to # or more"
    )
    assert int(heads) == LAYERS * HEADS
    agree([temple, flower], [(one >= float(limit)).sum().item() for one in left])
    written = says("head # of layer # on the temple (#) and head # of layer # on the flower (#)")
    lowest = [divmod(one.argmin().item(), HEADS) for one in left]
    places = [place for layer, head in lowest for place in (head, layer)]
    assert [int(written[index]) for index in (0, 1, 3, 4)] == places
    agree([written[2], written[5]], [one.min().item() for one in left])


@pytest.mark.slow(held_by="tests/solutions/test_numbers_4_real.py::test_the_areas_under_deletion")
def test_the_benchmark_is_what_comes_out_today() -> None:
    """Of the recorded numbers one of each kind."""
    eyes, picture = load_real_eyes(), sample_pictures()["flower"].unsqueeze(0)
    whole = last_cls(eyes, picture, patch_embedding, vit_block)
    with one_head_less(eyes, 9, 3):
        less = last_cls(eyes, picture, patch_embedding, vit_block)
    cosine = torch.nn.functional.cosine_similarity
    assert cosine(less, whole).item() == pytest.approx(CHANGED[1]["removed"][9][3], abs=2e-3)
    assert torch.equal(last_cls(eyes, picture, patch_embedding, vit_block), whole)  # the head is back

    def alike(squares: Tensor) -> Tensor:
        return cosine(last_cls(eyes, pictures_of(squares), patch_embedding, vit_block), whole)

    curve = deletion_curve(alike, squares_of(picture), middle_first(), mean_colour(picture[0]))
    assert area_under(curve).item() == pytest.approx(CHANGED[1]["areas"]["middle first"], abs=2e-3)


def test_squares_and_their_orders() -> None:
    pictures = torch.rand(2, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    assert torch.equal(pictures_of(squares_of(pictures)), pictures)
    assert squares_of(pictures)[1, 5].reshape(3, 56, 56).equal(pictures[1, :, 56:112, 56:112])
    assert set(middle_first()[0, :4].tolist()) == {5, 6, 9, 10}
    assert set(middle_first()[0, -4:].tolist()) == {0, 3, 12, 15}
    bright = torch.zeros(16, 16)
    bright[9, 2] = 1
    assert order_by(bright)[0, 0] == 8
    assert mean_colour(pictures[0]).reshape(3, 56, 56)[1, 7, 7] == pytest.approx(pictures[0, 1].mean().item())
