"""Every number in the lab's first part, "Do maps explain?", compared with what benchmarks/explanations.py measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.scripts import cells_of

ROOT = Path(__file__).parents[2]
CELLS = cells_of("4-lab")
PROSE = " ".join(" ".join(cell.source.split()) for cell in CELLS if cell.cell_type == "markdown")
FOUND = (ROOT / "benchmarks" / "results" / "explanations.txt").read_text("utf-8").splitlines()
LINES = [json.loads(line) for line in FOUND if line.startswith('{"seed"')]
RUNS = {(line["task"], line["seed"]): line for line in LINES if "task" in line}
CONTROLS = [line for line in LINES if "task" not in line]
SEEDS = sorted({seed for _, seed in RUNS})
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


def quality(task: str, name: str) -> list[float]:
    """Insertion minus deletion at each seed."""
    areas = [RUNS[task, seed]["maps"][name] for seed in SEEDS]
    return [one["insertion"] - one["deletion"] for one in areas]


def of(task: str, name: str, seeds=SEEDS) -> list:
    return [RUNS[task, seed][name] for seed in seeds]


def test_a_number_that_is_not_in_the_prose_is_noticed():
    with pytest.raises(AssertionError, match="0 times in the prose"):
        says("# unicorns")


def test_the_table_of_explanations():
    assert len(SEEDS) == 5
    names = {
        **dict(zip(MAPS, MAPS, strict=True)),
        "random order": "random order",
        "one blanked": "each patch blanked in turn",
    }
    for name, written in names.items():
        row = says(rf"\| {re.escape(written)} \| # to # \| # to # \| # to # \|")
        assert row == [bound for task in ("where", "what", "read") for bound in span(quality(task, name))], name


def test_what_the_ranking_says():
    best, beaten = says(
        r'best of the four for "where" at # of 5 seeds\. For "what" the value-weighted map beats it at # of 5'
    )
    by_seed = list(zip(*(quality("where", name) for name in MAPS), strict=True))
    assert best == sum(max(seed) == seed[0] for seed in by_seed)
    pairs = zip(quality("what", "value-weighted"), quality("what", "gradient × attention"), strict=True)
    assert beaten == sum(one > other for one, other in pairs)
    assert "None of the four maps was better than that, at any seed" in PROSE
    assert 'Rollout is the last of the four for "where" and for "what" at 5 of 5 seeds' in PROSE
    for task in ("where", "what", "read"):
        reach = quality(task, "one blanked")
        assert all(one <= most for name in MAPS for one, most in zip(quality(task, name), reach, strict=True))
        if task != "read":
            assert all(min(seed) == seed[3] for seed in zip(*(quality(task, name) for name in MAPS), strict=True))
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
    maps = [RUNS["where", seed]["maps"]["value-weighted"] for seed in SEEDS]
    low, high, seeds, least, most = says(r"in question in # to # of the scenes \(# seeds\), and its τ is # to #\.")
    assert [low, high] == span(one["on target"] for one in maps)
    assert [least, most] == span(one["rank correlation"] for one in maps)
    assert seeds == len(SEEDS)
    others, pairs = says("make up # of the # pairs")
    assert (others, pairs) == (8 * 7 / 2, 9 * 8 / 2)


def test_shuffled_weights():
    questions, looking, low, high, what = says(
        r'At seed 0, with # questions, shuffling head 0 leaves # of the words of "where" as they were\. '
        r"Shuffling any one of the others leaves # to #: .*? head 0 does not matter \(# stay\)"
    )
    shares = RUNS["where", 0]["same word, a head shuffled"]
    assert questions == 1000
    assert [looking, low, high] == [round(shares[0], 3), *span(shares[1:])]
    assert what == round(RUNS["what", 0]["same word, a head shuffled"][0], 3)
    low, high, seeds, least, most, trained, chance = says(
        r'With uniform weights # to # of the words of "where" stay \(# seeds\)\. .*? '
        r'"where" is right in # to # of the scenes \(# seeds\), beside a chance of #\.'
    )
    assert [low, high] == span(of("where", "same word, uniform"))
    assert [least, most] == span(one["trained with uniform weights"]["where"] for one in CONTROLS)
    assert (seeds, trained, chance) == (len(SEEDS), len(CONTROLS), round(1 / 9, 3))


def test_the_heads_of_seed_0():
    where, what = RUNS["where", 0], RUNS["what", 0]
    put_in, taken_out = says(r"head 0 brings the answer in # of the twins, and without it # of the answers are lost")
    assert [put_in, taken_out] == [round(where[name][0], 3) for name in ("put in", "taken out")]
    head, *shares = says(
        r"Take head #: - put in, it brings the answer in # of the twins, .*? - taken out, it costs # of the answers, .*? "
        r"with all others silent, it keeps # of the answers\."
    )
    assert head == what["put in"].index(max(what["put in"]))
    assert shares == [round(what[name][int(head)], 3) for name in ("put in", "taken out", "alone")]
    *weights, both = says(
        r"Heads 1, 2 and 3 all look at the patch in question \(#, # and # of their weight\).*?"
        r"Put in two, 1 and 3, and # of the twins"
    )
    assert weights == [round(weight, 2) for weight in what["weight on the right patch"][1:]]
    assert what["best 2 put in"] == {"13": pytest.approx(both, abs=5e-4)}


def test_the_heads_of_all_seeds():
    *ranges, one, other, together = says(
        r'the best single head brings # to # of the answers to "where", and # to # of those to "what"\. '
        r'At seed 3 two heads share "where": put in alone they bring # and #, together #\.'
    )
    assert ranges == [bound for task in ("where", "what") for bound in span(map(max, of(task, "put in")))]
    last = RUNS["where", 3]
    assert [one, other] == [round(share, 3) for share in sorted(last["put in"])[:1:-1]]
    assert list(last["best 2 put in"].values()) == [pytest.approx(together, abs=5e-4)]
