"""What lesson 3's prose says of the model at the shipped seed: trained here, with the notebook's own answers.

Other processors round differently, and training enlarges that: numbers are compared to within a few hundredths.
"""

from collections.abc import Sequence
from copy import deepcopy
from types import SimpleNamespace

import pytest
import torch
from attention.builtin import MultiHeadAttention, causal_mask
from attention.data.tokens import NOWHERE, TASKS, draw_questions
from attention.experiments import recipe
from attention.experiments.image_summary import ImageSummary
from attention.experiments.shared_keys import share_keys, words_right
from attention.experiments.three_ways import added_layers, new_layers
from attention.image_into_text import GatedCrossAttention
from attention.measures.evaluation import (
    accuracy,
    held_out,
    looked,
    maps_by_cell,
    on_target,
    prompt_of,
    where_it_points,
)
from attention.measures.faithfulness import effects_of, first_word, probability_of, rank_correlation, value_weighted
from attention.measures.head_effects import head_effects, without_head
from attention.open_vlm import OpenVLM
from attention.patterns import classify_pattern
from attention.training import train_step
from attention.vlm import MiniVLM
from torch import Tensor, nn
from torch.nn import functional as F

from tests.scripts import cells_of
from tests.solutions.test_numbers_3 import CELLS, PROSE, says

# Training takes half a minute; of lesson 1 it takes a second.
pytestmark = pytest.mark.slow(
    held_by="tests/solutions/test_numbers_1_trained.py::test_the_pointer_before_and_after_training"
)
GIVEN = {
    "torch": torch, "nn": nn, "F": F, "Tensor": Tensor, "MultiHeadAttention": MultiHeadAttention,
    "causal_mask": causal_mask,
}  # fmt: skip


@pytest.fixture(scope="module")
def lesson() -> SimpleNamespace:
    """The answers of the solution notebook, and what they train and measure at seed 0."""
    own = dict(GIVEN)
    for cell in CELLS:
        if str(cell.metadata.get("exercise", "")) in {f"3.{number}" for number in range(1, 10)}:
            exec(cell.source, own)
    lesson = SimpleNamespace(**{name: own[name] for name in own if not name.startswith("__")})
    torch.set_num_threads(1)
    lesson.model = lesson.MiniVLM(**recipe.MODEL)
    lesson.record = recipe.train(lesson.model, lesson.train_step, 0)
    lesson.where, lesson.lacking = held_out("where", 500), held_out("where", 500, absent=1.0)
    lesson.effects = {
        "where": head_effects(lesson.model, "where", lesson.where),
        "what": head_effects(lesson.model, "what", held_out("what", 500)),
    }
    lesson.looker = max(range(4), key=lambda head: lesson.effects["where"][head].on_target)
    return lesson


def test_the_first_answer_is_right(lesson):
    assert accuracy(lesson.model, lesson.generate, "where", lesson.where) > 0.97


def test_another_right_answer_trains_to_other_numbers(lesson):
    """ "Another right way to write the same sum rounds differently, and 800 steps enlarge the difference." """
    reference = recipe.train(MiniVLM(**recipe.MODEL), train_step, 0)
    ours, theirs = (record["checkpoints"] for record in (reference, lesson.record))
    apart = [max(float((ours[step][name] - theirs[step][name]).abs().max()) for name in ours[step]) for step in ours]
    assert next(iter(ours)) == 0
    assert apart[0] < 1e-4
    assert apart[-1] > 1e-2


def test_the_head_average_misses_where_other_heads_look(lesson):
    """ "That patch looks important in the average." """
    cells = lesson.where.cells[:, 0]
    tokens, image, weights = looked(lesson.model, prompt_of("where", lesson.where), lesson.where.image_patches)
    average = weights.mean(1)[:, -1]
    with torch.no_grad():
        weighted = lesson.value_weighted_map(lesson.model.blocks[-1].cross_attn, tokens, image)[:, -1]
    assert on_target(average, cells) < 0.8 < 0.95 < on_target(weighted, cells)
    assert 'misses the patch of "where" in a fifth of the scenes or more' in PROSE
    missed = average.argmax(-1) != cells
    others = [head for head in range(4) if head != lesson.looker]
    favourites = weights[:, others, -1].argmax(-1)  # (B, 3)
    taken_over = (favourites[missed] == average[missed].argmax(-1, keepdim=True)).any(1)
    assert taken_over.float().mean() > 0.95


def test_the_scene_whose_maps_are_drawn_shows_what_is_said_of_it(lesson):
    """ "One head puts most of its weight on it, the others look elsewhere, and the average is brightest where they look." """
    cells = lesson.where.cells[:, 0]
    weights = looked(lesson.model, prompt_of("where", lesson.where), lesson.where.image_patches)[2][:, :, -1]
    average = weights.mean(1)
    excess = average.amax(-1) - average.gather(1, cells.unsqueeze(1)).squeeze(1)
    drawn = int(excess.argsort()[len(excess) - 1 - int((excess > 0).sum()) // 2])
    assert (excess > excess[drawn]).sum() == (excess > 0).sum() // 2  # the median of those where the average is off
    cell, maps = cells[drawn], weights[drawn]
    assert maps[lesson.looker].argmax() == cell
    assert maps[lesson.looker, cell] > 0.5
    others = [maps[head] for head in range(4) if head != lesson.looker]
    assert all(one.argmax() != cell for one in others)
    assert maps.mean(0).argmax() in [one.argmax() for one in others]


def within(measured: float, ends: Sequence[float], near: float) -> bool:
    """Whether a number lies between the ends that the prose gives, or as near as another processor's rounding may bring it."""
    return ends[0] - near <= measured <= ends[1] + near


def test_only_the_last_token_looks(lesson):
    """The looking head gave 0.12, 0.12, 0.12, 0.11, 0.15 and, at the last token, 0.93; at another seed 0.26 at the fifth."""
    assert "The weight of the others on its patch is close to chance, 0.11 (over three seeds, at most 0.26)." in PROSE
    prompts, cells = prompt_of("where", lesson.where), lesson.where.cells[:, 0]
    looks = looked(lesson.model, prompts, lesson.where.image_patches)[2]
    on_cell = looks.gather(-1, cells[:, None, None, None].expand(*looks.shape[:3], 1)).squeeze(-1).mean(0)
    own = on_cell[on_cell[:, -1].argmax()]
    assert own[-1] > 0.85
    assert own[:-1].max() < 0.2


def test_the_length_of_a_gradient_says_little(lesson):
    """The loss was 0.0097 and 3.64, the gradient of the aligner 0.41 and 0.25 (seed 0); at seed 3 it was 0.09 and 0.21."""
    assert "more than a hundred times smaller, and yet the gradient of its aligner is longer" in PROSE
    untrained = MiniVLM(**recipe.MODEL)
    recipe.draw_start(untrained, 0)
    token_ids, prompt_lengths, image_patches = held_out("where", 128).batch
    targets = lesson.shift_targets(token_ids, prompt_lengths).flatten()
    losses, lengths = [], []
    for model in (lesson.model, untrained):
        loss = F.cross_entropy(model(token_ids, image_patches)[0].flatten(0, 1), targets)
        gradients = torch.autograd.grad(loss, list(model.aligner.parameters()))
        losses.append(loss.item())
        lengths.append(sum(gradient.square().sum() for gradient in gradients) ** 0.5)
    assert 100 * losses[0] < losses[1]
    assert lengths[0] > lengths[1]


def test_the_heads_share_the_questions(lesson):
    """The weights that the prose gives for "where" and "what", and what is left without the one part of the heads or the other."""
    on_it, away, blind = says(
        r'head 0 has # of its weight on the right patch of "where", and the three others have about # there, '
        r"hardly more than a blind head would \(#\)"
    )
    low, least, most = says(r'For "what" it is the other way round: head 0 has #, the others have # to #\.')
    assert lesson.looker == 0
    assert blind == round(1 / 9, 2)
    where, what = ([effect.on_target for effect in lesson.effects[task]] for task in ("where", "what"))
    assert where[0] == pytest.approx(on_it, abs=0.03)
    assert where[1:] == pytest.approx([away] * 3, abs=0.04)
    assert what[0] == pytest.approx(low, abs=0.05)
    assert all(within(share, (least, most), 0.03) for share in what[1:])


def test_no_head_is_idle(lesson):
    """Silence the heads that look away for "where": the other questions die, and only "where" lives on; and the reverse."""
    assert "Silence one of the three, and hardly an answer changes" in PROSE
    kept = says(r'without heads 1, 2 and 3 "where" is right in # of the scenes, "what" in #, "read" in none\.')
    held = {task: held_out(task, 500) for task in TASKS}
    assert all(effect.without > 0.9 for task in ("where", "what") for effect in lesson.effects[task][1:])
    others, looker = (
        {task: accuracy(silenced(lesson.model, heads), lesson.generate, task, held[task]) for task in TASKS}
        for heads in ((1, 2, 3), (0,))
    )
    assert [others["where"], others["what"]] == pytest.approx(kept, abs=0.05)
    assert others["read"] < 0.02
    assert looker["where"] < 0.3
    assert min(looker["what"], looker["read"]) > 0.9


def silenced(model: nn.Module, heads: Sequence[int]) -> nn.Module:
    """A copy of the model without some heads of its last cross-attention."""
    for head in heads:
        model = without_head(model, head)
    return model


def test_a_long_vector_need_not_move_the_answer(lesson):
    """ "For "where" they have about a third of the length of the looking head's. They hardly move the right word's logit." """
    looking, *others = lesson.effects["where"]
    assert (
        "they have about a third of the length of the looking head's. They hardly move the right word's logit" in PROSE
    )
    assert all(0.2 < effect.length / looking.length < 0.45 for effect in others)
    assert all(abs(effect.logit) < 1 < 6 < looking.logit for effect in others)


def test_the_value_weighted_map_is_right_because_the_looking_head_brings_the_most(lesson):
    """ "… because what the looking head brings is the longest, not because the others bring nothing."

    The control: let the looking head bring vectors a tenth as long. Its weights stay, and the map is no longer right.
    """
    assert "is right here because what the looking head brings is the longest" in PROSE
    cells, attention = lesson.where.cells[:, 0], deepcopy(lesson.model.blocks[-1].cross_attn)
    tokens, image, _ = looked(lesson.model, prompt_of("where", lesson.where), lesson.where.image_patches)
    width = attention.W_O.weight.shape[1] // 4
    share = []
    with torch.no_grad():
        for _ in range(2):
            share.append(on_target(lesson.value_weighted_map(attention, tokens, image)[:, -1], cells))
            attention.W_O.weight[:, lesson.looker * width : (lesson.looker + 1) * width] *= 0.1
    assert share[1] < 0.5 < 0.95 < share[0]


@pytest.mark.parametrize("kept", [0, 1])
def test_keys_of_one_head_for_both_do_not_save_the_model_either(lesson, kept):
    """The lab, on sharing: "The mean is only a small part of the cause". The model is this one, so the test is here.

    Right words at the seeds 0 and 20 to 25: with one head's matrices 0.43 and 0.59, 0.61 and 0.27, 0.53 and 0.46, 0.54 and 0.55,
    0.71 and 0.37, 0.34 and 0.48, 0.32 and 0.54; with the mean 0.48, 0.49, 0.40, 0.44, 0.48, 0.53, 0.40.
    """
    (told,) = (cell for cell in cells_of("4-modern") if "falls apart" in cell.source)
    text = " ".join(told.source.split())
    assert "one head for both, 0.27 to 0.71 of the words are right, and with their mean 0.40 to 0.53 (7 seeds)" in text
    unseen = draw_questions(1000, torch.Generator().manual_seed(7), "test", fewest=9, most=9)
    shared = deepcopy(lesson.model)
    for name, layer in shared.named_modules():
        if name.endswith(("W_K", "W_V")):
            of_heads = layer.weight.data.unflatten(0, (2, 2, -1))  # groups, heads of each
            of_heads[:, 1 - kept] = of_heads[:, kept]
    assert 0.2 < words_right(shared, unseen) < 0.8 < 0.95 < words_right(lesson.model, unseen)
    model = OpenVLM(**recipe.MODEL)
    model.load_state_dict(lesson.model.state_dict())
    assert 0.3 < words_right(share_keys(model, 2), unseen) < 0.65


def test_how_the_heads_came_to_look(lesson):
    words, right = {}, {}
    for step in (0, 100, 300):
        earlier = recipe.at_checkpoint(lesson.model, lesson.record, step)
        words[step] = [classify_pattern(grid) for grid in maps_by_cell(earlier, "where", lesson.where)]
        right[step] = accuracy(earlier, lesson.generate, "where", lesson.where)
    assert "Before training three heads are *uniform*" in PROSE
    assert words[0].count("uniform") == 3
    assert "After 100 steps three are *hubs*" in PROSE
    assert words[100].count("hub") == 3
    assert "The three others are hubs still" in PROSE
    assert words[300][lesson.looker] == "diagonal"
    assert words[300].count("hub") == 3
    early, late = says(
        r"look at the same patch, and # of the answers are right\. .*? its map is \*diagonal\*, and # are right"
    )
    assert [early, late] == pytest.approx([right[100], right[300]], abs=0.07)
    assert "the other heads have no diagonal at any step" in PROSE
    others = [head for head in range(4) if head != lesson.looker]
    words["end"] = [classify_pattern(grid) for grid in maps_by_cell(lesson.model, "where", lesson.where)]
    assert all(words[step][head] != "diagonal" for step in words for head in others)
    assert 'Put `"what"` in its place, and in the end these three are diagonal.' in PROSE
    in_the_end = [classify_pattern(grid) for grid in maps_by_cell(lesson.model, "what", held_out("what", 500))]
    assert [word == "diagonal" for word in in_the_end] == [head != lesson.looker for head in range(4)]


def test_absent_digits_get_a_place(lesson):
    mean, deviation = says(r"for nearly all absent digits \(over 20 seeds for # ± # of them\)")
    named = where_it_points(lesson.model, lesson.generate, lesson.lacking)["a place"]
    assert named == pytest.approx(mean, abs=3 * deviation)
    for step in range(0, recipe.STEPS, 8):
        assert NOWHERE not in recipe.training_questions(step, 0).token_ids


def test_the_map_tells_what_the_answer_does_not(lesson):
    shown, absent = (
        looked(lesson.model, prompt_of("where", questions), questions.image_patches)[2][:, lesson.looker, -1].amax(-1)
        for questions in (lesson.where, lesson.lacking)
    )
    ends = says(
        r"the head gives one patch of a shown digit # of its weight on average, of an absent one #\. .*? "
        r"has the larger weight in # ± # of the pairs"
    )
    assert shown.mean().item() == pytest.approx(ends[0], abs=0.02)
    assert absent.mean().item() == pytest.approx(ends[1], abs=0.03)
    apart = (shown.unsqueeze(1) > absent).float().mean().item()
    assert apart == pytest.approx(ends[2], abs=3 * ends[3])  # one draw of 500 questions, of one seed


def sureness(lesson) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Of shown digits, then of absent ones: the probability of the word that is said, and the looking head's largest weight."""
    found = []
    for questions in (lesson.where, lesson.lacking):
        prompts = prompt_of("where", questions)
        with torch.no_grad():
            logits, _ = lesson.model(prompts, questions.image_patches)
        weights = looked(lesson.model, prompts, questions.image_patches)[2][:, lesson.looker, -1]
        found.append((logits[:, -1].softmax(-1).amax(-1), weights.amax(-1)))
    return found


def test_the_probability_of_the_word_tells_it_too(lesson):
    """The control to "the map tells what the answer does not": the word's probability does, nearly as well.

    At the seeds 20 to 26 the weight tells 0.98, 0.97, 0.92, 0.99, 0.98, 0.97, 0.98 of the pairs apart, the probability 0.98, 0.97,
    0.98, 0.97, 0.97, 0.96, 0.95. At seed 22 the four heads have 0.51 to 0.80 of their weight on the right patch.
    """
    mean, deviation = says(r"The probability of the word that is said tells them apart nearly as well, in # ± #\.")
    prob, weight = zip(*sureness(lesson), strict=True)
    pairs = [(shown.unsqueeze(1) > absent).float().mean().item() for shown, absent in (prob, weight)]
    assert pairs[0] == pytest.approx(mean, abs=3 * deviation)
    assert pairs[0] < pairs[1]
    least, most, below = says(
        r"# to # of the absent digits get a probability above 0\.9, and less than # such a weight"
    )
    assert within((prob[1] > 0.9).float().mean().item(), (least, most), 0.1)
    assert (weight[1] > 0.9).float().mean() < below + 0.01
    ends = says(r"of the \*shown\* digits, too, # to # get a smaller weight")
    assert within((weight[0] < 0.9).float().mean().item(), ends, 0.05)


def test_thresholds_that_pass_as_many_shown_digits_pass_about_as_many_absent_ones(lesson):
    """At three seeds, with 2,000 questions of each kind: 0.10 to 0.14 by the probability, 0.06 to 0.12 by the weight.

    At the seeds 20 to 26: 0.06, 0.10, 0.06, 0.07, 0.10, 0.14, 0.16, and 0.08, 0.11, 0.54, 0.05, 0.10, 0.17, 0.09.
    """
    *ends, least, most = says(
        r"so that 95 of 100 shown digits pass\. Then # to # of the absent ones pass by the probability, and # to # by the weight"
    )
    for (shown, absent), passing in zip(zip(*sureness(lesson), strict=True), (ends, (least, most)), strict=True):
        assert within((absent >= shown.quantile(0.05)).float().mean().item(), passing, 0.03)


def test_eight_patches_that_hardly_matter_are_ranked_the_other_way_round(lesson):
    """The lab, on Kendall's τ of "where". The model is this one, so the test is here.

    Noise among the eight would leave a τ of 8/36. Over 5 seeds, with the kernels of two processors: -0.45 to -0.20. At the seeds
    20 to 26, on 2,000 scenes: -0.51, -0.36, -0.15, -0.48, -0.47, -0.28, -0.33; of all nine -0.18, -0.06, 0.10, -0.16, -0.14, 0, -0.04.
    """
    (told,) = (cell for cell in cells_of("6-explain") if "28 of the 36 pairs" in cell.source)
    assert "among the eight the order is mostly the opposite (τ -0.51 to -0.15 over twelve seeds)" in " ".join(
        told.source.split()
    )
    model = OpenVLM(**recipe.MODEL)
    model.load_state_dict(lesson.model.state_dict())
    prompts, patches, cells = prompt_of("where", lesson.where), lesson.where.image_patches, lesson.where.cells[:, :1]
    effects = effects_of(probability_of(model, prompts, first_word(model, prompts, patches)), patches)
    with torch.no_grad():
        maps = value_weighted(model, patches, model.inside(prompts, patches).cross_map)[:, -1]
    others = (torch.arange(9) != cells).nonzero()[:, 1].unflatten(0, (-1, 8))
    of_eight = rank_correlation(maps.gather(1, others), effects.gather(1, others)).mean()
    assert -0.55 < of_eight < -0.15
    assert rank_correlation(maps, effects).mean() < 0.15 < 8 / 36
    assert (effects.gather(1, others) < 0).float().mean() > 0.6


def test_another_seed_of_four_learned_queries_ends_further_away(lesson):
    """At the seeds 0, 1 and 2, on 500 scenes: "where" 0.22, 0.40 and 0.13, "read" 0.05, 0.10 and 0.11."""
    (told,) = says(r'seed 1 has # for "where"')
    model = lesson.MiniVLM(**recipe.MODEL)
    model.image_norm = ImageSummary(4, recipe.MODEL["d_model"], recipe.MODEL["num_heads"])
    recipe.train(model, lesson.train_step, 1)
    assert accuracy(model, lesson.generate, "where", lesson.where) == pytest.approx(told, abs=0.08)
    assert accuracy(model, lesson.generate, "read", held_out("read", 500)) < 0.15


def test_how_much_noise_new_layers_bring_depends_on_their_weights(lesson):
    """The lab, on gates that are open. Over five draws: 0.90 to 0.93 behind 32 layers; with weights twice as large 0.53 to 0.74
    behind one, and 0.04 to 0.09 behind four; over five other draws 0.034 to 0.107.
    """
    (told,) = (cell for cell in cells_of("6-explain") if "How much noise the gate keeps out" in cell.source)
    assert (
        "behind a single open layer 0.53 to 0.74 of the rows are read right, behind four about 0.1 or less"
        in " ".join(told.source.split())
    )
    model = OpenVLM(**recipe.MODEL)
    model.load_state_dict(lesson.model.state_dict())
    rows = draw_questions(1000, torch.Generator().manual_seed(7), "test", ("read",), fewest=9)

    def read_right(count: int, larger: float) -> float:
        torch.manual_seed(0)
        layers = new_layers(GatedCrossAttention, count, 100.0)
        with torch.no_grad():
            for name, weights in layers.named_parameters():
                weights.mul_(larger if "W_" in name else 1)
            with added_layers(model, layers):
                logits, _ = model(rows.token_ids[:, :7], rows.image_patches)
        return (logits[:, 4:7].argmax(-1) == rows.token_ids[:, 5:8]).all(1).float().mean().item()

    assert read_right(32, 1) > 0.85
    assert 0.4 < read_right(1, 2) < 0.85
    assert read_right(4, 2) < 0.15


def test_without_positions_what_fails_as_surely_as_where(lesson):
    """Right, at three seeds: 0.10 to 0.11 of either; and what is named is shown in the scene in 0.99 of them, so it is guessed."""
    assert '"what is at top-left?" fails as surely as "where is the 7?"' in PROSE
    assert "In a full scene both can only be guessed" in PROSE
    model = lesson.MiniVLM(**recipe.MODEL)
    model.image_positions = nn.Identity()
    recipe.train(model, lesson.train_step, 0)
    for task in ("where", "what"):
        assert accuracy(model, lesson.generate, task, held_out(task, 2000)) < 0.15


def test_the_way_out_and_its_price(lesson):
    cautious = deepcopy(lesson.model)
    recipe.teach_nowhere(cautious, lesson.train_step, 0)
    assert says(r"for # more steps, on full scenes") == [recipe.NOWHERE_STEPS]
    measured = {
        "a place for an absent digit": lambda model: where_it_points(model, lesson.generate, lesson.lacking)["a place"],
        '"nowhere" for a digit that is shown': lambda model: where_it_points(model, lesson.generate, lesson.where)[
            "nowhere"
        ],
        '"where" right': lambda model: accuracy(model, lesson.generate, "where", lesson.where),
    }
    for row, measure in measured.items():
        *before, mean, deviation = says(rf"\| {row} \| # ± # \| # ± # \|")
        assert measure(lesson.model) == pytest.approx(before[0], abs=3 * before[1] + 0.005)
        assert measure(cautious) == pytest.approx(mean, abs=3 * deviation + 0.005)


def test_without_questions_about_absent_digits_the_same_steps_change_nothing(lesson, monkeypatch):
    """The cause that the prose names: nothing in the loss ever asked for another word."""
    monkeypatch.setattr(recipe, "ABSENT", 0.0)
    drilled = deepcopy(lesson.model)
    recipe.teach_nowhere(drilled, lesson.train_step, 0)
    assert where_it_points(drilled, lesson.generate, lesson.lacking)["a place"] > 0.9
