"""Every number in lab 5's part on real eyes, computed again from the real weights and compared with what the script says.

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
from attention.explanation_maps import attention_rollout
from attention.real.real_changes import (
    contrast_first,
    last_cls,
    mean_colour,
    middle_first,
    order_by,
    pictures_of,
    squares_of,
    unlike_border_first,
)
from attention.real.real_eyes import (
    EYES_WIDTH,
    HEADS,
    INSTALL,
    LAYERS,
    SIDE,
    as_picture,
    find_file,
    load_real_eyes,
    look,
)
from attention.real.real_maps import STORED_LAYERS
from attention.real.real_measures import distance, evenness, resting, share_in
from attention.real.real_photos import ASIDE, PHOTOS, in_box, pictures_aside, sample_pictures
from attention.real.real_values import stored_values
from attention.vit import cls_map, patch_embedding, vit_block
from sklearn.datasets import load_sample_image
from torch import Tensor
from torch.nn import functional as F

from benchmarks.real_eyes import CURVES, NO_MODEL, one_head_less
from grader.course.lesson_5 import LESSON
from tests.published import EYES, needs
from tests.scripts import cells_of

CELLS = [*cells_of("5-real"), *cells_of("6-explain")]  # lab 6 puts these maps to the test
PROSE = " ".join(" ".join(cell.source.split()) for cell in CELLS if cell.cell_type == "markdown")
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "real_eyes.txt"
AREAS = json.loads(RESULTS.read_text("utf-8").splitlines()[-1])["figures"]
STORED = stored_values()  # temple and flower, then both once more, aside
NUMBER = r"(-?\d+(?:\.\d+)?)"


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
def seen(aside: bool = False) -> dict[str, Tensor]:
    """All maps (12, 6, 257, 257) of both photos, or of their second cut."""
    eyes, pictures = load_real_eyes(), pictures_aside() if aside else sample_pictures()
    return {name: look(eyes, one, patch_embedding, vit_block) for name, one in pictures.items()}


def each(measure) -> list[float]:
    """What a measure says of both photos, the temple first."""
    return [float(measure(maps)) for maps in seen().values()]


def shares(maps: Tensor, name: str) -> Tensor:
    return share_in(cls_map(maps, SIDE, SIDE), in_box(name))


def solution(exercise: str):
    names: dict = {"torch": torch, "F": torch.nn.functional, "Tensor": Tensor, "nn": torch.nn}
    exec(next(cell.source for cell in CELLS if cell.metadata.get("exercise") == exercise), names)
    return names[LESSON.exercise(exercise).defines[0]]


@needs(EYES)
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
    for function in (patch_embedding, solution("5.1")):
        agree(says("The tokens are #, # and #."), function(pixels, weight, bias, cls, learned)[:, 0].tolist())
    row = [float(number) for number in says("the row of [CLS] is #, #, #. Half rests")]
    made = solution("5.4")(torch.tensor([row, row, row]), 1, 2)
    agree(says("and the map is [[#, #]]"), made[0].tolist())


@needs(EYES)
def test_the_stored_values_are_what_comes_out_today() -> None:
    assert list(STORED) == [*PHOTOS, *(name + ASIDE for name in PHOTOS)]
    for name, maps in (seen() | seen(aside=True)).items():
        now = {"share": shares(maps, name), "resting": resting(maps)}
        now |= {"evenness": evenness(maps).mean(1), "distance": distance(maps, SIDE).mean(1)}
        for measure, values in now.items():
            torch.testing.assert_close(STORED[name][measure], values, atol=5e-4, rtol=0)


def test_the_table_of_two_photos_and_two_cuts() -> None:
    on = [0, 1, 2, 5]
    rows = {
        "| [CLS] gives itself, layers 0 to 5 | 0.004 |": lambda one: one["resting"][:6].mean(),
        "| the same, layers 6 to 11 | 0.004 |": lambda one: one["resting"][6:].mean(),
        "| heads that give it more than half, of the first 36 | 0 |": lambda one: (one["resting"][:6] > 0.5).sum(),
        "| the same, of the last 36 | 0 |": lambda one: (one["resting"][6:] > 0.5).sum(),
        "| evenness in layer 0 | 1 |": lambda one: one["evenness"][0],
        "| evenness in layer 11 | 1 |": lambda one: one["evenness"][11],
        "| distance in layer 0, in patches | 8.3 |": lambda one: one["distance"][0],
        "| distance in layer 3 | 8.3 |": lambda one: one["distance"][3],
        "| distance in layer 11 | 8.3 |": lambda one: one["distance"][11],
        "| in the box, layers 0 to 5 | |": lambda one: one["share"][:6].mean(),
        "| in the box, layers 6 to 11 | |": lambda one: one["share"][6:].mean(),
        "| heads 0, 1, 2 and 5 of layer 11, the least | |": lambda one: one["share"][11, on].min(),
        "| head 4 of layer 11 | |": lambda one: one["share"][11, 4],
        "| head 3 of layer 11: the background | |": lambda one: one["share"][11, 3],
    }
    for row, measure in rows.items():
        agree(says(f"{row} # | # | # | # |"), [float(measure(one)) for one in STORED.values()])
    assert min((one["resting"] - 0.5).abs().min().item() for one in STORED.values()) > 1e-3, "a count hangs on rounding"
    boxes = says("| **the box has, of the patches** | | # | # | # | # |")
    agree(boxes, [in_box(name).float().mean().item() for name in STORED])
    agree(
        says("of the patches: # for the temple and # for the flower. That is chance."),
        [float(one) for one in boxes[:2]],
    )
    agree(["0.004", "8.3"], [1 / 257, distance(torch.full((257, 257), 1 / 257), SIDE).item()])


def test_what_is_said_of_depth() -> None:
    for name in PHOTOS:
        far, even = STORED[name]["distance"], STORED[name]["evenness"]
        assert far[:10].argmax() == 0  # "layer 0 looks farther than layers 1 to 9"
        assert far[1:6].max() < far[6:].min() + 0.5  # "near in layers 1 to 5, then farther again"
        assert even[:6].max() < even[6:].max() == even[11]
    both = torch.stack([STORED[name]["resting"].flatten() for name in PHOTOS])
    agree(says("over the 72 heads, the two photos have a correlation of #."), [torch.corrcoef(both)[0, 1].item()])


def test_heads_on_object_and_background() -> None:
    for name, one in STORED.items():
        chance = in_box(name).float().mean()
        assert (one["share"][6:] > chance).sum() >= 30  # "late layers are mostly red"
        assert (one["share"][11] > chance).tolist() == [True, True, True, False, True, True]


@needs(EYES)
def test_the_maps_go_along_with_the_objects() -> None:
    """The control: a map that always lies in the middle would be as good in the first cut, and not in the second."""
    last = {name: cls_map(maps[11], SIDE, SIDE) for name, maps in (seen() | seen(aside=True)).items()}
    head = {name: maps[2] for name, maps in last.items()}
    others, own = says("into the *temple's* box: # of it lies there, and of the temple's own map #.")
    agree([others, own], [share_in(head[name], in_box("temple")).item() for name in ("flower", "temple")])
    moved = [share_in(head[name + ASIDE], in_box(name + ASIDE)).item() for name in PHOTOS]
    before = [share_in(head[name], in_box(name + ASIDE)).item() for name in PHOTOS]
    agree(
        says("Head 2 has # and # in the moved boxes; its maps of the first cut have # and # there."), [*moved, *before]
    )


@needs(EYES)
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


@needs(EYES)
def test_what_the_captions_say() -> None:
    """Layers 1 to 5 are mostly dark: what is left for the patches is less than half of the weight, in the mean."""
    for maps in seen().values():
        lit = 1 - resting(maps).mean(1)
        assert lit[1:6].max() < 0.55
        assert lit[8:].min() > 0.7


def test_the_areas_under_deletion() -> None:
    for name, one in AREAS.items():
        for order in ("mean of the last layer", "rollout", *NO_MODEL):
            assert area_under(STORED[name][order]).item() == pytest.approx(one[order], abs=1e-4)
        drawn = area_under(STORED[name]["random orders"]).tolist()
        assert drawn == pytest.approx(one["random orders"], abs=3e-3)  # two digits, to be drawn
    for order in CURVES[:-1]:
        agree(says(f"| {order} | # | # | # | # |"), [one[order] for one in AREAS.values()])
    bounds = says("| random orders | # to # | # to # | # to # | # to # |")
    agree(bounds, [bound(one["random orders"]) for one in AREAS.values() for bound in (min, max)])
    better = [sum(area > one["mean of the last layer"] for area in one["random orders"]) for one in AREAS.values()]
    orders, *written = says("Of the # random orders the mean of the last layer is better than #, #, # and #.")
    agree([orders, *written], [len(STORED["temple"]["random orders"]), *better])
    for name, one in AREAS.items():
        better_than_the_middle = one["mean of the last layer"] < one["middle first"] - 0.005
        assert better_than_the_middle == name.endswith(ASIDE)
        assert name.endswith(ASIDE) or one["middle first"] < one["rollout"]


def test_each_order_without_a_model_is_above_both_maps_for_a_while() -> None:
    """In the last panel: the longest run of squares for which a dashed line is above both maps."""
    aside = STORED[list(AREAS)[-1]]
    maps = torch.maximum(aside["mean of the last layer"], aside["rollout"])
    runs = [max(map(len, "".join(" x"[one] for one in aside[order] > maps).split())) for order in NO_MODEL]
    assert min(runs) == 7, runs
    assert "in the last one each of the three is above both maps for seven squares or more" in PROSE


def test_one_picture_of_four_shows_more_than_pixels_and_places_do() -> None:
    """The rivals that need no model: the best of the three beats the map on all pictures but the flower aside."""
    assert "So of four pictures one shows that the map knows more than pixels and places do" in PROSE
    best = {name: min(one[order] for order in NO_MODEL) for name, one in AREAS.items()}
    beaten = [name for name, one in AREAS.items() if max(one["mean of the last layer"], one["rollout"]) < best[name]]
    assert beaten == ["flower" + ASIDE]
    assert "On the temple, contrast is better than the map in both cuts" in PROSE
    for name in ("temple", "temple" + ASIDE):
        assert AREAS[name]["contrast first"] < AREAS[name]["mean of the last layer"] - 0.005


@needs(EYES)
@pytest.mark.slow(held_by="tests/solutions/test_numbers_5_real.py::test_the_areas_under_deletion")
def test_contrast_beats_the_map_on_two_cuts_of_the_temple_and_not_on_those_between() -> None:
    """The area under deletion one, two and three patches further right: 0.718, 0.629, 0.670 by the map, 0.729, 0.749, 0.708."""
    written = says("cut the temple one, two or three patches further right, and the map beats contrast, by #, # and #.")
    eyes, photo = load_real_eyes(), load_sample_image(PHOTOS["temple"][0])
    ahead = []
    for patches in (1, 2, 3):
        picture = as_picture(photo, patches / 8)
        whole = last_cls(eyes, picture[None], patch_embedding, vit_block)

        def alike(squares: Tensor, whole: Tensor = whole) -> Tensor:
            return F.cosine_similarity(last_cls(eyes, pictures_of(squares), patch_embedding, vit_block), whole)

        bright = order_by(cls_map(look(eyes, picture, patch_embedding, vit_block)[-1], SIDE, SIDE).mean(0))
        areas = [
            area_under(deletion_curve(alike, squares_of(picture[None]), order, mean_colour(picture))).item()
            for order in (bright, contrast_first(picture))
        ]
        ahead.append(areas[1] - areas[0])
    assert [float(one) for one in written] == pytest.approx(ahead, abs=6e-3)


def test_one_head_less() -> None:
    left = [STORED[name]["removed"] for name in PHOTOS]
    temple, heads, flower, limit = says(
        "For # of the # heads on the temple, and # on the flower, [CLS] stays alike to # or more."
    )
    assert int(heads) == LAYERS * HEADS
    agree([temple, flower], [(one >= float(limit)).sum().item() for one in left])
    written = says("head # of layer # on the temple (#) and head # of layer # on the flower (#)")
    lowest = [divmod(one.argmin().item(), HEADS) for one in left]
    places = [place for layer, head in lowest for place in (head, layer)]
    assert [int(written[index]) for index in (0, 1, 3, 4)] == places
    agree([written[2], written[5]], [one.min().item() for one in left])
    for one in left:
        assert one[:6].min() > 0.98  # "the early layers are dark"
        assert one[8:].min() < 0.92  # "some heads of the last four are bright"


def ranks(values: Tensor) -> Tensor:
    return values.argsort().argsort().float()


def alike_in_rank(one: Tensor, other: Tensor) -> float:
    return torch.corrcoef(torch.stack([ranks(one.flatten()), ranks(other.flatten())]))[0, 1].item()


def test_resting_heads_matter_less_only_because_they_are_early() -> None:
    pairs = [(STORED[name]["resting"], 1 - STORED[name]["removed"]) for name in PHOTOS]
    agree(says("(rank correlation # and #)"), [alike_in_rank(*pair) for pair in pairs])
    late = [[alike_in_rank(*layer) for layer in zip(*(one[6:] for one in pair), strict=True)] for pair in pairs]
    agree(says("it is positive in # and # of the last six layers"), [sum(one > 0 for one in layers) for layers in late])


@needs(EYES)
@pytest.mark.slow(held_by="tests/solutions/test_numbers_5_real.py::test_the_areas_under_deletion")
def test_the_benchmark_is_what_comes_out_today() -> None:
    """Of the recorded numbers one of each kind."""
    eyes, picture = load_real_eyes(), sample_pictures()["flower"].unsqueeze(0)
    whole = last_cls(eyes, picture, patch_embedding, vit_block)
    with one_head_less(eyes, 9, 3):
        less = last_cls(eyes, picture, patch_embedding, vit_block)
    cosine = torch.nn.functional.cosine_similarity
    assert cosine(less, whole).item() == pytest.approx(STORED["flower"]["removed"][9, 3].item(), abs=2e-3)
    assert torch.equal(last_cls(eyes, picture, patch_embedding, vit_block), whole)  # the head is back

    def alike(squares: Tensor) -> Tensor:
        return cosine(last_cls(eyes, pictures_of(squares), patch_embedding, vit_block), whole)

    curve = deletion_curve(alike, squares_of(picture), middle_first(), mean_colour(picture[0]))
    torch.testing.assert_close(curve[0], STORED["flower"]["middle first"], atol=2e-3, rtol=0)
    for order in (contrast_first, unlike_border_first):
        curve = deletion_curve(alike, squares_of(picture), order(picture[0]), mean_colour(picture[0]))
        name = order.__name__.replace("_", " ").replace("unlike", "unlike the")
        torch.testing.assert_close(curve[0], STORED["flower"][name], atol=2e-3, rtol=0)


def test_squares_and_their_orders() -> None:
    pictures = torch.rand(2, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    assert torch.equal(pictures_of(squares_of(pictures)), pictures)
    assert squares_of(pictures)[1, 5].reshape(3, 56, 56).equal(pictures[1, :, 56:112, 56:112])
    assert set(middle_first()[0, :4].tolist()) == {5, 6, 9, 10}
    assert set(middle_first()[0, -4:].tolist()) == {0, 3, 12, 15}
    picture = torch.full((3, 224, 224), 0.5)
    picture[:, 56:112, 112:168] = 0.7  # square 6 has another colour
    picture[:, 168:, 168::2] = 0.9  # square 15 has stripes
    assert contrast_first(picture)[0, 0] == 15
    assert unlike_border_first(picture)[0, :2].tolist() == [6, 15]
    bright = torch.zeros(16, 16)
    bright[9, 2] = 1
    assert order_by(bright)[0, 0] == 8
    assert mean_colour(pictures[0]).reshape(3, 56, 56)[1, 7, 7] == pytest.approx(pictures[0, 1].mean().item())
