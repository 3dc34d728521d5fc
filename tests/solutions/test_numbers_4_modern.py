"""Every number in the lab on modern attention, computed again and compared with what the script says."""

from __future__ import annotations

import json
import re
from math import exp
from pathlib import Path

import pytest
import torch
from attention.experiments.recipe import MODEL
from attention.measures.scaling import Cost, cost_of, dense_attention, slope
from attention.rotary import rotate, rotate_2d
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.scaling import ATTENTIONS, LENGTHS, WINDOW
from grader.course.lesson_4 import LESSON
from tests.reader import seen
from tests.scripts import cells_of

ROOT = Path(__file__).parents[2]
CELLS = cells_of("4-modern")
PROSE = " ".join(" ".join(cell.source.split()) for cell in CELLS if cell.cell_type == "markdown")
RESULTS = (ROOT / "benchmarks" / "results" / "modern.txt").read_text("utf-8").splitlines()
MEASURED = json.loads(RESULTS[-1])["figures"]


def says(pattern: str) -> list[float]:
    """The numbers in the one place of the prose that a pattern finds; `#` stands for a number."""
    found = re.findall(re.escape(pattern).replace(r"\#", r"([−-]?\d[\d,]*(?:\.\d+)?)"), PROSE)
    assert len(found) == 1, f"{len(found)} places say {pattern!r}"
    groups = found[0] if isinstance(found[0], tuple) else (found[0],)
    return [float(group.replace(",", "").replace("−", "-")) for group in groups]


def solution(exercise: str):
    """The function that the lab's own solution defines, with those of the exercises that it builds on."""
    names: dict = {"torch": torch, "F": F, "Tensor": torch.Tensor, "nn": torch.nn, "rotate": rotate}
    exec(next(cell.source for cell in CELLS if cell.metadata.get("exercise") == exercise), names)
    return names[LESSON.exercise(exercise).defines[0]]


# ---------------------------------------------------------------- what attention costs


@pytest.fixture(scope="module")
def costs() -> dict[str, dict[int, Cost]]:
    own = {
        **ATTENTIONS,
        "window": lambda query, key, value: solution("4.1")(query, key, value, WINDOW),
        "linear": solution("4.2"),
    }
    torch.set_num_threads(1)
    return {name: {n: cost_of(attend, n) for n in LENGTHS} for name, attend in own.items()}


def test_what_attention_costs():
    patches, weights, side, _, patch, _, tokens, many = says(
        "The # patches of a scene need #. An image of #×# pixels in patches of #×# has # tokens, and one head of one layer then has # weights"
    )
    assert weights == patches**2
    assert tokens == (side / patch) ** 2
    assert many == tokens**2
    words, billions, gigabytes = says("A text of # words has # billion weights, # GB")
    assert (billions, gigabytes) == (words**2 / 1e9, 4 * words**2 / 1e9)
    images, each, film, size = says("A film of # images with # patches each has # billion, # GB")
    assert (film, size) == (round((images * each) ** 2 / 1e9), round(4 * (images * each) ** 2 / 1e9))


def test_slopes_of_the_memory(costs):
    two, one = says("Memory: dense rises with a slope of #, the others with # or less")
    memory = {name: slope({n: cost.megabytes for n, cost in by_length.items()}) for name, by_length in costs.items()}
    assert memory["dense"] == pytest.approx(two, abs=0.05)
    assert all(memory[name] < one + 0.05 for name in ("window", "linear", "fused"))


def test_slopes_of_the_time():
    """Fused attention computes every pair as dense attention does; the others do not. From a committed run."""
    two, one = says(
        "dense and fused rise with a slope of # or somewhat more, the window and linear attention with about #"
    )
    lines = (ROOT / "benchmarks" / "results" / "scaling.txt").read_text("utf-8").splitlines()
    slopes = json.loads(lines[-1])["figures"]
    assert all(two - 0.3 < slopes[name]["seconds"] < two + 1.0 for name in ("dense", "fused")), slopes
    assert all(one - 0.4 < slopes[name]["seconds"] < one + 0.4 for name in ("window", "linear")), slopes


@pytest.mark.parametrize(("name", "power"), [("dense", 2), ("window", 1), ("linear", 1)])
def test_the_arithmetic_grows_as_the_time_does(name, power):
    query, key, value = torch.randn(3, 1, 512, 16)
    counts = []
    for n in (256, 512):
        with FlopCounterMode(display=False) as counter:
            ATTENTIONS[name](query[:, :n], key[:, :n], value[:, :n])
        counts.append(counter.get_total_flops())
    assert counts[1] / counts[0] == pytest.approx(2**power, rel=0.01)


# ---------------------------------------------------------------- positions that turn


def test_the_examples_by_hand():
    example = torch.tensor([[1.0, 0.0, 0.0, 2.0]])
    written = says("`[1, 0, 0, 2]` at place 3: `[#, #, #, #]`")
    assert written == pytest.approx(solution("4.5")(example, torch.tensor([3]))[0].tolist(), abs=5e-4)
    written = says("`[1, 0, 0, 2]` in row 3 and column 1: `[#, #, #, #]`")
    place = torch.tensor([3]), torch.tensor([1])
    assert written == pytest.approx(solution("4.6")(example, *place)[0].tolist(), abs=5e-4)
    assert says("The speeds are # and #, so the first pair turns by # and the second by #") == [1, 0.01, 3, 0.03]


def test_one_speed_confuses_places_that_are_far_apart():
    """At speed 1 no angle comes back exactly; what fails is the difference between the nearest ones."""
    places, apart = says(
        "At speed 1 no angle ever comes back exactly, but after # places it is only # from where it was"
    )
    distance = torch.arange(1, 20_001, dtype=torch.float64)
    rest = ((distance + torch.pi) % (2 * torch.pi) - torch.pi).abs()
    assert rest.min() > 0
    assert rest[int(places) - 1].item() == pytest.approx(apart, abs=5e-4)
    assert rest[: int(places) - 1].min() > rest[int(places) - 1]  # nothing nearer comes as near


def test_the_model_of_lesson_3_has_nine_places():
    assert "A model that has learned nine of them has none for a tenth word." in PROSE
    assert MODEL["max_tokens"] == 9


def test_neighbours_on_the_grid():
    both, itself, right, below = says(
        "the one to the right: **#** for both, where the patch itself has #. Numbered row by row they have # and #."
    )
    side, middle = 15, 112
    place = torch.arange(side * side)
    alike = torch.ones(side * side, 64)
    grid = rotate_2d(alike, place // side, place % side)
    line = rotate(alike, place)
    scores = {name: (put @ put[middle] / 8).tolist() for name, put in (("grid", grid), ("line", line))}
    found = [scores["grid"][at] for at in (middle + 1, middle + side, middle)]
    assert found == pytest.approx([both, both, itself], abs=5e-3)
    assert [scores["line"][at] for at in (middle + 1, middle + side)] == pytest.approx([right, below], abs=5e-3)
    assert "then the two are alike on average only" in PROSE
    other = torch.randn(500, 64, generator=torch.Generator().manual_seed(0))
    three = torch.stack([other, other, other], 1)  # itself, to the right, below
    put = rotate_2d(three, torch.tensor([0, 0, 1]), torch.tensor([0, 1, 0]))
    apart = (put[:, :1] @ put[:, 1:].mT / 8).squeeze(1).diff(dim=-1)
    assert apart.abs().mean() > 0.05
    assert apart.mean().abs() < 0.02


def test_the_grid_is_a_cross():
    """The caption: along a diagonal the scores fall faster than along row and column."""
    assert "darker along the diagonals" in PROSE
    place = torch.arange(225)
    put = rotate_2d(torch.ones(225, 64), place // 15, place % 15)
    grid = (put @ put[112]).unflatten(0, (15, 15))
    assert torch.allclose(grid, grid.T, atol=1e-3)
    assert (grid[7, 8:] > grid.diagonal()[8:]).all()


# ---------------------------------------------------------------- fewer keys


def test_what_a_cache_holds():
    layers, heads, width, words, large, again, groups, of_heads, small = says(
        "LLaMA 2 with 70 billion weights has # layers and # heads of width #. With keys and values for every head, in "
        "16 bits, a text of # words needs # GB beside the weights, and another text another #."
    ) + says("This model has # groups of # heads, and needs # GB")
    numbers = 2 * layers * width * words
    assert heads == groups * of_heads
    assert [large, again, small] == pytest.approx(
        [2 * numbers * heads / 1e9, 2 * numbers * heads / 1e9, 2 * numbers * groups / 1e9], abs=0.05
    )


def test_what_sharing_costs():
    plain = next(json.loads(line) for line in RESULTS if line.startswith('{"kernels": "default"'))
    both = MEASURED["words_right"], plain["words_right"]
    rows = {groups: says(f"| {groups} | # to # | # to # |") for groups in (4, 2, 1)}
    for groups, row in rows.items():
        for place, name in enumerate(("right, shared", "trained on")):
            ends = [end for kernels in both for end in kernels[f"{groups} groups"][name]]
            shown = ("#", r"\d\.\d+") if place == 0 else (r"\d\.\d+", "#")
            ends += seen(
                "4-modern", "share-keys", rf"^groups: {groups}, {shown[0]} of the words right, trained on {shown[1]};"
            )
            assert row[2 * place : 2 * place + 2] == pytest.approx([min(ends), max(ends)], abs=6e-4)


# ---------------------------------------------------------------- tiles


def test_the_worked_example():
    first, scaled, second = (
        says("| the first tile | # | # | # |"),
        says("| scaled by exp(2 − 3) = # | # | # | # |"),
        says("| the second tile | # | # | # |"),
    )
    total, summed, shrink = exp(-2) + 1, exp(-2) + 2, exp(-1)
    assert first == pytest.approx([2, total, summed], abs=5e-4)
    assert scaled == pytest.approx([shrink, 3, total * shrink, summed * shrink], abs=5e-4)
    assert second == pytest.approx([3, total * shrink + 1, summed * shrink + 4], abs=5e-4)
    above, below, output, *weights = says("The output is # / # = #, the same as with softmax([0, 2, 3]) = [#, #, #]")
    right = torch.tensor([0.0, 2.0, 3.0]).softmax(0)
    assert [above, below] == second[2:0:-1]
    assert output == pytest.approx((right @ torch.tensor([1.0, 2.0, 4.0])).item(), abs=5e-4)
    assert weights == pytest.approx(right.tolist(), abs=6e-4)


def test_memory_of_the_tiles():
    dense, tiled = says("dense attention rises with a slope of #, that of tiled attention with #")
    (ratio,) = says("At n = 4,096 dense attention needs # times the memory of tiled attention")
    costs = {
        name: {n: cost_of(attend, n).megabytes for n in (1024, 4096)}
        for name, attend in (("dense", dense_attention), ("tiled", lambda *tensors: solution("4.4")(*tensors, tile=64)))
    }
    assert slope(costs["dense"]) == pytest.approx(dense, abs=0.05)
    assert slope(costs["tiled"]) == pytest.approx(tiled, abs=0.05)
    assert costs["dense"][4096] / costs["tiled"][4096] == pytest.approx(ratio, abs=0.5)


def test_time_of_the_tiles():
    """From a committed run: a ratio within one run."""
    assert says("took # to # times as long as dense attention") == pytest.approx(
        MEASURED["tiled_over_dense_time"], abs=0.06
    )
    slopes = MEASURED["time_slopes"].values()
    assert "grows with n² or somewhat more" in PROSE
    assert all(1.9 < slope < 2.5 for slope in slopes)


def test_tiled_attention_is_the_same_to_six_digits():
    assert "off by less than 10⁻⁶" in PROSE
    query, key, value = torch.randn(3, 500, 64, generator=torch.Generator().manual_seed(0))
    for tile in (1, 64, 300, 1000):
        off = solution("4.4")(query, key, value, tile) - dense_attention(query, key, value)
        assert off.abs().max() < 1e-6


def test_in_training_autograd_keeps_every_tile():
    """The control to "your function does not save that memory there": what is kept for the way back, without and with gradients."""
    assert "In *training* autograd keeps every tile for the way back" in PROSE
    query, key, value = torch.randn(3, 512, 16, generator=torch.Generator().manual_seed(0))
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.data_ptr()] = tensor.numel()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        solution("4.4")(query, key, value, 64)
        assert not kept
        tiles = solution("4.4")(query.requires_grad_(), key, value, 64)
    assert tiles.requires_grad
    assert sum(kept.values()) >= 512 * 512


# ---------------------------------------------------------------- the cache


def test_the_speed_of_the_cache():
    """From a committed run: a ratio within one run, at several seeds. In 15 other runs, eight prompts gained 13.3 to 21.2."""
    one, eight = says("at least # times faster with one prompt, and # times with eight")
    found = MEASURED["cache_speed_up_256_lowest"]
    assert one <= found["1 prompts"] < 1.25 * one
    assert eight <= found["8 prompts"] < 1.3 * eight
    assert one >= 3
    assert MEASURED["cache_same_words"]
