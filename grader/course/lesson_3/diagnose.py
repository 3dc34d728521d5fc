"""Practice 3.P4: `diagnose`, which names the fault of a model. The code calls a fault an illness."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from attention.diagnostics import diagnose
from torch import Tensor, nn
from torch.nn import functional as F

from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.sampler import InputSampler
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def patient(image_patches: Tensor, illness: str) -> nn.Module:
    """Make a model with the interface of MiniVLM that reads its answer off the first patch, and may be ill."""
    vocabulary = image_patches.shape[-1]

    class Patient(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(5.0))
            self.offset = nn.Parameter(torch.linspace(-0.1, 0.1, vocabulary))
            self.spare = nn.Parameter(torch.ones(3))

        def forward(self, token_ids: Tensor, image_patches: Tensor):
            batch, T = token_ids.shape
            S = image_patches.shape[-2]
            seen = image_patches[:, 0]
            if illness == "misaligned":  # every scene looks like the average one
                seen = seen.mean(0).expand_as(seen)
            logits = (self.scale * seen + self.offset).unsqueeze(1).expand(batch, T, vocabulary)
            if illness != "no gradient":
                logits = logits + self.spare.sum() * torch.linspace(0, 0.01, vocabulary, device=seen.device)
            scene, head, word = (torch.arange(size, device=seen.device) for size in (batch, 2, T))
            patch = scene[:, None, None] + head[:, None] + word  # (batch, 2, T)
            scores = 4.0 * F.one_hot(patch % S, S).float()
            if illness == "uniform":
                scores = 0.0 * scores
            if illness == "one patch":
                scores = 9.0 * F.one_hot(torch.ones_like(patch), S).float()
            return logits, [scores.softmax(-1)]

    model = Patient().to(image_patches.device)
    if illness == "frozen":
        model.offset.requires_grad_(False)
    return model


def draw_patient(sampler: InputSampler, *, scenes: int, illness: str) -> Inputs:
    """Draw questions on scenes whose first patch encodes the answer, and add the model's illness."""
    answers = sampler.permutation(11)[:scenes] + 1  # 0 is padding
    patches = F.one_hot(answers, 13).float().unsqueeze(1) + sampler.normal(scenes, 5, 13, scale=0.05)
    prompt = sampler.integers(1, 13, scenes, 3)
    token_ids = torch.cat([prompt, answers.unsqueeze(1), torch.zeros(scenes, 1, dtype=torch.long)], 1)
    return {
        "illness": illness,
        "token_ids": token_ids,
        "prompt_lengths": torch.full((scenes,), 3),
        "image_patches": patches,
    }


def diagnose_values(
    diagnose, illness: str, token_ids: Tensor, prompt_lengths: Tensor, image_patches: Tensor
) -> Mapping[str, Value]:
    model = patient(image_patches, illness)
    return {"found": list(diagnose(model, (token_ids, prompt_lengths, image_patches)))}


@mistake("diagnose", "Nothing is ever found.")
def never_ill(model, batch):
    return []


@mistake("diagnose", "A healthy model is called ill: the list is empty where nothing is found.")
def always_ill(model, batch):
    return diagnose(model, batch) or ["misaligned"]


@mistake(
    "diagnose",
    "Uniform attention and attention on one patch are opposites; here they are told as one another.",
)
def collapses_confused(model, batch):
    other = {"uniform": "one patch", "one patch": "uniform"}
    return [other.get(name, name) for name in diagnose(model, batch)]


@mistake("diagnose", "A frozen parameter and one that no gradient reaches are two findings.")
def frozen_confused(model, batch):
    return ["no gradient" if name == "frozen" else name for name in diagnose(model, batch)]


SHOWN_ILLNESSES = ("none", "uniform", "one patch", "misaligned", "frozen", "no gradient")
HIDDEN_ILLNESSES = ("none", "frozen", "no gradient", "uniform", "one patch", "misaligned")
DIAGNOSE = Exercise(
    id="3.P4",
    title="Practice: what is wrong with this model?",
    reference=(diagnose,),
    points=0,
    difficulty=3,
    minutes=15,
    builds_on=("3.5",),
    checks=(
        Check(
            name="values",
            title="five illnesses and a healthy model are told apart",
            points=0,
            probe=diagnose_values,
            examples=trials(draw_patient, *(dict(scenes=5, illness=illness) for illness in SHOWN_ILLNESSES)),
            trials=trials(draw_patient, *(dict(scenes=7, illness=illness) for illness in HIDDEN_ILLNESSES)),
        ),
    ),
    mistakes=mistakes_in(globals(), "diagnose"),
    review="What goes wrong",
)
