"""Relations between attention weights: rows that sum to 1, and what their softmax or their mask has gone through."""

from collections.abc import Iterator

import torch
from torch import Tensor

from grader.explain.values.pair import DISTINCT, Pair, Phrase, agree, sentence


def weights(pair: Pair) -> Iterator[Phrase]:
    """Find what relates two sets of weights; nothing unless rows of at least two numbers are due that sum to 1 or are 0."""
    if pair.discrete or pair.passed or pair.want.ndim < 1 or pair.want.shape[-1] < 2:
        return
    sums = pair.want.sum(-1)
    full = (sums - 1).abs() < 1e-3
    if bool((pair.want < 0).any()) or not bool((full | (sums == 0)).all()) or not bool(full.any()):
        return
    if not pair.got.isfinite().all() or bool((pair.got < 0).any()):
        return
    yield from _softmax_elsewhere(pair)
    yield from _hidden(pair, full)


def _softmax_elsewhere(pair: Pair) -> Iterator[Phrase]:
    """Find an axis over which what came sums to 1, other than the last; or several."""
    if pair.want.ndim < 2 or bool((pair.got.sum(-1) - 1).abs().max() < pair.near):
        return
    shape = pair.want.shape
    if 1 in shape[:-1]:
        yield Phrase("")  # along an axis of one number a softmax gives 1, and says nothing
    for axis in reversed(range(pair.want.ndim - 1)):
        sums = pair.got.sum(axis)
        if shape[axis] < 2 or not bool(((sums - 1).abs().minimum(sums.abs()) < pair.near).all()):
            continue
        several = (pair.got > pair.near).sum(axis) > 1  # a single 1 adds up to 1 along any axis
        if int(several.sum()) < DISTINCT or bool(((pair.got > 0) & (pair.want == 0)).any()):
            continue
        noun = "columns" if axis == pair.want.ndim - 2 else "numbers along this axis"
        for place in (f"−{pair.want.ndim - axis}", f"{axis}"):
            yield Phrase(
                f"In {pair.the}, the {noun} sum to 1, and not the rows: does the softmax run over axis {place}, or were they turned?",
                kind="free",
            )
        yield Phrase(
            f"In {pair.the}, the numbers along another axis than the last sum to 1, and not the rows.", kind="free"
        )


def _hidden(pair: Pair, full: Tensor) -> Iterator[Phrase]:
    """Find that hidden places got weight, or that places are hidden that should not be."""
    got, want, some = pair.got[full], pair.want[full], pair.want[full] > 0
    sums = got.sum(-1)
    ones = torch.ones_like(sums)
    if bool((~some).any()) and bool(((got > 0) == ~some).all()):
        yield Phrase(
            f"{sentence(pair.the)} came out with weight on what is hidden, and with none on what may be seen: the mask is turned around.",
            kind="free",
        )
        return
    if bool((~some).any()) and bool((got[~some] > 0).any()) and agree(sums, ones, pair.near):
        masked = any("mask" in name for name in pair.inputs)
        question = " Is the mask used, and do hidden scores become −∞?" if masked else ""
        kept = torch.where(some, got, 0.0)
        share = kept / kept.sum(-1, keepdim=True).clamp_min(1e-12)
        if agree(share, want, 10 * pair.near) and int(some.sum()) - int(full.sum()) >= 1:
            yield Phrase(
                f"In {pair.the}, some get weight where 0 is due; the others are right among themselves.{question}",
                kind="free",
            )
        else:
            yield Phrase(f"In {pair.the}, some get weight where 0 is due.", kind="free", vague=True)
    extra = some & (got == 0)
    if not extra.any() or bool((got[~some] > 0).any()):
        return
    kept = torch.where(extra, 0.0, want)
    share = kept / kept.sum(-1, keepdim=True).clamp_min(1e-12)
    if not agree(got, share, 10 * pair.near):
        return
    if bool((pair.got == pair.got.tril()).all()) and pair.want.ndim > 1 and _all_above(pair):
        yield Phrase(f"In {pair.the}, nobody looks ahead: there is a causal mask that is not asked for.", kind="free")
    yield Phrase(f"In {pair.the}, some are 0 that should not be.", kind="free", vague=True)


def _all_above(pair: Pair) -> bool:
    ones = torch.ones(pair.want.shape, dtype=torch.bool)
    return bool(((pair.got > 0) == (ones.tril() & (pair.want > 0))).all())
