"""Every number in lesson 2's prose, computed again and compared with what the script says."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import jupytext
import pytest
import torch
from attention.ablation import ablate_head
from attention.alignment import TokenAligner, alignment_loss, explained_variance
from attention.digits import digits
from attention.heads import split_heads
from attention.matching import draw_linear, matching_accuracy, train_aligner, word_vectors
from attention.multi_head import MultiHeadAttention
from attention.patterns import attention_entropy
from attention.reader import TwoCellReader, draw_reading, train_reader
from torch import nn

SCRIPT = Path(__file__).parents[2] / "solutions" / "2-heads.py"
PROSE = " ".join(
    " ".join(cell.source.split())
    for cell in jupytext.read(SCRIPT, fmt="py:percent").cells
    if cell.cell_type == "markdown"
)


def says(pattern: str) -> list[float]:
    """The numbers in the groups of a pattern, which the prose must hold exactly once.

    `#` in the pattern stands for a number: 0.967, 2,080, −1.
    """
    found = re.findall(pattern.replace("#", r"(−?\d[\d,]*(?:\.\d+)?)"), PROSE)
    assert len(found) == 1, f"{len(found)} times in the prose: {pattern}"
    groups = found[0] if isinstance(found[0], tuple) else (found[0],)
    return [float(group.replace(",", "").replace("−", "-")) for group in groups]


def size(layer: nn.Module) -> int:
    return sum(parameter.numel() for parameter in layer.parameters())


def test_a_number_that_is_not_in_the_prose_is_noticed():
    with pytest.raises(AssertionError, match="0 times in the prose"):
        says("# unicorns")


def test_sizes_of_the_aligners():
    width_in, width_out, bias, linear = says(r"has # · # \+ # = # numbers to learn")
    assert linear == width_in * width_out + bias == size(TokenAligner(64, 32))
    first, side, again, more, mlp = says(r"and the two-layer form # \+ # · # \+ # = #\.")
    assert first == linear
    assert mlp == first + side * again + more == size(TokenAligner(64, 32, "mlp"))


def test_the_aligner_by_hand():
    one, _, _ = says(r"the aligned token is \$\(# \+ 6 \+ 0\.5,\\; 2 - 3\) = \(#, (-?\d+)\)\$")
    weight, bias = torch.tensor([[1.0, 0, 2], [0, 1, -1]]), torch.tensor([0.5, 0])
    x, y = (weight @ torch.tensor([1.0, 2, 3]) + bias).tolist()
    assert one == 1
    assert says(r"2 - 3\) = \(#, (-?\d+)\)\$") == [x, y]


def test_explained_variance_by_hand():
    *_, share = says(r"\(1 \+ 4\) / \(1 \+ 4 \+ 9\) = #")
    signs = torch.tensor([[a, b, c] for a in (-1.0, 1) for b in (-1.0, 1) for c in (-1.0, 1)])
    tokens = signs * torch.tensor([1.0, 2, 3])
    assert share == round(explained_variance(tokens, tokens[:, :2]).item(), 3)


def test_variance_of_pixels():
    skipping, upper = says(r"Every second pixel keeps more, # against #")
    patches = digits("test").patches
    assert skipping == round(explained_variance(patches, patches[:, ::2]).item(), 2)
    assert upper == round(explained_variance(patches, patches[:, :32]).item(), 2)


def test_the_loss_by_hand():
    (loss,) = says(r"\\log\(1 \+ e\^\{-2\}\) = #\$")
    two = alignment_loss(torch.tensor([[1.0, 0]]), torch.eye(2), torch.tensor([0]), temperature=0.5)
    assert loss == round(two.item(), 3)
    assert PROSE.count(f"Expected: {loss} for the example above") == 1
    (chance,) = says(r"\\log 2 = #\$")
    even = alignment_loss(torch.tensor([[1.0, 1]]), torch.eye(2), torch.tensor([0]), temperature=0.5)
    assert chance == round(even.item(), 3)


def test_sizes_of_the_data():
    learned, tested = says(r"# patches are there to learn from, # patches of other handwriting")
    assert (learned, tested) == (len(digits("train").labels), len(digits("test").labels))


@cache
def matched(name: str) -> tuple[float, float]:
    aligner = {
        "mlp": TokenAligner(64, 32, "mlp"),
        "half": nn.Sequential(FirstHalf(), TokenAligner(32, 32)),
    }.get(name, TokenAligner(64, 32))
    words = word_vectors(0)
    draw_linear(aligner, 0)
    if name != "random":
        train_aligner(aligner, words, 200, 0)
    patches, labels = digits("test")
    with torch.no_grad():
        aligned = aligner(patches)
    return matching_accuracy(aligned, words, labels), explained_variance(patches, aligned).item()


class FirstHalf(nn.Module):
    def forward(self, tokens):
        return tokens[..., :32]


# Training adds up rounding: another processor may end one or two digits away.
NEAR = 0.012


def test_what_alignment_keeps_and_brings():
    kept, right = says(r"the random aligner keeps # of the variance and matches # of the patches")
    assert matched("random") == pytest.approx((right, kept), abs=NEAR)
    kept, right = says(r"The mlp keeps #, least of the three full-width aligners, and matches best, #\.")
    assert matched("mlp") == pytest.approx((right, kept), abs=NEAR)
    half, linear = says(r"the aligner stops at #, where the linear one with all pixels reaches #\.")
    assert (matched("half")[0], matched("linear")[0]) == pytest.approx((half, linear), abs=NEAR)
    assert matched("mlp")[1] < matched("linear")[1] < matched("random")[1]
    assert matched("mlp")[0] > matched("linear")[0] > matched("half")[0] > matched("random")[0]


def test_two_tokens_split_into_two_heads():
    tokens = torch.tensor([[0, 1, 2, 3], [10, 11, 12, 13]])
    script = SCRIPT.read_text("utf-8").replace(" ", "")
    for head, numbers in enumerate(split_heads(tokens, 2).tolist()):
        assert f"head {head}: {numbers}".replace(" ", "") in script
    assert f"head 0 would be `{tokens.reshape(2, 2, 2)[0].tolist()}`" in PROSE


def test_scale_and_size_of_many_heads():
    d_model, heads, d_head, root, whole, wrong = says(
        r"With d_model = # and # heads, divide by √# = #, not by √# = #\."
    )
    assert d_head == d_model / heads
    assert (root, whole, wrong) == (math.sqrt(d_head), d_model, math.sqrt(d_model))
    four, side, again, total, width = says(
        r"four square matrices are (4) · # · # = # numbers for d_model = #,"
    )
    assert total == four * side * again
    assert {size(MultiHeadAttention(int(width), heads)) for heads in (1, 8)} == {int(total)}


def test_entropy_by_hand():
    (half,) = says(r"log 2 / log 4 = #\.")
    weights = torch.tensor([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    assert attention_entropy(weights).tolist() == pytest.approx([0, half, 1])


# ---------------------------------------------------------------- the readers


@cache
def reader(heads: int, seed: int = 0) -> TwoCellReader:
    return train_reader(heads, 600, seed)


@cache
def unseen():
    return draw_reading(2000, torch.Generator().manual_seed(99), "test")


def right(one: TwoCellReader, without: int | None = None) -> tuple[float, float, float]:
    """First digit, second digit, both."""
    patches, cells, answers = unseen()
    with torch.no_grad():
        asked = one.ask(patches, cells)
        output = one.attention(*asked)[0] if without is None else ablate_head(one.attention, without, *asked)
        found = one.answer(output).argmax(-1) == answers
    first, second = found.float().mean(0).tolist()
    return first, second, found.all(1).float().mean().item()


def test_the_experiment_is_the_one_described():
    steps, batch, scenes = says(r"Each reader sees # batches of # fresh scenes and is tested on # scenes")
    assert (steps, batch, scenes) == (600, 128, len(unseen()[0]))
    assert "draw_reading(128, generator)" in (SCRIPT.parents[1] / "source/attention/reader.py").read_text(
        "utf-8"
    )


def test_one_head_reads_one_of_two():
    (most,) = says(r"on every seed it stays below #, which")
    first, second, both = right(reader(1))
    assert both < most
    assert max(first, second) > 0.9


def test_two_heads_share_a_cell_with_seed_0():
    assert right(reader(2))[2] < 0.2


def test_four_heads_read_both():
    least, most = says(r"four heads get both digits right in # to # of the scenes")
    assert least - NEAR <= right(reader(4))[2] <= most + NEAR


def test_which_head_looks_where():
    (share,) = says(r"head 1 looks at the first cell in # of the scenes")
    patches, cells, _ = unseen()
    with torch.no_grad():
        _, maps = reader(4)(patches, cells)
    looks = (maps.argmax(-1, keepdim=True) == cells.unsqueeze(1)).float().mean(0)
    assert looks[1, 0].item() == pytest.approx(share, abs=NEAR)
    assert (looks[[0, 2], 1] > 0.9).all()
    assert (looks[3] < 0.5).all()


def test_taking_a_head_away():
    before, after = says(r"without head 1 the first digit falls from # to #, close to chance")
    assert (right(reader(4))[0], right(reader(4), 1)[0]) == pytest.approx((before, after), abs=2 * NEAR)
    (second,) = says(r"Without head 0 the second digit only falls to #, because")
    assert right(reader(4), 0)[1] == pytest.approx(second, abs=2 * NEAR)
    assert right(reader(4), 3)[2] == pytest.approx(right(reader(4))[2], abs=NEAR)
