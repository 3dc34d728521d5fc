"""Say what relates a value that came back to the expected one, where form and dtype are right and the numbers are not."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.explain.values.pair import DISTINCT, Pair, Phrase, Trial, agree, make_pair
from grader.explain.values.transforms import elementwise, offset, scaled, shifted_rows, with_inputs
from grader.explain.values.weight_rows import weights

# In the order in which the phrases come: what says most about the cause is first.
RELATIONS: tuple[Callable[[Pair], Iterator[Phrase]], ...] = (
    with_inputs,
    scaled,
    offset,
    shifted_rows,
    elementwise,
    weights,
)


class Leaf(NamedTuple):
    """One leaf of what one trial showed."""

    got: Any
    want: Any
    sizes: Mapping[str, Any] = {}  # of the trial, by name: {"rows": 3, "width": 4}
    inputs: Mapping[str, Tensor] = {}  # of the trial, by name; empty if not known
    passed: bool = False


def relations(
    name: str, got: Any, want: Any, sizes: Mapping[str, Any], inputs: Mapping[str, Tensor] | None = None
) -> list[str]:
    """Return the phrases that hold of one leaf of one trial, the most telling first; [] if none is found.

    Args:
        name: of the leaf: "output", "gradient of key".
    """
    pair = make_pair(name, got, want, sizes, inputs)
    if pair is None:
        return []
    return [phrase.says for _, phrase in _ranked(pair) if phrase.says and phrase.needs < 2]


def shared_relations(name: str, leaves: Sequence[Leaf]) -> list[str]:
    """Return the phrases that hold of one leaf in every failing trial and that no passing trial denies.

    A number alone shows a relation only in two failing trials; so does a constant that could have two names. Of
    phrases of which one alone can be true, none is returned where several remain.
    """
    return [phrase.says for _, phrase in _shared(name, leaves)]


def _shared(name: str, leaves: Sequence[Leaf]) -> list[tuple[int, Phrase]]:
    """Return what `shared_relations` does, each with its rank: the lower, the more it says about the cause."""
    pairs = [make_pair(name, leaf.got, leaf.want, leaf.sizes, leaf.inputs, leaf.passed) for leaf in leaves]
    if any(pair is None and not leaf.passed for pair, leaf in zip(pairs, leaves, strict=True)):
        return []
    known = [pair for pair in pairs if pair is not None]
    failing = [pair for pair in known if not pair.passed]
    # A trial with few numbers shows too little, where another shows more.
    failing = [pair for pair in failing if pair.want.numel() > DISTINCT] or failing
    if not failing:
        return []
    by_trial = [list(_ranked(pair)) for pair in failing]
    # A constant is a whole number in some trials alone; a phrase is as strong as where it is none.
    entries = {entry[1].says: entry for entry in sorted(chain(*by_trial), key=lambda entry: not entry[1].weak)}
    places = {phrase.says: place for place, (_, phrase) in enumerate(chain(*by_trial))}
    found = [entry for entry in entries.values() if all(_holds(entry, held) for held in by_trial)]
    found = sorted((entry for entry in found if entry[1].says), key=lambda entry: (entry[0], places[entry[1].says]))
    for pair in known:
        if pair.passed and not pair.few and found:
            words = {phrase.says for _, phrase in _ranked(pair)}
            found = [(rank, phrase) for rank, phrase in found if not _denied(phrase, words, pair)]
    few = all(pair.few for pair in failing)
    enough = [(rank, one) for rank, one in found if len(failing) >= one.needs + (few and one.needs == 1)]
    return _unambiguous(enough)


def _holds(entry: tuple[int, Phrase], held: Sequence[tuple[int, Phrase]]) -> bool:
    """Tell whether a phrase holds in a trial, or whether the trial cannot tell."""
    rank, phrase = entry
    return any(other.says == phrase.says or (own == rank and not other.says) for own, other in held)


def relation_of(trials: Sequence[Trial], sure: bool = False) -> str:
    """Return the most telling phrase that holds of one value in all failing trials of a check; "" if there is none.

    Args:
        trials: of one check, also those that passed.
        sure: leave out the phrases that say what is seen, and little about the cause.
    """
    failing = [trial for trial in trials if not trial.passed]
    if not failing or any(trial.error for trial in failing):
        return ""
    rounded = max(trial.near for trial in trials)
    found: list[tuple[int, str]] = []
    for name in failing[0].expected:
        leaves = [
            Leaf(trial.got.get(name), trial.expected.get(name), trial.sizes, _tensors(trial.inputs), trial.passed)
            for trial in trials
        ]
        wrong = [leaf for leaf in leaves if not leaf.passed and not _is_right(name, leaf, rounded)]
        if wrong:
            passed = [leaf for leaf in leaves if leaf.passed or _is_right(name, leaf, rounded)]
            kept = [*wrong, *(leaf._replace(passed=True) for leaf in passed)]
            shared = [entry for entry in _shared(name, kept) if not (sure and entry[1].vague)]
            found += [(rank + len(RELATIONS) * phrase.vague, phrase.says) for rank, phrase in shared]
    return min(found, key=lambda ranked: ranked[0])[1] if found else ""


def _is_right(name: str, leaf: Leaf, rounded: float) -> bool:
    pair = make_pair(name, leaf.got, leaf.want, leaf.sizes)
    return pair is not None and agree(pair.got, pair.want, max(pair.near / 10, rounded))


def _tensors(inputs: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the tensors that an answer was called with, by the names of its parameters."""
    return {name.removeprefix("arguments."): value for name, value in inputs.items() if isinstance(value, Tensor)}


def _ranked(pair: Pair) -> Iterator[tuple[int, Phrase]]:
    """Yield what holds of a pair, each phrase once, with the place of its relation in the list."""
    if not pair.passed and agree(pair.got, pair.want, pair.near):
        return  # the difference is smaller than what is compared here
    said: set[str] = set()
    for rank, relation in enumerate(RELATIONS):
        for phrase in relation(pair):
            if phrase.says not in said:
                said.add(phrase.says)
                yield rank, phrase


def _denied(phrase: Phrase, held: set[str], pair: Pair) -> bool:
    """Tell whether a trial that passed shows that a phrase is wrong."""
    return phrase.kind == "transform" and phrase.says not in held and bool(torch.any(pair.want != 0))


def _unambiguous(found: Sequence[tuple[int, Phrase]]) -> list[tuple[int, Phrase]]:
    """Drop what another phrase makes doubtful."""
    if any(phrase.group == "number" for _, phrase in found):
        found = [entry for entry in found if not entry[1].weak]
    count: dict[str, int] = {}
    for _, phrase in found:
        count[phrase.group] = count.get(phrase.group, 0) + 1
    return [entry for entry in found if not entry[1].group or count[entry[1].group] == 1]
