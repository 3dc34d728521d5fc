"""Find the declared mistake that gives the same results as an answer."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from grader.explain.fingerprint import Fingerprint, fingerprint, fingerprint_of_error
from grader.explain.seen import Candidate, Explanation, Seen
from grader.judge.compare import scale
from grader.submission.code.traits import shows

ENOUGH = 3  # so many numbers must differ before a match of values says something
FEW = 20  # fewer values than that say little: bools, counts, lists of names


def print_of(trial: Seen) -> Fingerprint:
    return fingerprint_of_error(trial.error, trial.message) if trial.error else fingerprint(trial.got)


def nearest(
    candidates: Iterable[Candidate],
    seen: Sequence[Seen],
    prints: Sequence[Fingerprint],
    chosen: Sequence[int],
    source: str = "",
) -> Explanation | None:
    """Return an explanation by the candidate that gives the same results as the answer on all chosen trials.

    If several candidates do, return the one that agrees on most of the other trials. Return None if no candidate does.

    Some results are weak evidence, such as a single yes or no. Then candidates that agree on every trial of the
    exercise are preferred, and the code must show signs of the candidate. If all failing trials raised an exception,
    the code must show such signs, too, because products of other tensors raise the same message.

    Args:
        prints: the fingerprints of the answer's results, for each trial in `seen`.
        chosen: the indices of the trials of the failed check.
    """
    if all(seen[index].error for index in chosen if not seen[index].passed):
        candidates = [one for one in candidates if shows(source, one.traits())]
    # If one trial shows values, another trial may raise any error, because the order of the code
    # decides which of two wrong shapes raises first.
    raises = any(not seen[index].error and not seen[index].passed for index in chosen)
    matching = [
        candidate
        for candidate in candidates
        if all(
            candidate.gives(index, prints[index]) or (raises and seen[index].error and _raises(candidate, index))
            for index in _wrong_first(chosen, seen)
        )
        and not _spoils(candidate, seen, prints, chosen[0])
    ]
    if not is_telling(seen, seen[chosen[0]].check):
        whole = [one for one in matching if all(one.gives(index, own) for index, own in enumerate(prints))]
        matching = whole or matching
        if says_little(seen, seen[chosen[0]].check):
            matching = [candidate for candidate in matching if shows(source, candidate.traits())]
    if not matching:
        return None
    best = matching[0]
    if len(matching) > 1:
        elsewhere = [index for index in range(len(seen)) if index not in chosen]
        agreeing = [sum(candidate.gives(index, prints[index]) for index in elsewhere) for candidate in matching]
        best = matching[agreeing.index(max(agreeing))]
    return Explanation("mistake", best.name, best.says)


def _spoils(candidate: Candidate, seen: Sequence[Seen], prints: Sequence[Fingerprint], first: int) -> bool:
    """Return True if a mistake fails a check that the answer passed before its first failure.

    In this case the answer has another mistake.
    """
    before = [index for index in range(first) if seen[index].passed and seen[index].check != seen[first].check]
    return not all(candidate.gives(index, prints[index]) for index in before)


def likely(candidates: Iterable[Candidate], seen: Sequence[Seen], prints: Sequence[Fingerprint]) -> Explanation | None:
    """Return the declared mistake that gives the answer's results in most of the trials that the answer fails.

    In the other trials, the results may differ because of a second error, or because the code treats a special case
    differently. Return None if there is no such mistake or more than one.
    """
    wrong = [index for index, trial in enumerate(seen) if not trial.passed]
    telling = [index for index in wrong if len(_telling(seen[index])) >= ENOUGH]
    found: dict[str, Candidate] = {}
    for candidate in candidates if 2 * len(telling) > len(wrong) else ():
        agreeing = sum(candidate.gives(index, prints[index]) for index in telling)
        if agreeing > 1 and 2 * agreeing > len(wrong):
            found[candidate.says] = candidate
    if len(found) != 1:
        return None
    (best,) = found.values()
    return Explanation(
        "likely", best.name, f"For most inputs, your answer gives the same results as this common mistake: {best.says}"
    )


def _wrong_first(chosen: Sequence[int], seen: Sequence[Seen]) -> list[int]:
    """Return trial indices with the failed trials first. In failed trials, most candidates give another result."""
    return sorted(chosen, key=lambda index: seen[index].passed)


def _raises(candidate: Candidate, index: int) -> bool:
    """Return True if a candidate raises an exception in a trial."""
    known = candidate.prints(index)
    return known is not None and known.raised


def is_telling(seen: Sequence[Seen], failed: str) -> bool:
    """Return True if enough different numbers are wrong in a check's trials to rule out a match by chance.

    A number that occurs several times is counted once, because zeros everywhere
    have many causes. An exception is enough, too.
    """
    wrong = [trial for trial in seen if trial.check == failed and not trial.passed]
    return any(trial.error for trial in wrong) or len(set().union(*map(_telling, wrong))) >= ENOUGH


def says_little(seen: Sequence[Seen], failed: str) -> bool:
    """Return True if a check has so few results that other wrong answers may give the same results by chance."""
    if is_telling(seen, failed):
        return False
    wrong = [trial for trial in seen if trial.check == failed and not trial.passed]
    off = [(trial, name, trial.got.get(name)) for trial in wrong for name in trial.got.keys() | trial.expected.keys()]
    tensors = sum(value.numel() for _, _, value in off if isinstance(value, Tensor))
    # Of others, a list that is longer or shorter than it should be counts once.
    others = {
        (id(trial), name if name in trial.got and name in trial.expected else name.partition("[")[0])
        for trial, name, value in off
        if _is_other(value, trial.expected.get(name))
    }
    return tensors + len(others) < FEW


def _is_other(value: object, want: object) -> bool:
    """Return True if neither value is a tensor and the two differ."""
    return not isinstance(value, Tensor) and not isinstance(want, Tensor) and value != want


def _telling(trial: Seen) -> set[object]:
    """Return the wrong numbers in the result of a trial, rounded to 6 decimal places.

    At most 20 numbers of each tensor are returned. The string "NaN" stands for NaN.
    """
    numbers: set[object] = set()
    for name, want in trial.expected.items():
        got = trial.got.get(name)
        if isinstance(got, Tensor) and isinstance(want, Tensor) and got.is_floating_point():
            came, right = got.detach().double().cpu(), want.double()
            if came.shape == right.shape:
                came = came[~torch.isclose(came, right, rtol=1e-5, atol=1e-5 * scale(right), equal_nan=True)]
            numbers.update("NaN" if number != number else round(number, 6) for number in came.flatten()[:20].tolist())
        elif isinstance(got, float) and isinstance(want, float) and got != want:
            # One number with all its digits is nearly enough; with another one it is.
            numbers.update({round(got, 6)} | ({f"{got:.6f}"} if abs(got) not in (0.0, 1.0) else set()))
    return numbers
