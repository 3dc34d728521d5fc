"""Relations in which a part of what came is right, and what came in the other part."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from grader.diagnosis.values.pair import DISTINCT, Pair, Phrase, agree, agreeing, sentence, slice_words

MOSTLY = 0.6  # of the places where something wrong is expected; others may be right by chance
LARGE = 80.0  # exp overflows float32 a little later


def right_beside_diagonal(pair: Pair) -> Iterator[Phrase]:
    """Find that everything wrong lies on one diagonal, or on one side of it."""
    if pair.want.ndim > 1 and pair.want.shape[-1] == pair.want.shape[-2]:
        yield from _wrong_in(_diagonals(pair), pair)


def right_in_part(pair: Pair) -> Iterator[Phrase]:
    """Find the rows, columns or batch entries in which everything wrong lies, and what came there."""
    if pair.want.ndim == 0 or pair.want.numel() <= DISTINCT:
        return
    wrong = ~agreeing(pair.got, pair.want, pair.near)
    if pair.passed or int((~wrong).sum()) >= DISTINCT:
        for phrase in _wrong_in(_regions(pair), pair):
            yield phrase._replace(vague=True)
    if not pair.passed:
        yield from _contents(pair, wrong)


def one_entry(pair: Pair) -> Iterator[Phrase]:
    """Find that the first batch entry alone is right, or the last one, and that something is wrong in each other one."""
    if pair.passed or pair.want.ndim < 3:
        return
    wrong = ~agreeing(pair.got, pair.want, pair.near)
    slices = slice_words(tuple(pair.want.shape), pair.sizes)[:-2]
    views = [(wrong.movedim(axis, 0).flatten(1), words) for axis, words in enumerate(slices)]
    if len(slices) > 1 and not {"heads", "num_heads"} & pair.sizes.keys():
        views.append((wrong.flatten(0, -3).flatten(1), ["batch entry"]))
    for entries, words in views:
        spoilt = entries.any(1).tolist()
        for end, off in (("first", spoilt[0]), ("last", spoilt[-1])):
            if off or 2 * sum(spoilt) <= len(spoilt) - (len(spoilt) == 2):
                continue
            if sum(spoilt) < len(spoilt) - 1:
                yield Phrase(
                    "", kind="free"
                )  # another entry may be right by chance, as where it needs what the first needs
            for word in words if sum(spoilt) == len(spoilt) - 1 else ():
                says = f"Only the {end} {word} of {pair.the} is right."
                yield Phrase(says, kind="free", vague=True, needs=1 if len(spoilt) > 2 else 2)


def _wrong_in(regions: list[tuple[str, Tensor]], pair: Pair) -> Iterator[Phrase]:
    """Yield the phrases of the regions in which everything wrong lies; of a right answer, of those that are not empty."""
    if pair.passed:
        for says, region in regions:
            if region.any():
                yield Phrase(says, kind="region")
        return
    wrong = ~agreeing(pair.got, pair.want, pair.near)
    for says, region in sorted(regions, key=lambda region: int(region[1].sum())):
        right = int((~region & ~wrong).sum())
        if (wrong & ~region).any() or right < DISTINCT:
            continue
        # Of floats a zero may be right by chance.
        doubtful = region if pair.discrete else region & ((pair.want != 0) | wrong)
        if int((wrong & region).sum()) >= MOSTLY * max(int(doubtful.sum()), 1):
            yield Phrase(says, kind="region")


def _diagonals(pair: Pair) -> list[tuple[str, Tensor]]:
    """Return phrases about a diagonal, each with the places where it says that something is wrong."""
    ones = torch.ones(pair.want.shape, dtype=torch.bool)
    above, below = ones.triu(1), ones.tril(-1)
    return [
        (f"Only the diagonal of {pair.the} came out wrong.", ~above & ~below),
        (f"Only the diagonal of {pair.the} came out right.", above | below),
        (f"Only one place above the diagonal, {pair.the} came out wrong.", ones.triu(1) & ones.tril(1)),
        (f"Only one place below the diagonal, {pair.the} came out wrong.", ones.tril(-1) & ones.triu(-1)),
        (f"{sentence(pair.the)} came out wrong above the diagonal, and right elsewhere.", above),
        (f"{sentence(pair.the)} came out wrong below the diagonal, and right elsewhere.", below),
    ]


def _regions(pair: Pair) -> list[tuple[str, Tensor]]:
    """Return phrases, each with the places where it says that something is wrong."""
    shape, the = pair.want.shape, pair.the
    found: list[tuple[str, Tensor]] = []
    for axis, words in enumerate(slice_words(tuple(shape), pair.sizes)):
        if shape[axis] == 1:
            continue
        first, last = _slice(pair.want, axis, 0), _slice(pair.want, axis, shape[axis] - 1)
        for word in words:
            if shape[axis] > 2:
                found.append((f"Only the first {word} of {the} is wrong.", first))
                found.append((f"Only the last {word} of {the} is wrong.", last))
                found.append((f"Only the first and the last {word} of {the} are wrong.", first | last))
    if pair.discrete:
        return [(sentence(says), region) for says, region in found]
    negative, zero = pair.want < 0, pair.want == 0
    if negative.any():
        found.append((f"{the} came out wrong only where a number below 0 is due.", negative))
        found.append((f"{the} came out wrong only where a number above 0 is due.", pair.want > 0))
    if zero.any():
        found.append((f"{the} came out wrong only where 0 is due.", zero))
    return [(sentence(says), region) for says, region in found]


def _slice(like: Tensor, axis: int, index: int) -> Tensor:
    places = torch.zeros(like.shape, dtype=torch.bool)
    places.select(axis, index).fill_(True)
    return places


def empty_rows(pair: Pair) -> Iterator[Phrase]:
    """Find that rows came wrong that should be all zeros, because nothing may be attended to there."""
    if pair.discrete or pair.want.ndim < 1 or pair.want.shape[-1] < 2:
        return
    says = f"Where a whole row of {pair.the} should be 0, because nothing may be attended to there,"
    endings = {
        "nan": "NaN came: 0 divided by 0, or −∞ less −∞.",
        "even": "all numbers came out equal, as a softmax makes of equal scores.",
        "any": "something else came.",
    }
    wrong = ~agreeing(pair.got, pair.want, pair.near)
    for axis in reversed(range(pair.want.ndim)):  # rows of a softmax may lie along any axis
        empty = (pair.want == 0).all(axis, keepdim=True).expand_as(pair.want)
        if not empty.any() or pair.want.shape[axis] < 2:
            continue
        if pair.passed:
            for ending in endings.values():
                yield Phrase(f"{says} {ending}", kind="region", needs=0)
            return
        if (wrong & ~empty).any() or not wrong.any():
            continue
        spoilt = (empty & wrong.any(axis, keepdim=True)).movedim(axis, -1)
        rows = pair.got.movedim(axis, -1)[spoilt].reshape(-1, pair.want.shape[axis])
        if rows.isnan().all():
            yield Phrase(f"{says} {endings['nan']}", kind="region", needs=0)
        elif rows.isfinite().all() and agree(rows, rows[:, :1].expand_as(rows), pair.near):
            yield Phrase(f"{says} {endings['even']}", kind="region", needs=0)
        yield Phrase(f"{says} {endings['any']}", kind="region", needs=0)


def overflow(pair: Pair) -> Iterator[Phrase]:
    """Find that what came is not finite in the trials of large inputs."""
    large = any(
        tensor.is_floating_point() and tensor.numel() and _spread(tensor) > LARGE
        for tensor in pair.inputs.values()
    )
    says = f"With large numbers {pair.the} came out as NaN or infinite: exp of a number above 88 is too large for float32."
    if pair.passed:
        if large:
            yield Phrase(says, kind="region")
    elif large and not pair.got.isfinite().all() and pair.want.isfinite().all():
        yield Phrase(says, kind="region")


def _spread(tensor: Tensor) -> float:
    """Return how far apart the finite numbers of a tensor are, or how large one is."""
    finite = tensor[tensor.isfinite()].double()
    return float(finite.max() - finite.min()) if finite.numel() else 0.0


def _contents(pair: Pair, wrong: Tensor) -> Iterator[Phrase]:
    """Say what came at the wrong places, if it is the same everywhere there."""
    came = pair.got[wrong]
    if not came.numel():
        return
    everywhere = bool(wrong[pair.want != 0].all()) if bool((pair.want != 0).any()) else bool(wrong.all())
    if came.numel() < DISTINCT and not everywhere:
        return
    if came.isnan().all():
        where = "everywhere in" if wrong.all() else "in some places of"
        yield Phrase(
            f"NaN came {where} {pair.the}{'' if wrong.all() else '; the others are right'}.",
            kind="free",
            vague=True,
        )
    elif bool((came == 0).all()) and not pair.discrete:
        if everywhere:
            yield Phrase(f"Every number of {pair.the} is 0.", kind="free")
        else:
            yield Phrase(
                f"Some numbers of {pair.the} are 0 where they should not be; the others are right.",
                kind="free",
                vague=True,
            )
    elif came.isinf().all():
        yield Phrase(f"All wrong numbers of {pair.the} are infinite.", kind="free", vague=True)
    elif came.numel() > 1 and float(came.max()) == float(came.min()) and everywhere and not pair.discrete:
        yield Phrase(f"One and the same number came everywhere in {pair.the}.", kind="free", vague=True)


def whole_numbers(pair: Pair) -> Iterator[Phrase]:
    """Find what relates True and False, or whole numbers, to those that are due."""
    if not pair.discrete or pair.want.ndim == 0:
        return
    if pair.yes_or_no:
        yield from _yes_and_no(pair)
    elif not pair.passed:
        yield from _whole(pair)


def _yes_and_no(pair: Pair) -> Iterator[Phrase]:
    if agree(pair.got, 1 - pair.want, pair.near):
        yield Phrase(
            f"{sentence(pair.the)} came out turned around: True where False is due, and False where True is due."
        )
    if pair.passed:
        return
    if bool((pair.got == 1).all()):
        yield Phrase(f"{sentence(pair.the)} came out True everywhere.", kind="free")
    elif bool((pair.got == 0).all()):
        yield Phrase(f"{sentence(pair.the)} came out False everywhere.", kind="free")
    more = (pair.got - pair.want).sum(-1)
    grown, shrunk = bool((pair.got >= pair.want).all()), bool((pair.got <= pair.want).all())
    if not grown and not shrunk:
        return
    way = "many" if grown else "few"
    rows = (pair.want.sum(-1) < pair.want.shape[-1]) if grown else (pair.want.sum(-1) > 0)
    needs = 1 if int(rows.sum()) > 1 else 2
    if rows.any() and bool((more[rows].abs() == 1).all()) and bool((more[~rows] == 0).all()):
        yield Phrase(f"Each row of {pair.the} has one True too {way}.", kind="free", needs=needs)


def too_many(pair: Pair) -> Iterator[Phrase]:
    """Find that all wrong places are True, or all are False."""
    if not pair.yes_or_no or pair.passed:
        return
    for way, holds in (("many", pair.got >= pair.want), ("few", pair.got <= pair.want)):
        if holds.all():
            yield Phrase(
                f"{sentence(pair.the)} came out with too {way} True; the others are right.",
                kind="free",
                vague=True,
            )


def _whole(pair: Pair) -> Iterator[Phrase]:
    """Say that one number stands where another is due, or where others are."""
    wrong = pair.got != pair.want
    came, due = set(pair.got[wrong].tolist()), set(pair.want[wrong].tolist())
    needs = 1 if int(wrong.sum()) > 1 else 2
    if len(due) == 1:
        for one in _number_names(next(iter(due)), pair):
            for other in _number_names(next(iter(came)), pair) if len(came) == 1 else ():
                says = f"In {pair.the}, {other} stands where {one} is due; all else is right."
                yield Phrase(says, kind="free", needs=needs)
            says = f"In {pair.the}, another number stands where {one} is due; all else is right."
            yield Phrase(says, kind="free", needs=needs, vague=True)
    if len(came) == 1:
        for one in _number_names(next(iter(came)), pair):
            says = f"In {pair.the}, {one} stands where another number is due; all else is right."
            yield Phrase(says, kind="free", needs=needs, vague=True)
    if len(came) == len(due) == 1:
        says = f"In {pair.the}, one number stands where another is due; all else is right."
        yield Phrase(says, kind="free", needs=needs, vague=True)


def _number_names(number: float, pair: Pair) -> list[str]:
    """Return what a phrase may call a number: the argument that has this value, and the number itself."""
    named = [
        name
        for name, value in pair.sizes.items()
        if value == number and not isinstance(value, bool) and name.endswith(("_id", "_index"))
    ]
    return [*named, f"{number:.0f}".replace("-", "−")]
