"""Every number in the lab's first part, "Do maps explain?", compared with what benchmarks/explanations.py measured.

A range holds all runs: 1,000 questions, and what a reader sees with the kernels of two processors.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from attention.experiments.recipe import training_questions
from attention.measures.evaluation import BLANK_PATCH
from attention.measures.faithfulness_ranges import OUR_QUALITY

from tests import reader
from tests.scripts import cells_of

ROOT = Path(__file__).parents[2]
CELLS = cells_of("4-lab")
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
    return reader.seen("4-lab", "rank-explanations", rf"^{name} +" + " +".join(columns) + "$")


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
        r'for "where", over # seeds: # to # for the head average, # to # for rollout\. It was below the head average at # of #'
    )
    averages, rollouts = ([one["insertion"] - one["deletion"] for one in ones] for ones in (average, rollout))
    below = sum(one < other for one, other in zip(rollouts, averages, strict=True))
    assert numbers == [len(CONTROLS), *span(averages), *span(rollouts), below, len(CONTROLS)]
    assert {line["largest change of a logit when earlier words see nothing"] for line in RUNS.values()} == {0.0}


def test_the_rank_correlation():
    maps = [one["value-weighted"] for one in of("where", "maps")]
    low, high, seeds, least, most = says(
        r"in question in # to # of the scenes \(# seeds, the kernels of two processors\), and its τ is # to #\."
    )
    assert [low, high] == span(one["on target"] for one in maps)
    assert [least, most] == span(one["rank correlation"] for one in maps)
    assert seeds == len(SEEDS)
    others, pairs = says("make up # of the # pairs")
    assert (others, pairs) == (8 * 7 / 2, 9 * 8 / 2)


def test_without_another_patch_the_probability_stays():
    """The control to "the other eight ranks are ranks of next to nothing"."""
    for task in ("where", "what", "read"):
        assert (
            max(
                abs(fall) for fall in reader.seen("4-lab", "rank-correlation", rf"^{task}: .* by # without another one")
            )
            < 0.005
        )
        assert min(reader.seen("4-lab", "rank-correlation", rf"^{task}: .* by # without the patch in question")) > 0.9


def test_blank_patches_are_nothing_new_to_the_model():
    assert "the recipe shows scenes with empty cells" in PROSE
    blank = (training_questions(0, seed=0).image_patches == BLANK_PATCH).all(-1)
    assert (blank.sum(1) >= 7).all()


def test_shuffled_weights():
    *looking, low, high, least, most = says(
        r'At seed 0, with the kernels of three processors, shuffling head 0 leaves # to # of the words of "where" as they were\. '
        r"Shuffling any one of the others leaves # to #: .*? head 0 does not matter \(# to # stay\)"
    )
    shares = of("where", "same word, a head shuffled", [0])
    assert looking == span(one[0] for one in shares)
    assert [low, high] == span(share for one in shares for share in one[1:])
    assert [least, most] == span(one[0] for one in of("what", "same word, a head shuffled", [0]))
    low, high, seeds, least, most, trained, chance = says(
        r'With uniform weights # to # of the words of "where" stay \(# seeds\)\. .*? '
        r'"where" is right in # to # of the scenes \(# seeds\), beside a chance of #\.'
    )
    assert [low, high] == span(of("where", "same word, uniform"))
    assert [least, most] == span(one["trained with uniform weights"]["where"] for one in CONTROLS)
    assert (seeds, trained, chance) == (len(SEEDS), len(CONTROLS), round(1 / 9, 3))


def test_the_heads_of_seed_0():
    *put_in, least, most = says(
        r"head 0 brings the answer in # to # of the twins, and without it # to # of the answers are lost"
    )

    def shares_of(task: str, what: str, head: int) -> list[float]:
        shown = reader.seen("4-lab", "patch-heads", rf"^{task}: {what} +none +#$") if what != "alone" else []
        return [*(shares[head] for shares in of(task, what, [0])), *shown]

    assert put_in == span(shares_of("where", "put in", 0))
    assert [least, most] == span(shares_of("where", "taken out", 0))
    head, *ends = says(
        r"Take head #: - put in, it brings the answer in # to # of the twins, .*? - taken out, it costs # to # of the answers, .*? "
        r"with all others silent, it keeps # to # of the answers\."
    )
    assert head == 1
    assert all(shares[1] == max(shares) for shares in of("what", "put in", [0]))
    measured = [shares_of("what", name, 1) for name in ("put in", "taken out", "alone")]
    assert ends == [end for values in measured for end in span(values)]
    *weights, low, high = says(
        r"Heads 1, 2 and 3 all look at the patch in question, with # to # of their weight.*?"
        r"Put in two, 1 and 3, and # to # of the twins"
    )
    looks = [weight for one in of("what", "weight on the right patch", [0]) for weight in one[1:]]
    assert weights == [round(min(looks), 2), round(max(looks), 2)]
    together = of("what", "best 2 put in", [0])
    assert {name for one in together for name in one} == {"13"}
    assert [low, high] == span(one["13"] for one in together)


def test_the_heads_of_all_seeds():
    *ranges, low, high, least, most, together = says(
        r'the best single head brings # to # of the answers to "where", and # to # of those to "what"\. '
        r'At seed 3 two heads share "where": put in alone they bring # to # and # to #, together # or more\.'
    )
    assert ranges == [bound for task in ("where", "what") for bound in span(map(max, of(task, "put in")))]
    two = [sorted(shares)[:1:-1] for shares in of("where", "put in", [3])]
    assert [low, high, least, most] == [*span(one for one, _ in two), *span(other for _, other in two)]
    assert together == round(min(max(one.values()) for one in of("where", "best 2 put in", [3])), 3)
