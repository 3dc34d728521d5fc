"""Every number in the first part of lab 6, "Do maps explain?", compared with what benchmarks/explanations.py measured.

A number of one seed is the mean of its runs, on several processors, and no run is farther from it than 0.05; a number with a
spread is the mean of the seeds and their standard deviation.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from attention.experiments.recipe import training_questions
from attention.measures.evaluation import BLANK_PATCH
from attention.measures.faithfulness_ranges import OUR_QUALITY

from tests import reader
from tests.scripts import cells_of

ROOT = Path(__file__).parents[2]
CELLS = cells_of("6-explain")
PROSE = " ".join(" ".join(cell.source.split()) for cell in CELLS if cell.cell_type == "markdown")
FOUND = (ROOT / "benchmarks" / "results" / "explanations.txt").read_text("utf-8").splitlines()
LINES = [json.loads(line) for line in FOUND if line.startswith(('{"seed"', '{"kernels"'))]
RUNS = {(line.get("kernels", ""), line["seed"], line["task"]): line for line in LINES if "task" in line}
CONTROLS = [line for line in LINES if "task" not in line]
SEEDS = sorted({seed for _, seed, _ in RUNS})
MAPS = ("gradient × attention", "value-weighted", "head average", "rollout")


def says(pattern: str) -> list[float]:
    """The numbers in the groups of a pattern, which the prose must hold exactly once; `#` stands for a number."""
    found = re.findall(pattern.replace("#", r"(-?\d[\d,]*(?:\.\d+)?)"), PROSE)
    assert len(found) == 1, f"{len(found)} times in the prose: {pattern}"
    groups = found[0] if isinstance(found[0], tuple) else (found[0],)
    return [float(group.replace(",", "")) for group in groups]


def span(values) -> list[float]:
    values = list(values)
    return [round(min(values), 3), round(max(values), 3)]


def of(task: str, name: str, seeds=SEEDS) -> list:
    """A measurement of one kind of question, in all runs of some seeds."""
    return [run[name] for (_, seed, asked), run in RUNS.items() if asked == task and seed in seeds]


def about(values: Iterable[float]) -> object:
    """The mean of some runs of one seed, as near as two digits give it."""
    values = list(values)
    assert max(abs(value - fmean(values)) for value in values) < 0.05
    return pytest.approx(fmean(values), abs=0.006)


def over_seeds(by_seed: Iterable[float], digits: int = 2) -> list[object]:
    """Mean and standard deviation over the seeds, as near as so many digits give them."""
    values = list(by_seed)
    return [pytest.approx(figure, abs=0.6 * 10**-digits) for figure in (fmean(values), stdev(values))]


def each_seed(task: str, name: str, pick: Callable[[Any], float] = lambda value: value) -> list[float]:
    """A measurement at each seed, the mean over its runs."""
    return [fmean(pick(value) for value in of(task, name, [seed])) for seed in SEEDS]


def quality(task: str, name: str) -> list[float]:
    """Insertion minus deletion in each run."""
    return [maps[name]["insertion"] - maps[name]["deletion"] for maps in of(task, "maps")]


def test_a_number_that_is_not_in_the_prose_is_noticed():
    with pytest.raises(AssertionError, match="0 times in the prose"):
        says("# unicorns")


def test_each_run_is_there():
    """With a third processor's kernels, at seed 0 alone."""
    assert len(SEEDS) == 5
    assert Counter((kernels, seed) for kernels, seed, _ in RUNS) == {
        **{(kernels, seed): 3 for kernels in ("", "AVX512", "DEFAULT") for seed in SEEDS},
        ("AVX2", 0): 3,
    }


def test_the_ranges_of_the_figure():
    names = {
        **dict(zip(MAPS, MAPS, strict=True)),
        "random order": "random order",
        "one blanked": "each patch blanked in turn",
    }
    measured = {
        task: {shown: tuple(span([*quality(task, name), *printed(shown, task)])) for name, shown in names.items()}
        for task in ("where", "what", "read")
    }
    assert measured == OUR_QUALITY


def printed(name: str, task: str) -> list[float]:
    """What readers see, with each processor's kernels; nothing for what the notebook does not print."""
    if name not in (*MAPS, "random order"):
        return []
    columns = ("#" if each == task else r"-?\d\.\d+" for each in OUR_QUALITY)
    return reader.seen("6-explain", "rank-explanations", rf"^{name} +" + " +".join(columns) + "$")


def test_what_the_caption_says():
    middle = {task: [sum(ranges[name]) for name in MAPS] for task, ranges in OUR_QUALITY.items()}
    assert middle["where"] == sorted(middle["where"], reverse=True)
    lengths = {name: high - low for name, (low, high) in OUR_QUALITY["where"].items()}
    assert max(lengths, key=lengths.__getitem__) == "rollout"
    for task in ("what", "read"):
        assert max(middle[task][:3]) - min(middle[task][:3]) < 0.04


def test_what_the_ranking_says():
    none_better, compared = says(r"In # of our # comparisons none of the four maps was better than that")
    best, runs, beaten, again = says(
        r'best of the four for "where" in # of # runs\. For "what" the value-weighted map beats it in # of #\.'
    )
    by_run = list(zip(*(quality("where", name) for name in MAPS), strict=True))
    assert (best, runs) == (sum(max(run) == run[0] for run in by_run), len(by_run))
    pairs = list(zip(quality("what", "value-weighted"), quality("what", "gradient × attention"), strict=True))
    assert (beaten, again) == (sum(one > other for one, other in pairs), len(pairs))
    reached = []
    for task in ("where", "what", "read"):
        for *maps, reach in zip(*(quality(task, name) for name in (*MAPS, "one blanked")), strict=True):
            reached.append(max(maps) <= reach)
    assert (none_better, compared) == (sum(reached), len(reached))
    last, of_runs = says(r'Rollout is the last of the four for "where" and for "what" in # of # runs')
    lowest = [
        all(
            min(quality(task, name)[run] for name in MAPS) == quality(task, "rollout")[run]
            for task in ("where", "what")
        )
        for run in range(len(by_run))
    ]
    assert (last, of_runs) == (sum(lowest), len(lowest))
    assert "there two or three heads look at the patch in question" in PROSE
    looking = [sum(weight > 0.5 for weight in weights) for weights in of("what", "weight on the right patch")]
    assert set(looking) == {2, 3}


def test_rollout_where_the_first_block_looks():
    average, rollout = (
        [one["first block looks"]["where"][name] for one in CONTROLS] for name in ("head average", "rollout")
    )
    numbers = says(
        r'for "where", over # seeds: # ± # for the head average, # ± # for rollout, which was below it at # of # seeds'
    )
    averages, rollouts = ([one["insertion"] - one["deletion"] for one in ones] for ones in (average, rollout))
    below = sum(one < other for one, other in zip(rollouts, averages, strict=True))
    assert numbers == [len(CONTROLS), *over_seeds(averages), *over_seeds(rollouts), below, len(CONTROLS)]
    assert {line["largest change of a logit when earlier words see nothing"] for line in RUNS.values()} == {0.0}


def test_the_rank_correlation():
    *hit, seeds, tau, deviation = says(r"in question in # ± # of the scenes \(# seeds\), and its τ is # ± #\.")
    assert hit == over_seeds(each_seed("where", "maps", lambda maps: maps["value-weighted"]["on target"]))
    taus = each_seed("where", "maps", lambda maps: maps["value-weighted"]["rank correlation"])
    assert [tau, deviation] == over_seeds(taus)
    assert seeds == len(SEEDS)
    others, pairs = says("make up # of the # pairs")
    assert (others, pairs) == (8 * 7 / 2, 9 * 8 / 2)


def test_without_another_patch_the_probability_stays():
    """The control to "the other eight ranks are ranks of next to nothing"."""
    for task in ("where", "what", "read"):
        assert (
            max(
                abs(fall)
                for fall in reader.seen("6-explain", "rank-correlation", rf"^{task}: .* by # without another one")
            )
            < 0.005
        )
        assert (
            min(reader.seen("6-explain", "rank-correlation", rf"^{task}: .* by # without the patch in question")) > 0.9
        )


def test_blank_patches_are_nothing_new_to_the_model():
    assert "the recipe shows scenes with empty cells" in PROSE
    blank = (training_questions(0, seed=0).image_patches == BLANK_PATCH).all(-1)
    assert (blank.sum(1) >= 7).all()


def test_shuffled_weights():
    looking, others, stay = says(
        r'At seed 0 shuffling head 0 leaves # of the words of "where" as they were\. '
        r"Shuffling any one of the others leaves # or more: .*? head 0 does not matter \(# or more stay\)"
    )
    shares = of("where", "same word, a head shuffled", [0])
    assert looking == about(one[0] for one in shares)
    assert min(share for one in shares for share in one[1:]) >= others
    assert min(one[0] for one in of("what", "same word, a head shuffled", [0])) >= stay
    mean, deviation, seeds, *right, trained, chance = says(
        r'With uniform weights # ± # of the words of "where" stay \(# seeds\)\. .*? '
        r'"where" is right in # ± # of the scenes \(# seeds\), beside a chance of #\.'
    )
    assert [mean, deviation] == over_seeds(each_seed("where", "same word, uniform"), 3)
    assert right == over_seeds([one["trained with uniform weights"]["where"] for one in CONTROLS], 3)
    assert (seeds, trained, chance) == (len(SEEDS), len(CONTROLS), round(1 / 9, 3))


def test_the_heads_of_seed_0():
    put_in, lost = says(r"head 0 brings the answer in # of the twins, and without it # of the answers are lost")

    def shares_of(task: str, what: str, head: int) -> list[float]:
        shown = reader.seen("6-explain", "patch-heads", rf"^{task}: {what} +none +#$") if what != "alone" else []
        return [*(shares[head] for shares in of(task, what, [0])), *shown]

    assert put_in == about(shares_of("where", "put in", 0))
    assert lost == about(shares_of("where", "taken out", 0))
    head, *written = says(
        r"Take head #: - put in, it brings the answer in # of the twins, .*? - taken out, it costs # of the answers, .*? "
        r"with all others silent, it keeps # of the answers\."
    )
    assert head == 1
    assert all(shares[1] == max(shares) for shares in of("what", "put in", [0]))
    assert written == [about(shares_of("what", name, 1)) for name in ("put in", "taken out", "alone")]
    *weights, both = says(
        r"Heads 1, 2 and 3 all look at the patch in question, with #, # and # of their weight.*?"
        r"Put in two, 1 and 3, and # of the twins"
    )
    looks = zip(*of("what", "weight on the right patch", [0]), strict=True)
    assert weights == [about(of_head) for of_head in list(looks)[1:]]
    together = of("what", "best 2 put in", [0])
    assert {name for one in together for name in one} == {"13"}
    assert both == about(one["13"] for one in together)


def test_the_heads_of_all_seeds():
    *ranges, first, second, together = says(
        r'the best single head brings # to # of the answers to "where", and # to # of those to "what"\. '
        r'At seed 3 two heads share "where": put in alone they bring # and #, together #\.'
    )
    best = [each_seed(task, "put in", max) for task in ("where", "what")]
    assert ranges == pytest.approx([pick(shares) for shares in best for pick in (min, max)], abs=6e-3)
    two = [sorted(shares)[:1:-1] for shares in of("where", "put in", [3])]
    assert [first, second] == [about(shares) for shares in zip(*two, strict=True)]
    assert together == about(max(one.values()) for one in of("where", "best 2 put in", [3]))
