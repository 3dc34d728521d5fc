"""The numbers that the lab's prose quotes from benchmarks/results/three_ways.txt and compositional.txt.

A range also holds what readers see at the notebook's own seed, with the kernels of two processors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest
import torch
from attention.data.coloured_world import COLOURS, seen_pairs
from attention.experiments.three_ways import WAYS, WayLayers, place_questions, train_way, way_flops, way_scores
from attention.image_into_text import ConcatenatedAttention, GatedCrossAttention, LearnedQueries

from tests import reader

ROOT = Path(__file__).parents[2]
PROSE = re.sub(r"\s+", " ", re.sub(r"^# ?", "", (ROOT / "solutions" / "6-explain.py").read_text("utf-8"), flags=re.M))


def runs(program: str, job: str) -> list[dict]:
    lines = (ROOT / "benchmarks" / "results" / f"{program}.txt").read_text("utf-8").splitlines()
    return [run for run in map(json.loads, (line for line in lines if line.startswith('{"job"'))) if run["job"] == job]


def between(shares: list[float]) -> str:
    return f"{min(shares):.3f} to {max(shares):.3f}"


def quoted() -> Iterator[str]:
    for job, name in (
        *((way, f"four {way}" if way == WAYS[2] else way) for way in WAYS),
        ("gate open at the start", "the same, with a gate that begins open (g = 1)"),
    ):
        found = [*runs("three_ways", job), *runs("three_ways", f"{job}, plainest kernels")]
        right = [run["right"] for run in found]
        shown = reader.seen("6-explain", "compare-ways", rf"^{job} +none +#$") if job in WAYS else []
        low = sum(share < 0.9 for share in right)
        yield f"| {name} | {between([*right, *shown])} | {low} of {len(right)} | {found[0]['flops']:,} |"
    means = [mean(run["right"] for run in runs("three_ways", f"{count} learned queries")) for count in (1, 2, 9, 16)]
    yield "| learned queries | 1 | 2 | 9 | 16 | |---|--:|--:|--:|--:| | right, mean over five seeds | {:.2f} | {:.2f} | {:.2f} | {:.2f} |".format(
        *means
    )
    best = max(run["right"] for run in runs("three_ways", "9 learned queries"))
    yield f"At none of the five seeds did training find that: the best gave {best:.2f} right answers"
    layers = runs("three_ways", "new layers in lesson 3's model")
    before, after = (
        between([*(run[name] for run in layers), *reader.seen("6-explain", "try-gate", shown)])
        for name, shown in (
            ("as it was", r"^ 0 new layers, gate closed +#"),
            ("32 open gates", r"^32 new layers, gate open +#"),
        )
    )
    yield f"{before} become {after}"
    joined, gated, asked = (between([run["where"] for run in runs("three_ways", f"lesson 3, {way}")]) for way in WAYS)
    yield f"| gated cross-attention | {gated} | | concatenation | {joined} | | learned queries | {asked} |"
    costs = [way_flops(way, 576, 100, 32, 768, 12) / 1e9 for way in WAYS]
    yield "{:.1f} · 10⁹ FLOPs for a question, gated cross-attention {:.1f} and learned queries {:.1f}".format(*costs)
    yield from quoted_pairs()


def quoted_pairs() -> Iterator[str]:
    def share(missing: int, pairs: str, task: str) -> float:
        found = runs("compositional", f"{missing} of 5 colours missing")
        return mean(run["scores"][pairs][task]["right"] for run in found)

    for task in ("colour", "at", "where", "left"):
        seen, unseen = share(1, "seen pairs", task), share(1, "unseen pairs", task)
        yield f"| {seen:.3f} | {unseen:.3f} | {seen - unseen:.3f} |"
    one_missing = [run["wrong colours"] for run in runs("compositional", "1 of 5 colours missing")]
    elsewhere, there = (mean(run[name] for run in one_missing) for name in ("looked elsewhere", "looked right"))
    yield f"({elsewhere:.3f} of all answers) the map is largest on another patch"
    yield f"In the other half ({there:.3f}) the map is on the right patch"
    for task, question in (
        ("colour", "which colour has the 3 ?"),
        ("at", "which colour is at center ?"),
        ("where", "where is the red 7 ?"),
    ):
        few, most = (share(missing, "unseen pairs", task) for missing in (1, 4))
        yield f"| `{question}` | {few:.3f} | {most:.3f} |"
    relation = {
        missing: [run["scores"]["seen pairs"]["left"]["right"] for run in runs("compositional", f"{missing} of 5 colours missing")]
        for missing in (1, 4)
    }  # fmt: skip
    left = between([*relation[1], *reader.seen("6-explain", "compare-pairs", "^left, seen +none +#$")])
    yield f"is hardly learned at these five seeds: {left} with seen pairs"
    learned = [value for value in relation[4] if value > 0.9]
    yield f"{len(learned)} of 5 seeds learn it ({between(learned)})"


@pytest.mark.parametrize("words", list(quoted()))
def test_the_lab_quotes_what_was_measured(words: str) -> None:
    assert words in PROSE


def test_queries_share_the_places_out() -> None:
    """What the captions say at the notebook's own seed, with whatever kernels this processor has."""
    assert "Each query has one, two or three places; no place belongs to two queries." in PROSE
    assert "the place that gets most of a query's weight is the brightest one there" in PROSE
    model, _ = train_way(WAYS[2], WayLayers(ConcatenatedAttention, GatedCrossAttention, LearnedQueries), 0)
    asked = place_questions(500, torch.Generator().manual_seed(7), "test")
    with torch.no_grad():
        patches = model.image_norm(model.aligner(asked.image_patches) + model.image_positions)
        looks = model.summary(patches)[1].mean((0, 1))  # (queries, places)
    places = looks > 0.2
    assert places.sum(0).max() == 1
    assert set(places.sum(1).tolist()) <= {1, 2, 3}
    assert way_scores(model)["by place"].argmax() == looks.amax(0).argmax()


def test_the_pairs_that_the_lab_names_are_unseen() -> None:
    blue_7, purple_9 = 10 * COLOURS.index("blue") + 7, 10 * COLOURS.index("purple") + 9
    assert not seen_pairs()[[blue_7, purple_9]].any()
    assert "never a blue 7" in PROSE
    assert "has the 9 ? purple` ever stood" in PROSE
