"""Pairs that share much of what is rare in a class: by hand, and against a plain computation with matrices."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest

from grader.report.similarity.pairs import (
    COMMON,
    LEAST_ANSWERS,
    LEAST_COMMON,
    LEAST_RARE,
    LEAST_SHARE,
    MOST_HOLDERS,
    compare,
)

EVERYBODY = {1: frozenset({1}), 2: frozenset({2})}


def answer(*fragments: int) -> dict[int, frozenset[int]]:
    """An answer with these fragments, each in the line of its own number, and what everybody writes."""
    return {**EVERYBODY, **{fragment: frozenset({fragment}) for fragment in fragments}}


def a_class(*answers: dict[int, frozenset[int]], size: int = 40) -> dict[str, dict[int, frozenset[int]]]:
    """A class in which the first students wrote these answers, and each of the others something else."""
    others = [answer(*range(1000 * n, 1000 * n + 6)) for n in range(1, size + 1 - len(answers))]
    return {f"s{place:02}": one for place, one in enumerate([*answers, *others])}


def test_a_pair_shares_what_few_have() -> None:
    compared = compare(a_class(answer(10, 11, 12, 13), answer(10, 11, 12, 14, 15, 16)), ())
    (pair,) = compared.pairs
    assert pair.students == ("s00", "s01")
    assert pair.rare == 3  # each of the three is held by two alone, and weighs 1
    assert pair.share == 3 / 4  # of the first answer, which has fewer that are rare
    assert pair.lines == (frozenset({10, 11, 12}), frozenset({10, 11, 12}))
    assert (compared.answers, compared.telling) == (40, 40)


def test_a_fragment_that_more_have_weighs_less() -> None:
    four = [answer(10, 11, 12, 13)] * 4
    compared = compare(a_class(*four), ())
    assert len(compared.pairs) == 6
    assert [pair.rare for pair in compared.pairs] == pytest.approx([4 * log(40 / 4) / log(40 / 2)] * 6)
    assert {pair.share for pair in compared.pairs} == {1}


def test_what_many_write_what_was_given_and_what_is_little_is_no_evidence() -> None:
    rare = answer(10, 11, 12, 13)
    assert compare(a_class(rare, rare), ()).pairs
    assert not compare(a_class(*[rare] * 5), ()).pairs, "5 of 40 are more than a tenth"
    assert not compare(a_class(rare, rare), [dict.fromkeys((10, 11, 12, 13), frozenset())]).pairs
    three = [answer(10, *range(20 * n, 20 * n + 2)) for n in (1, 2, 3)]
    assert not compare(a_class(*three), ()).pairs, "one fragment that three have weighs less than 1"
    assert not compare(a_class(answer(10, 11, 12, *range(20, 30)), answer(10, 11, 12, *range(30, 40))), ()).pairs


def test_a_class_that_writes_the_same_tells_nothing_and_so_does_a_small_one() -> None:
    same = compare({f"s{n}": answer() for n in range(40)}, ())
    assert (same.answers, same.telling, same.pairs, same.too_few) == (40, 0, (), False)
    rare = answer(10, 11, 12, 13)
    small = compare(a_class(rare, rare, size=LEAST_ANSWERS - 1), ())
    assert (small.pairs, small.too_few) == ((), True)
    assert compare(a_class(rare, rare, size=LEAST_ANSWERS), ()).pairs


def test_no_answer_at_all_is_no_pair() -> None:
    assert compare({f"s{n}": {} for n in range(40)}, ()).answers == 0


@pytest.mark.parametrize("seed", range(5))
def test_all_pairs_by_matrices_are_the_same(seed: int) -> None:
    chance = np.random.default_rng(seed)
    held = chance.random((60, 400)) < chance.choice([0.02, 0.05, 0.5], size=400)
    for _ in range(10):  # copies, whole and in part
        source, copy = chance.choice(60, 2, replace=False)
        held[copy] = np.where(chance.random(400) < 0.8, held[source], held[copy])
    given = set(range(3))
    count = held.sum(0)
    weight = np.where(count > 2, np.log(60 / np.maximum(count, 1)) / np.log(30), 1.0)
    weight[(count > min(max(LEAST_COMMON, COMMON * 60), MOST_HOLDERS)) | np.isin(np.arange(400), [*given])] = 0
    shared, own = (held * weight) @ held.T, (held * weight).sum(1)
    expected = {
        (f"s{a:02}", f"s{b:02}"): (shared[a, b], shared[a, b] / min(own[a], own[b]))
        for a, b in combinations(range(60), 2)
        if shared[a, b] >= LEAST_RARE - 1e-9 and shared[a, b] >= LEAST_SHARE * min(own[a], own[b]) - 1e-9
    }
    answers = {f"s{a:02}": {int(f): frozenset({int(f)}) for f in np.flatnonzero(held[a])} for a in range(60)}
    found = {
        pair.students: (pair.rare, pair.share) for pair in compare(answers, [dict.fromkeys(given, frozenset())]).pairs
    }
    assert found.keys() == expected.keys()
    assert len(found) > 3
    for students, numbers in found.items():
        assert numbers == pytest.approx(expected[students])
