"""Every number and every "because" of lesson 1 that needs a trained pointer, measured again."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from statistics import fmean, stdev

import pytest
import torch
from attention.data.digits import draw_scenes
from attention.experiments.digit_pointer import Looks, Pointer, draw_looks, draw_start, found
from attention.pointer_loss import pointer_loss
from attention.single_head import CrossAttention
from torch import Tensor
from torch.nn import functional as F

from tests.solutions.prose_1 import SCRIPT, claims, numbers, said

EVERYTHING = ("embedding.weight", "W_Q.weight", "W_K.weight")


class OtherPointer(Pointer):
    """The pointer with another d_k, with or without the root."""

    def __init__(self, d_k: int, root: bool) -> None:
        super().__init__()
        self.attention, self.root = CrossAttention(64, 64, d_k), d_k**0.5 if root else 1

    def scores(self, words: Tensor, patches: Tensor) -> Tensor:
        query, key = self.attention.W_Q(self.embedding(words)), self.attention.W_K(patches)
        return torch.einsum("bd,bkd->bk", query, key) / self.root

    def forward(self, words: Tensor, patches: Tensor) -> Tensor:
        return torch.softmax(self.scores(words, patches), -1)


@cache
def trained(
    seed: int,
    d_k: int = 32,
    root: bool = True,
    learned: tuple[str, ...] = EVERYTHING,
    rate: float = 3e-3,
    loss_of: Callable = lambda pointer, words, patches, target: pointer_loss(pointer(words, patches), target),
    steps: int = 300,
) -> tuple:
    """A pointer trained as in the notebook, or with another loss, and its losses, up to one that is not finite."""
    pointer = OtherPointer(d_k, root)
    draw_start(pointer, seed)
    chosen = [one for name, one in pointer.named_parameters() if name.endswith(learned)]
    optimizer = torch.optim.Adam(chosen, lr=rate)
    generator = torch.Generator().manual_seed(seed)
    losses = []
    for _ in range(steps):
        loss = loss_of(pointer, *draw_looks(128, generator))
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return pointer.requires_grad_(False), losses


def fused(pointer: OtherPointer, words: Tensor, patches: Tensor, target: Tensor) -> Tensor:
    """The loss with softmax and logarithm in one function."""
    return F.cross_entropy(pointer.scores(words, patches), target)


def squared(pointer: OtherPointer, words: Tensor, patches: Tensor, target: Tensor) -> Tensor:
    """The squared distance from all weight on the target: no logarithm helps a small weight."""
    return (pointer(words, patches) - F.one_hot(target, 9)).square().sum(-1).mean()


def cosines(pointer: Pointer, words: Tensor, patches: Tensor) -> Tensor:
    """How similar each word's vector is to the pixels of each patch."""
    return F.cosine_similarity(pointer.embedding(words).unsqueeze(1), patches, dim=-1)


@cache
def unseen(seed: int) -> Looks:
    return draw_looks(2000, torch.Generator().manual_seed(seed + 1), "test")


@cache
def untrained(seed: int) -> Pointer:
    pointer = Pointer().requires_grad_(False)
    draw_start(pointer, seed)
    return pointer


def share(pointer: Pointer, seed: int) -> float:
    words, patches, target = unseen(seed)
    return found(pointer(words, patches), target)


def test_the_pointer_before_and_after_training() -> None:
    before = [share(untrained(seed), seed) for seed in range(3)]
    after = [share(trained(seed)[0], seed) for seed in range(3)]
    got = numbers("hits goes from #, # and # before training to #, # and # after.")
    # Rounding differs from machine to machine, and with it the last digit after 300 steps.
    assert got == pytest.approx([*before, *after], abs=0.011)
    said("dotted chance line at #; trained attention reaches beyond", 1 / 9)
    said("Chance is #, one patch of nine", 1 / 9)
    claims("a random start may lie to either side of it")
    assert share(untrained(3), 3) < 1 / 9 < before[0]
    assert min(after) > numbers("trained attention reaches beyond #.")[0]
    losses = trained(0)[1]
    first, last = numbers("falls from #, above the dotted line of a uniform map, to #, the mean of the last twenty")
    assert (first, last) == (pytest.approx(losses[0], abs=0.006), pytest.approx(sum(losses[-20:]) / 20, abs=0.011))
    assert first > math.log(9)


def test_cosine_similarity_stays_near_chance_and_so_does_the_untrained_map() -> None:
    low, high = numbers("and untrained attention lie between # and #, near")
    least, most = numbers("even with the word vectors of the trained pointer: between # and # over")
    for seed in range(3):
        words, patches, target = unseen(seed)
        shares = [
            found(F.cosine_similarity(one.embedding(words).unsqueeze(1), patches, dim=-1), target)
            for one in (untrained(seed), trained(seed)[0])
        ]
        assert all(least <= one <= most for one in shares), shares
        assert seed or all(low <= one <= high for one in (*shares, share(untrained(0), 0)))


def test_words_that_are_trained_for_the_cosine_are_found_by_it() -> None:
    """The control to "Something must be trained *for the comparison*": 0.96 to 0.97, where other words stay near 0.11."""
    claims("Something must be trained *for the comparison*.")
    pointer, _ = trained(
        0,
        learned=EVERYTHING[:1],
        rate=3e-2,
        loss_of=lambda one, words, patches, target: F.cross_entropy(10 * cosines(one, words, patches), target),
    )
    words, patches, target = unseen(0)
    assert found(cosines(pointer, words, patches), target) > 0.9


class Nowhere(OtherPointer):
    """One more key stands for "nowhere"."""

    def __init__(self) -> None:
        super().__init__(32, root=True)
        self.nowhere = torch.nn.Parameter(torch.zeros(32))

    def forward(self, words: Tensor, patches: Tensor) -> Tensor:
        query, key = self.attention.W_Q(self.embedding(words)), self.attention.W_K(patches)
        key = torch.cat([key, self.nowhere.expand(len(key), 1, -1)], 1)
        return torch.softmax(torch.einsum("bd,bkd->bk", query, key) / self.root, -1)


def draw_with_absent(count: int, generator: torch.Generator, absent: float, split: str = "train") -> Looks:
    """As `draw_looks`, but some words ask for the digit that the scene lacks; their target is the tenth key."""
    patches, labels = draw_scenes(count, generator, split)
    target = torch.randint(9, (count,), generator=generator)
    shown, lacking = labels.gather(1, target.unsqueeze(1)).squeeze(1), F.one_hot(labels, 10).sum(1).argmin(1)
    asked_for = torch.rand(count, generator=generator) < absent
    return Looks(torch.where(asked_for, lacking, shown), patches, target.masked_fill(asked_for, 9))


def test_a_key_for_nowhere_needs_scenes_that_lack_the_digit() -> None:
    """Absent digits that get the tenth key, at three seeds: 0.94 to 0.97; below 0.01 where no word in training is absent."""
    claims('One more key that stands for "nowhere", and scenes in training that lack the digit, would give')
    words, patches, target = draw_with_absent(2000, torch.Generator().manual_seed(1), 0.5, "test")
    found_nowhere = []
    for absent in (0.5, 0.0):
        pointer = Nowhere()
        draw_start(pointer, 0)
        with torch.no_grad():
            pointer.nowhere.zero_()
        optimizer, generator = torch.optim.Adam(pointer.parameters(), lr=3e-3), torch.Generator().manual_seed(0)
        for _ in range(300):
            one = draw_with_absent(128, generator, absent)
            loss = pointer_loss(pointer(one.words, one.patches), one.target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        looks = pointer(words, patches).argmax(-1)
        found_nowhere.append((looks == 9)[target == 9].float().mean())
        assert (looks == target)[target < 9].float().mean() > 0.85
    assert found_nowhere[1] < 0.05 < 0.85 < found_nowhere[0]


@pytest.mark.slow(held_by="tests/solutions/test_numbers_1_trained.py::test_the_pointer_before_and_after_training")
def test_with_ten_times_the_steps_words_alone_get_there() -> None:
    """Words alone, at three seeds: 0.93 to 0.94, where W_Q alone has 0.93 to 0.95 after 300 steps."""
    claims("in this time, with this step, the matrices get there first")
    assert share(trained(0, learned=EVERYTHING[:1])[0], 0) < 0.85
    assert share(trained(0, learned=EVERYTHING[:1], steps=3000)[0], 0) > 0.9


@pytest.mark.slow(held_by="tests/solutions/test_numbers_1_trained.py::test_the_pointer_before_and_after_training")
def test_what_has_to_be_learned() -> None:
    words = [share(trained(seed, learned=EVERYTHING[:1])[0], seed) for seed in range(3)]
    projections = [share(trained(seed, learned=EVERYTHING[1:])[0], seed) for seed in range(3)]
    everything = [share(trained(seed)[0], seed) for seed in range(3)]
    low, high = numbers("seeds 0, 1 and 2 it is # to #. Is W_Q")
    assert [low, high] == pytest.approx([min(words), max(words)], abs=0.011)
    assert numbers("Words alone reach **#**;") == pytest.approx(words[:1], abs=0.011)
    assert numbers("W_Q and W_K alone reach **#**, as much") == pytest.approx(projections[:1], abs=0.011)
    rate, usual = numbers("with a learning rate of # in place of #")
    bold = [share(trained(seed, learned=EVERYTHING[:1], rate=rate)[0], seed) for seed in range(3)]
    asking = [share(trained(seed, learned=EVERYTHING[1:2], rate=usual)[0], seed) for seed in range(3)]
    low, high, again = numbers("words alone reach # to #, as W_Q alone does with #.")
    assert again == usual
    assert all(low - 0.011 <= one <= high + 0.011 for one in (*bold, *asking)), (bold, asking)
    assert projections == pytest.approx(everything, abs=0.011)
    low, high = numbers("in W_Q or in W_K (either one alone reaches # to #)")
    either = asking + [share(trained(seed, learned=EVERYTHING[2:])[0], seed) for seed in range(3)]
    assert all(low - 0.011 <= one <= high + 0.011 for one in either), either
    assert max(words) < min(projections) - 0.1


@pytest.mark.slow(held_by="tests/solutions/test_numbers_1_trained.py::test_the_pointer_before_and_after_training")
def test_what_is_lost_without_the_root_is_lost_to_long_steps():
    """Not to the lottery of gradients: it is there with a fifth of the learning rate, too, and the loss is not."""
    claims("With a fifth of the learning rate the lottery is the same, and most of the loss is gone.")
    told = numbers("d_k = 512, squared distance, 5 seeds | # ± # | # ± # | # ± # |")
    reached = [
        [share(trained(seed, 512, root, rate=rate, loss_of=squared)[0], seed) for seed in range(5)]
        for root, rate in ((True, 3e-3), (False, 3e-3), (False, 3e-3 / 5))
    ]
    for shares, (mean, deviation) in zip(reached, zip(told[::2], told[1::2], strict=True), strict=True):
        # One processor rounds these wide trainings to 0.90 without the root, another to 0.92.
        assert fmean(shares) == pytest.approx(mean, abs=0.03)
        assert stdev(shares) == pytest.approx(deviation, abs=0.03)
    with_root, without, slowly = (fmean(shares) for shares in reached)
    said("the wide pointer loses #.", round(told[0] - told[2], 2))
    assert with_root - slowly < 0.5 * (with_root - without)
    said("moves the scores √512 = # times as far", 512**0.5)
    claims("with a fifth of the learning rate none does either")
    gentle = [trained(seed, 512, root=False, rate=3e-3 / 5) for seed in range(3)]
    assert all(math.isfinite(losses[-1]) for _, losses in gentle)
    (told,) = numbers("d_k = 512, our loss, 3 seeds | 0.97 | breaks off | # |")
    assert [share(pointer, seed) for seed, (pointer, _) in enumerate(gentle)] == pytest.approx([told] * 3, abs=0.015)


@pytest.mark.slow(held_by="tests/solutions/test_numbers_1_trained.py::test_the_pointer_before_and_after_training")
def test_the_root_matters_where_the_head_is_wide() -> None:
    narrow = [share(trained(seed, root=False)[0], seed) for seed in range(3)]
    with_root = [share(trained(seed)[0], seed) for seed in range(3)]
    ends = numbers("d_k = 32, our loss, 3 seeds | # | # | |")
    assert [ends[0]] * 3 + [ends[1]] * 3 == pytest.approx(with_root + narrow, abs=0.011)
    broken, sound = trained(0, 512, root=False)[1], trained(0, 512)[1]
    said("With our loss the first value is **#** instead of **#**", broken[0], sound[0])
    said("instead of **2.6**, and training ends at step #:", len(broken) - 1)
    claims("the weight on some right patch is so small that it is rounded to 0, the logarithm of 0 is −∞")
    assert broken[-1] == math.inf
    claims("(Seed 2 breaks off as well;")
    assert not math.isfinite(trained(2, 512, root=False)[1][-1])
    reached = [share(trained(seed, 512)[0], seed) for seed in range(3)]
    assert numbers("d_k = 512, our loss, 3 seeds | # | breaks off | 0.97 |") * 3 == pytest.approx(reached, abs=0.011)
    claims("whether seed 1 does, rounding decides")
    pointer, losses = trained(1, 512, root=False)
    assert not math.isfinite(losses[-1]) or share(pointer, 1) < reached[1]
    mean, deviation = numbers("`F.cross_entropy` of the scores, 5 seeds | | # ± # | |")
    claims("Where softmax and logarithm are one function (`F.cross_entropy`), no seed breaks off")
    whole = [share(trained(seed, 512, root=False, loss_of=fused)[0], seed) for seed in range(5)]
    assert (fmean(whole), stdev(whole)) == (pytest.approx(mean, abs=0.011), pytest.approx(deviation, abs=0.01))


def test_where_the_pointer_looks_depends_on_the_word() -> None:
    pointer = trained(0)[0]
    words, patches, target = unseen(0)
    p = pointer(words, patches)[[0, 1, 4]]
    inside = p.gather(1, target[[0, 1, 4]].unsqueeze(1)).squeeze(1).tolist()
    other = p[2].sort().values[-2].item()
    got = numbers("puts #, # and # of its weight into the frame: in the third scene another digit gets #.")
    assert got == pytest.approx([*inside, other], abs=0.04)
    assert found(pointer(words.roll(1), patches), target) < 0.2  # asked for another scene's digit
    scene, labels = draw_scenes(1, torch.Generator().manual_seed(2), "test")
    nine = scene.expand(9, -1, -1)
    claims("The trained one does; the untrained one does not.")
    assert found(pointer(labels[0], nine), torch.arange(9)) == 1
    assert found(untrained(0)(labels[0], nine), torch.arange(9)) < 0.5


def test_values_tell_what_keys_do_not() -> None:
    pointer = trained(0)[0]
    words, patches, target = unseen(0)
    keys, p = pointer.attention.W_K(patches), pointer(words, patches).unsqueeze(1)
    own, same = (F.cosine_similarity(p @ one, keys, dim=-1).argmax(-1) for one in (keys.roll(-1, 1), keys))
    shares = [(named == (target + step) % 9).double().mean().item() for named, step in ((own, 1), (same, 1), (same, 0))]
    got = numbers("the neighbour is named in **#** of the scenes, with K = V in **#**.")
    got += numbers("what comes back is the digit that was asked for (**#**)")
    assert got == pytest.approx(shares, abs=0.011)
    assert shares[1] < 0.01 < 1 / 9  # "far *below* chance"
    assert numbers("comes back in # of the scenes and its neighbour in #.") == got[:0:-1]


def test_the_readme_says_what_the_pointer_finds() -> None:
    readme = (SCRIPT.parents[1] / "README.md").read_text("utf-8")
    places = re.findall(r"it finds\s(\d+) of\s100 digits; random guesses find (\d+)\.", readme)
    assert places == [(f"{100 * share(trained(0)[0], 0):.0f}", f"{100 / 9:.0f}")]
