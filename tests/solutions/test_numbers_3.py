"""Every number in lesson 3's prose, computed again and compared with what the script says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jupytext
import pytest
import torch
from attention import recipe
from attention.digits import digits
from attention.patches import patchify
from attention.tokens import EOS, MAX_TOKENS, PAD, PROMPT_LENGTHS, WORDS, encode
from attention.training import shift_targets
from attention.vlm import MiniVLM
from torch import nn

from grader.course.lesson_3 import LESSON
from grader.course.lesson_3.trained_model import GATES, GROUNDING_GATE

ROOT = Path(__file__).parents[2]
PROSE = " ".join(
    " ".join(cell.source.split())
    for cell in jupytext.read(ROOT / "solutions" / "3-vlm.py", fmt="py:percent").cells
    if cell.cell_type == "markdown"
)
RESULTS = (ROOT / "benchmarks" / "results" / "training.txt").read_text("utf-8").splitlines()
RUNS = [json.loads(line) for line in RESULTS if line.startswith('{"seed"')]
CONTROLS = next(json.loads(line.partition(" ")[2]) for line in RESULTS if line.startswith("controls "))


def says(pattern: str) -> list[float]:
    """The numbers in the groups of a pattern, which the prose must hold exactly once; `#` stands for a number."""
    found = re.findall(pattern.replace("#", r"(-?\d[\d,]*(?:\.\d+)?)"), PROSE)
    assert len(found) == 1, f"{len(found)} times in the prose: {pattern}"
    groups = found[0] if isinstance(found[0], tuple) else (found[0],)
    return [float(group.replace(",", "")) for group in groups]


def test_a_number_that_is_not_in_the_prose_is_noticed():
    with pytest.raises(AssertionError, match="0 times in the prose"):
        says("# unicorns")


def test_the_world():
    assert says(r"\*\*before\*\* scenes are built: # digits to train on, # to test on") == [
        len(digits("train").labels),
        len(digits("test").labels),
    ]
    share, out_of, chance = says(r'chance is #/# = # for "where"')
    assert chance == round(share / out_of, 3)
    assert out_of == recipe.MODEL["num_patches"]


def test_the_patches_by_hand():
    lists = re.search(r"→ (\[0, 1, 4, 5\].*?\[10, 11, 14, 15\])", PROSE)[1]
    assert json.loads(f"[{lists}]") == patchify(torch.arange(16).reshape(1, 4, 4), 2)[0].tolist()


def test_layer_norm_by_hand():
    *x, mean, variance, a, b, c, d = says(
        r"For x = \[#, #, #, #\]: the mean is #, the variance is # .*? the result is \[#, #, #, #\]"
    )
    x = torch.tensor(x)
    assert (mean, variance) == (x.mean().item(), x.var(unbiased=False).item())
    assert torch.allclose(torch.tensor([a, b, c, d]), nn.LayerNorm(4)(x), atol=6e-4)
    assert says(r"The small ε = # stands") == [nn.LayerNorm(4).eps]


def test_the_doubled_residual():
    growth, layers = re.search(r"×(\d+) after (\w+) layers", PROSE).groups()
    x = torch.ones(1)
    for _ in range({"six": 6}[layers]):
        x = x + (x + 0.0)  # the step adds its input inside, and finds nothing to say
    assert x.item() == float(growth)


def test_the_model():
    model = MiniVLM(**recipe.MODEL)
    parameters, batch, positions, words, again, also = says(
        r"# parameters, and logits \(#, #, #\): a score for each of # words at each of # positions"
    )
    assert parameters == sum(parameter.numel() for parameter in model.parameters())
    assert (batch, positions, words) == tuple(
        model(torch.zeros(2, 6, dtype=torch.long), torch.zeros(2, 9, 64))[0].shape
    )
    assert (again, also) == (words, positions)
    assert words == len(WORDS)


def test_the_table_of_targets():
    table = re.search(r"\| token \|(.*?)\| target \|(.*?)\| The prompt has (\d) tokens", PROSE)
    tokens = [cell.strip(" `") for cell in table[1].split("|") if cell.strip()]
    targets = [cell.strip(" `") for cell in table[2].split("|") if cell.strip()]
    ids = torch.cat([encode("where is the 7 ? top-left"), torch.tensor([EOS, PAD])])
    assert tokens == [WORDS[token] for token in ids.tolist()]
    assert len(tokens) == MAX_TOKENS
    found = shift_targets(ids.unsqueeze(0), torch.tensor([int(table[3])]))[0].tolist()
    assert targets == ["–" if target < 0 else WORDS[target] for target in found]
    assert int(table[3]) == PROMPT_LENGTHS[0]


def test_the_recipe():
    assert says(r"For # steps single digits are pulled") == [recipe.ALIGN_STEPS]
    steps, where, what = says(
        r'after all # steps "where" still stands at chance: # in our benchmark, and "what" is right in # of the scenes'
    )
    naive = CONTROLS["full scenes from the start, not aligned"]
    assert steps == recipe.STEPS
    assert (where, what) == (pytest.approx(naive["where"], abs=6e-4), pytest.approx(naive["what"], abs=6e-4))
    first, second, last = says(
        r"In the beginning a scene holds # or # digits\. .*? hold up to # in the last third"
    )
    assert (first, second, last) == (1, recipe.most_digits(0), recipe.most_digits(recipe.STEPS - 1))
    assert 0.6 < next(s for s in range(recipe.STEPS) if recipe.most_digits(s) == 9) / recipe.STEPS < 0.67
    warm, rate, beta = says(r"climbs for # steps to #, then falls along half a cosine\. .*?\(β₂ = #\)")
    assert (warm, rate, beta) == (recipe.WARM_UP, recipe.LEARNING_RATE, recipe.BETAS[1])
    assert max(recipe.learning_rate(step) for step in range(recipe.STEPS)) == pytest.approx(rate, rel=0.02)


def test_batches_are_faster():
    (batch,) = says(r"a batch of # brings through more than ten times")
    assert batch == recipe.BATCH
    assert json.loads(RESULTS[-1])["figures"]["batched_over_single"] > 10


def spread(pick) -> list[float]:
    values = [pick(run) for run in RUNS]
    return [min(values), max(values)]


def test_accuracies_over_the_seeds():
    seeds, scenes, *ranges = says(
        r"over # seeds, with # scenes of each kind\. From the worst seed to the best: "
        r"where # to #, what # to #, read # to #\."
    )
    assert (seeds, scenes) == (len(RUNS), 2000)
    measured = [
        value for task in ("where", "what", "read") for value in spread(lambda run, task=task: run[task])
    ]
    assert ranges == pytest.approx(measured, abs=6e-4)


def test_grounding_over_the_seeds():
    seeds, *ranges = says(
        r'Over # seeds it found the patch of "where" in # to # of the scenes, the value-weighted map in # to #\.'
    )
    assert seeds == len(RUNS)
    looks = [
        spread(lambda run, kind=kind: run["grounding"]["where"][kind])
        for kind in ("head average", "value-weighted")
    ]
    assert ranges == pytest.approx([*looks[0], *looks[1]], abs=6e-4)


def test_interventions_over_the_seeds():
    seeds, follows, stays = says(
        r'Over # seeds the answer to "where" followed the swapped patch in at least # of the scenes, '
        r"and the old answer outlived its patch in at most #\."
    )
    assert seeds == len(RUNS)
    assert follows == pytest.approx(
        spread(lambda r: r["interventions"]["where"]["swapped, follows the patch"])[0], abs=6e-4
    )
    assert stays == pytest.approx(
        spread(lambda r: r["interventions"]["where"]["target blank, answer stays"])[1], abs=6e-4
    )


def test_controls():
    scenes, blind, shuffled, chance = says(
        r'With one seed and # scenes we measured for "where": # without positions, # with shuffled pairs\. Chance is #\.'
    )
    assert scenes == 2000
    assert blind == pytest.approx(CONTROLS["no image positions"]["where"], abs=6e-4)
    assert shuffled == pytest.approx(CONTROLS["shuffled pairs"]["where"], abs=6e-4)
    assert chance == round(1 / 9, 3)


def test_the_toy_of_two_heads():
    a1, a2, short, b1, b2, long = says(
        r"Head A has weights \[#, #\] but its values have length #\. Head B has weights \[#, #\] and values of length #\."
    )
    mean = says(r"average of the weights: \[#, #\] → patch 1")
    summed = says(r"weight × length of value, summed: \[#, #\] → patch 2")
    assert mean == pytest.approx([(a1 + b1) / 2, (a2 + b2) / 2])
    assert summed == pytest.approx([a1 * short + b1 * long, a2 * short + b2 * long])
    assert mean[0] > mean[1]
    assert summed[1] > summed[0]


def test_gates_and_points():
    assert says(r"\(where ≥ (\.\d+), what ≥ (\.\d+), read ≥ (\.\d+)\)") == list(GATES.values())
    assert says(r"look at the right patch \(value-weighted, ≥ (\.\d+)\)") == [GROUNDING_GATE]
    points = {check.name: check.points for check in LESSON.exercise("3.8").checks}
    words = re.search(r"(\w+) points are for the function\. (\w+) are for the model", PROSE).groups()
    number = {"Four": 4, "Six": 6}
    assert number[words[0]] == points["values"] + points["conduct"]
    assert number[words[1]] == points["trained answers"] + points["trained maps"]
    assert sum(exercise.points > 0 for exercise in LESSON.exercises) == 9
    assert "Nine exercises are worth 100 points; four more are for practice" in PROSE


def test_what_attention_costs():
    patches, weights, side, _, patch, _, tokens, many = says(
        r"Our # patches need #\. An image of #×# pixels in patches of #×# has # tokens, and one head of one layer then "
        r"has # weights"
    )
    assert weights == patches**2
    assert tokens == (side / patch) ** 2
    assert many == tokens**2
