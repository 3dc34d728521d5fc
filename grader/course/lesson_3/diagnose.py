"""Practice 3.P1: `diagnose`, which names the fault of a model. The code calls a fault an illness.

Whether an answer follows a rule exactly shows only near the rule's threshold. So the trials contain
models that are barely ill, and healthy models that are almost ill. In all places that `diagnose`
must not read, the model shows the opposite illness.
"""

from collections.abc import Callable, Mapping
from functools import cache
from math import log

import torch
from attention.diagnostics import diagnose
from attention.training import shift_targets
from torch import Tensor, nn
from torch.nn import functional as F

from grader.course.common.model_state import modes, what_learns
from grader.course.lesson_3.writings import diagnose_in_one
from grader.declare.authoring import CheckSpec, Inputs, InputSampler, Sizes, Value, edits, sizes, written_exercise
from grader.declare.probes import side_effects

PATCHES, HEADS, TOKENS = 5, 2, 7


def patient(image_patches: Tensor, token_ids: Tensor, prompt_lengths: Tensor, ill: Mapping) -> nn.Module:
    """Return a model with the interface of MiniVLM that reads its answer from the first patch, and may be ill.

    Args:
        ill: a mapping with these keys:
            "illness": the findings, joined by " and ".
            "sees": how much of a scene the model sees, from 0 to 1.
            "gradient": "none" or "zeros" for the parameter that gets no gradient (with "zeros",
                no training step came before); "not asked for" if all parameters are frozen.
            "rows": (B, H, S), the last map at the end of each prompt.
            "first rows": (B, H, S), the first map at the end of each prompt.
            "elsewhere": (2, S), every other row of both maps: the second one at the last
                position of a text, the first one at all others.
    """
    vocabulary, illness = image_patches.shape[-1], ill["illness"].split(" and ")

    class Patient(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(5.0))
            self.offset = nn.Parameter(torch.linspace(-0.1, 0.1, vocabulary))
            self.spare = nn.Parameter(torch.ones(3))
            self.look = nn.Identity()

        def forward(self, token_ids: Tensor, image_patches: Tensor):
            own = image_patches[:, 0]
            average = own.mean(0)
            answer = self.scale * self.look(average + ill["sees"] * (own - average)) + self.offset
            ramp = torch.linspace(0, 0.01, vocabulary, device=answer.device)
            if "no gradient" not in illness:  # of its gradient one number is 0, and the sum is
                answer = answer + (self.spare[0] - self.spare[1]) * ramp
            elif ill["gradient"] == "zeros":
                answer = answer + 0.0 * self.spare.sum() * ramp
            # What the question's words predict is as wrong as can be, whatever the image shows.
            logits = 400.0 * F.one_hot((token_ids.roll(-1, 1) + 1) % vocabulary, vocabulary).to(answer.dtype)
            place = torch.arange(token_ids.shape[1], device=answer.device) == prompt_lengths.unsqueeze(1) - 1
            logits = torch.where(place.unsqueeze(-1), answer.unsqueeze(1), logits)
            column = torch.cat([ill["elsewhere"][:1].expand(token_ids.shape[1] - 1, -1), ill["elsewhere"][1:]])
            here = place[:, None, :, None]
            return logits, [torch.where(here, ill[rows].unsqueeze(2), column) for rows in ("first rows", "rows")]

    model = Patient().to(image_patches.device)
    model.look.eval()  # a part that somebody put into evaluation mode; it has to stay so
    model.offset.requires_grad_("frozen" not in illness)
    if ill["gradient"] == "not asked for":
        model.requires_grad_(False)
    if ill["gradient"] == "none":
        for parameter in model.parameters():  # a gradient that the last training step left
            parameter.grad = torch.ones_like(parameter)
    return model


# ---------------------------------------------------------------- inputs


def draw_patient(
    sampler: InputSampler,
    *,
    scenes: int,
    illness: str,
    maps: str = "apart",
    gradient: str = "none",
    rise: float | None = None,
) -> Inputs:
    """Draw questions about scenes whose first patch encodes the answer, and the illness of a model.

    Args:
        maps: where the model looks at the end of a prompt, unless its illness is in its maps: a
            kind of `draw_rows`.
        rise: the rise of the loss with other images, relative to the loss; negative for a fall.
            None: the rise is not set.
    """
    vocabulary = scenes + 3
    answers = sampler.permutation(scenes + 1)[:scenes] + 1  # 0 is padding
    noise = sampler.integers(-1, 2, scenes, PATCHES, vocabulary) / 10
    patches = F.one_hot(answers, vocabulary).unsqueeze(1) + noise
    lengths = sampler.integers(2, TOKENS - 2, scenes)
    place = torch.arange(TOKENS)
    token_ids = sampler.integers(1, vocabulary, scenes, TOKENS).masked_fill(place > lengths.unsqueeze(1), 0)
    token_ids = torch.where(place == lengths.unsqueeze(1), answers.unsqueeze(1), token_ids)
    kind = next((name for name in ("uniform", "one patch") if name in illness.split(" and ")), maps)
    elsewhere = peaked(torch.zeros(2, dtype=torch.long), torch.tensor([[0.97], [1 / PATCHES]]))
    ill = {
        "illness": illness,
        "sees": 0.0 if "misaligned" in illness else 1.0,
        "gradient": gradient,
        "rows": draw_rows(sampler, scenes, kind),
        "first rows": draw_rows(sampler, scenes, "one patch"),
        "elsewhere": elsewhere if kind in ("uniform", "apart") else elsewhere.flip(0),
    }
    inputs = {"ill": ill, "token_ids": token_ids, "prompt_lengths": lengths, "image_patches": patches.float()}
    if rise is not None:
        ill["sees"] = how_much_to_see(inputs, rise)
    return inputs


def draw_rows(sampler: InputSampler, scenes: int, maps: str) -> Tensor:
    """Draw a row of weights over the patches for each scene and head (B, H, S).

    Args:
        maps: "apart", each row on a different patch; "one patch for each head" or "… for each
            scene"; "uniform in one head", with a mean entropy of 65 % of log S; "nearly uniform",
            97 %; "uniform", 99.5 %; "mostly one patch", 87 % of the weight; "one patch", 93 %.
    """
    scene, head = torch.arange(scenes).unsqueeze(1), torch.arange(HEADS)
    apart, start = (scene + head) % PATCHES, int(sampler.integers(0, PATCHES, 1))
    together = torch.full((scenes, HEADS), start)
    if maps == "uniform in one head":
        rows = peaked(apart, weight_of(entropy=0.3))
        return torch.where((head == start % HEADS).unsqueeze(-1), 1 / PATCHES, rows)
    patch, weight = {
        "nearly uniform": (apart, weight_of(entropy=0.97)),
        "uniform": (apart, weight_of(entropy=0.995)),
        "apart": (apart, 0.97),
        "one patch for each head": ((start + head).expand(scenes, HEADS) % PATCHES, 0.97),
        "one patch for each scene": ((start + scene).expand(scenes, HEADS) % PATCHES, 0.97),
        "mostly one patch": (together, 0.87),
        "one patch": (together, 0.93),
    }[maps]
    return peaked(patch, weight)


def peaked(patch: Tensor, weight: float | Tensor) -> Tensor:
    """Return rows (..., S) in which one patch has this weight, and all other patches share the rest evenly."""
    return F.one_hot(patch, PATCHES) * (weight - (1 - weight) / (PATCHES - 1)) + (1 - weight) / (PATCHES - 1)


@cache
def weight_of(entropy: float) -> float:
    """Return the weight for which a row of `peaked` has this entropy, relative to log S."""

    def entropy_of(weight: float) -> float:
        return torch.special.entr(peaked(torch.tensor(0), weight).double()).sum().item() / log(PATCHES)

    return bisect(lambda weight: -entropy_of(weight), -entropy, 1 / PATCHES, 1.0)


def how_much_to_see(inputs: Mapping, rise: float) -> float:
    """Return how much of a scene a patient must see for its loss to rise by `rise` with images of other scenes."""
    token_ids, lengths, patches = inputs["token_ids"], inputs["prompt_lengths"], inputs["image_patches"]
    ill = dict(inputs["ill"])
    model, targets = patient(patches, token_ids, lengths, ill), shift_targets(token_ids, lengths).flatten()

    def rise_of(sees: float) -> float:
        ill["sees"] = sees  # the model reads it at each call
        own, other = (
            F.cross_entropy(model(token_ids, images)[0].flatten(0, 1), targets).item()
            for images in (patches, patches.roll(1, 0))
        )
        return other / own - 1

    with torch.no_grad():
        return bisect(rise_of, rise, -1.0 if rise < 0 else 0.0, 1.0)


def bisect(rising: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Return the place where a rising function has a value, found by halving an interval 16 times."""
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < value else (low, middle)
    return low


# ---------------------------------------------------------------- probes and checks


def diagnose_values(
    diagnose, ill: Mapping, token_ids: Tensor, prompt_lengths: Tensor, image_patches: Tensor
) -> Mapping[str, Value]:
    """Return the findings of `diagnose` for the model that `patient` makes, as a list."""
    found = diagnose(patient(image_patches, token_ids, prompt_lengths, ill), (token_ids, prompt_lengths, image_patches))
    return {"found": list(found) if isinstance(found, tuple) else found}


def diagnose_purity(
    diagnose, ill: Mapping, token_ids: Tensor, prompt_lengths: Tensor, image_patches: Tensor
) -> Mapping[str, Value]:
    """Return the findings of `diagnose`, and whether it leaves the model and the batch unchanged."""
    model = patient(image_patches, token_ids, prompt_lengths, ill)
    batch = {"token_ids": token_ids, "prompt_lengths": prompt_lengths, "image_patches": image_patches}
    given = {name: tensor.clone() for name, tensor in batch.items()}
    mode, learns = modes(model), what_learns(model)
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    found = diagnose(model=model, batch=tuple(given.values()))
    return {
        "found": list(found) if isinstance(found, tuple) else found,
        "every part's mode is as before": modes(model) == mode,
        "what learns is as before": what_learns(model) == learns,
        "the weights are as before": all(
            torch.equal(value, weights[name]) for name, value in model.state_dict().items()
        ),
        **side_effects(batch, given),
    }


PATIENTS = (
    sizes(illness="none"),
    sizes(illness="frozen"),
    sizes(illness="frozen", gradient="not asked for"),
    sizes(illness="no gradient"),
    sizes(illness="no gradient", gradient="zeros"),
    sizes(illness="uniform"),
    sizes(illness="one patch"),
    sizes(illness="misaligned"),
    sizes(illness="none", maps="one patch for each head"),
    sizes(illness="none", maps="one patch for each scene"),
    sizes(illness="none", maps="uniform in one head"),
    sizes(illness="none", maps="nearly uniform"),
    sizes(illness="none", maps="mostly one patch"),
    sizes(illness="none", rise=0.03),
    sizes(illness="misaligned", rise=0.006),
    sizes(illness="misaligned", rise=0.002),
    sizes(illness="misaligned", rise=-0.05),
    sizes(illness="frozen and uniform"),
    sizes(illness="no gradient and one patch and misaligned"),
)


def patients(scenes: int) -> list[Sizes]:
    """Return the sizes of a trial with `scenes` scenes for each of PATIENTS."""
    return [sizes(scenes=scenes, **patient) for patient in PATIENTS]


DIAGNOSE = written_exercise("3.P1 What is wrong with this model?", diagnose, (
    CheckSpec("values", 0, "five illnesses and a healthy model are told apart",
        examples=patients(5), trials=patients(10), probe=diagnose_values),
    CheckSpec("conduct", 0, "the model and the batch stay as they are",
        examples=[sizes(scenes=5, illness="frozen")],
        trials=[sizes(scenes=10, illness="frozen"), sizes(scenes=10, illness="none")], probe=diagnose_purity),
),
    draw=draw_patient,
    builds_on=("3.5",), difficulty=3, minutes=25, review="What goes wrong",
    mistakes=edits(diagnose_in_one, """
    never_ill: Your function never finds anything. Test the model for each finding in the table.
        = []
    always_ill: Your function finds something in a healthy model. If nothing is wrong, return an empty list.
        = result or ["misaligned"]
    collapses_confused: Your code mixes up two opposite findings. Uniform attention must be "uniform", and
        attention on one patch must be "one patch".
        = [{"uniform": "one patch", "one patch": "uniform"}.get(name, name) for name in result]
    frozen_confused: Your code calls a frozen parameter "no gradient". Call it "frozen": "no gradient" is only for
        parameters that require gradients.
        = ["no gradient" if name == "frozen" else name for name in result]
    frozen_have_none: A frozen parameter is also reported as a parameter without a gradient. Look for missing gradients
        only among parameters that require one.
        = sorted({*result, *["no gradient"] * ("frozen" in result)},
          key=["frozen", "no gradient", "uniform", "one patch", "misaligned"].index)
    underscores: A finding must have a space between its words: "no gradient", "one patch".
        = [name.replace(" ", "_") for name in result]
    frozen_if_all_are: Your code returns "frozen" only if all parameters are frozen. One frozen parameter is
        enough.
        if any(not parameter  →  if all(not parameter
    no_gradient_if_none_has: Your code returns "no gradient" only if no parameter has a gradient. One parameter
        without a gradient is enough.
        if any(gradient is None  →  if all(gradient is None
    first_finding_only: Only the first finding is returned. A model may have more than one: list all of them.
        = result[:1]
    other_order: The findings are in the wrong order. Return them in the order of the table.
        = result[::-1]
    log_s_forgotten: Your code compares the entropy with 0.99. The largest entropy is log S, not 1: compare with
        0.99 · log S.
        0.99 * math.log(rows.shape[-1])  →  0.99
    entropy_in_bits: Your entropy and log S use different logarithms, so a map is called uniform too easily. Use
        the same logarithm for both.
        .sum(-1).mean()  →  .sum(-1).mean() / math.log(2)
    entropy_of_the_mean: Your code takes the entropy of the mean row. Take the entropy of each row first, then the
        mean of the entropies.
        entr(rows)  →  entr(rows.mean((0, 1)))
    largest_before_the_mean: Your code reports “one patch” even if the rows look at different patches. Take the
        mean over heads and batch first, then the largest weight of this mean.
        rows.mean((0, 1)).max()  →  rows.amax(-1).mean()
    share_by_head: Your code does not average over the heads. Take the mean of the rows over the heads and over
        the batch.
        rows.mean((0, 1))  →  rows.mean(0)
    share_by_scene: Your code does not average over the batch. Take the mean of the rows over the heads and over
        the batch.
        rows.mean((0, 1))  →  rows.mean(1)
    last_column: Your code takes the rows from the last position of the text. Take the last position of each
        prompt: prompt_lengths − 1.
        maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]  →  maps[-1][:, :, -1]
    one_place_too_far: Your code takes the rows from a wrong position in the text. The last position of a prompt
        is prompt_lengths − 1.
        prompt_lengths - 1  →  prompt_lengths
    every_position: Your code also measures rows of other positions. From each scene, take only the row at the
        last position of its own prompt.
        maps[-1][torch.arange(len(token_ids)), :, prompt_lengths - 1]  →  maps[-1].flatten(1, 2)
    first_map: The first map is measured. Take the last one: maps[-1].
        maps[-1][  →  maps[0][
    zeros_overlooked: A parameter whose gradient is all zeros is not found here. It learns nothing, so it also counts as
        "no gradient".
        gradient is None or not gradient.any()  →  gradient is None
    any_zero: In your code a gradient with a single 0 counts as missing. Only None, or a gradient of only zeros,
        must count as missing.
        not gradient.any()  →  not gradient.all()
    stale_gradients: Your code reads old gradients from .grad, so it overlooks a parameter that gets none this
        time. Use torch.autograd.grad, which returns None for such a parameter.
        torch.autograd.grad(loss, learned, allow_unused=True)  →  (loss.backward(), [one.grad for one in learned])[1]
    whole_text: The loss includes the whole text, also the question. Take the targets from shift_targets.
        loss = F.cross_entropy(logits.flatten(0, -2), targets)
            →  loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())
        if F.cross_entropy(logits.flatten(0, -2), targets)
            →  if F.cross_entropy(logits[:, :-1].flatten(0, 1), token_ids[:, 1:].flatten())
    any_rise: Your code accepts a model whose loss rises by less than 1 %. The loss has to rise by 1 % or more.
        < 1.01 * loss  →  <= loss
    fall_counts_as_a_rise: Your code accepts a model whose loss falls with other images. The loss has to rise, by
        1 % or more.
        F.cross_entropy(logits.flatten(0, -2), targets) < 1.01 * loss
            →  (F.cross_entropy(logits.flatten(0, -2), targets) - loss).abs() < 0.01 * loss
    absolute_rise: Your code asks for a rise of 0.01. The loss must rise by 1 % of itself: compare with 1.01 ·
        loss.
        1.01 * loss  →  loss + 0.01
    rolls_patches: The second loss is not made with the images of other scenes. Roll the scenes, along the first axis.
        roll(1, 0)  →  roll(1, 1)
    unfreezes: A parameter that was frozen learns now, because requires_grad was changed. Leave the model as it was.
        = (result, model.requires_grad_(True))[0]
    left_in_evaluation_after: The model is in another mode afterwards. Put every part back into its old mode.
        = (result, model.eval())[0]
""", defines="diagnose"))  # fmt: skip
