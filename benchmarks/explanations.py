"""Do maps explain lesson 3's model? python -m benchmarks.explanations [--seeds 5] [--reader].

For every seed a model is trained by the lesson's recipe and asked 1,000 held-out questions of each kind. Measured: the area
under deletion and insertion of four explanations, of a random order, and of an order that knows the effect of each patch
("one blanked"); how often a map is largest on the patch in question; the rank correlation of each map with these effects;
what the answer does when weights go to other patches (Jain and Wallace 2019, section 4.2) or become uniform; which heads
carry the answer (put in), which it needs (taken out), and which are enough by themselves (alone). Two controls: a model that is trained with uniform weights
(Wiegreffe and Pinter 2019, section 3.1), and one whose first block looks at the image and not the last, for rollout.

With `--reader`: the lab's own 500 questions of each kind, and no controls; each line says with which kernels. Append what comes
out with `ATEN_CPU_CAPABILITY=default` and without it to the results: what a reader sees depends on how a processor rounds.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations

import torch
from attention.activation_patching import patch_head
from attention.data.tokens import TASKS, Questions
from attention.deletion import area_under, deletion_curve, insertion_curve
from attention.experiments import recipe
from attention.explanation_maps import attention_rollout, gradient_attention
from attention.measures.evaluation import BLANK_PATCH, another_cell, held_out, on_target, prompt_of
from attention.measures.faithfulness import (
    effects_of,
    first_word,
    four_maps,
    probability_of,
    put_in_and_taken_out,
    rank_correlation,
    shuffled,
    with_weights,
)
from attention.open_vlm import OpenVLM, answer_step
from attention.patches import swap_patches
from attention.vlm import MiniVLM
from torch import Tensor, nn

from benchmarks import publish

SCENES, HEADS = 1000, range(recipe.MODEL["num_heads"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--reader", action="store_true", help="what a reader of the lab sees with these kernels")
    options = parser.parse_args()
    seeds, reader = options.seeds, options.reader
    torch.set_num_threads(1)
    kernels = {"kernels": torch.backends.cpu.get_cpu_capability()} if reader else {}
    runs = []
    for seed in range(seeds):
        model = OpenVLM(**recipe.MODEL)
        recipe.train(model, answer_step, seed)
        for number, task in enumerate(TASKS):
            questions = held_out(task, 500) if reader else held_out(task, SCENES, seed=100 + number)
            found = measured(model.eval(), task, questions, seed if reader else 100 + number)
            runs.append({**kernels, "seed": seed, "task": task, **found})
            print(json.dumps(runs[-1]), flush=True)
    if reader:
        return
    controls = [{"seed": seed, **uniform_from_the_start(seed), **early_look(seed)} for seed in range(seeds)]
    for control in controls:
        print(json.dumps(control), flush=True)
    publish("explanations", figures(runs), rows(runs))


def measured(model: OpenVLM, task: str, questions: Questions, seed: int) -> dict:
    """All measurements of one model on questions of one kind."""
    prompts, patches = prompt_of(task, questions), questions.image_patches
    said = first_word(model, prompts, patches)
    score = probability_of(model, prompts, said)
    maps = four_maps(model, prompts, patches, attention_rollout, gradient_attention)
    effects = effects_of(score, patches)
    maps |= {
        "random order": torch.rand(len(patches), 9, generator=torch.Generator().manual_seed(seed)),
        "one blanked": effects,
    }
    found = {name: explained(score, patches, one, effects, questions) for name, one in maps.items()}
    return {"maps": found, **counterfactuals(model, prompts, patches, said), **carried(model, prompts, questions)}


def explained(score, patches: Tensor, found: Tensor, effects: Tensor, questions: Questions) -> dict[str, float]:
    """How good one map (B, 9) is."""
    order = found.argsort(dim=1, descending=True)
    return {
        "deletion": rounded(area_under(deletion_curve(score, patches, order, BLANK_PATCH))),
        "insertion": rounded(area_under(insertion_curve(score, patches, order, BLANK_PATCH))),
        "on target": round(on_target(found, questions.cells[:, 0]), 4),
        "rank correlation": rounded(rank_correlation(found, effects)),
    }


def rounded(values: Tensor) -> float:
    return round(values.float().mean().item(), 4)


def counterfactuals(model: OpenVLM, prompts: Tensor, patches: Tensor, said: Tensor) -> dict:
    """The share of first words that stay the same when weights are shuffled or uniform."""

    def same(change) -> float:
        return rounded(with_weights(model, prompts, patches, change) == said)

    def only_last_word(handed: Tensor) -> Tensor:
        last = torch.arange(handed.shape[2]) == handed.shape[2] - 1
        return handed * last[:, None]

    with torch.no_grad():
        whole = model(prompts, patches)[0][:, -1]
        cut = model.inside(prompts, patches, only_last_word).logits[:, -1]
    return {
        "same word, a head shuffled": [same(shuffled([head])) for head in HEADS],
        "same word, all shuffled": same(shuffled(HEADS)),
        "same word, uniform": same(lambda weights: torch.full_like(weights, 1 / weights.shape[-1])),
        "largest change of a logit when earlier words see nothing": (whole - cut).abs().max().item(),
    }


def carried(model: OpenVLM, prompts: Tensor, questions: Questions) -> dict:
    """Which heads carry the answer, and which sets of heads are enough."""
    clean, cells = questions.image_patches, questions.cells[:, 0]
    twin = swap_patches(clean, cells, another_cell(cells))
    wanted, other = first_word(model, prompts, clean), first_word(model, prompts, twin)
    counts = wanted != other
    pairs = {}
    for number in (2, 3):
        enough = {
            "".join(map(str, heads)): rounded((several(model, heads, prompts, clean, twin) == wanted)[counts])
            for heads in combinations(HEADS, number)
        }
        best = max(enough, key=enough.__getitem__)
        pairs[f"best {number} put in"] = {best: enough[best]}
    shares = put_in_and_taken_out(model, patch_head, prompts, clean, twin)
    with torch.no_grad():
        on_target = model.inside(prompts, clean).cross_map[torch.arange(len(cells)), :, -1, cells].mean(0)
    return {
        "counted": rounded(counts),
        **{name: [round(share, 4) for share in values] for name, values in shares.items()},
        **pairs,
        "weight on the right patch": [round(share, 4) for share in on_target.tolist()],
    }


def several(model: OpenVLM, heads, prompts: Tensor, clean: Tensor, twin: Tensor) -> Tensor:
    """The first words (B,) for the twins with several heads put in from the clean scenes."""
    with torch.no_grad():
        taken = model.inside(prompts, clean).heads

        def edit(handed: Tensor) -> Tensor:
            handed = handed.clone()
            handed[:, list(heads)] = taken[:, list(heads)]
            return handed

        return model.inside(prompts, twin, edit).logits[:, -1].argmax(-1)


# ---------------------------------------------------------------- controls: trainings


class _Zeros(nn.Module):
    """Queries that ask for nothing: all weights are equal."""

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.zeros_like(tokens)


def uniform_from_the_start(seed: int) -> dict:
    """Train with uniform weights over the image; return the share of right first words."""
    model = OpenVLM(**recipe.MODEL)
    model.blocks[-1].cross_attn.W_Q = _Zeros()
    recipe.train(model, answer_step, seed)
    return {"trained with uniform weights": right_first_words(model)}


def right_first_words(model: nn.Module) -> dict[str, float]:
    found = {}
    for number, task in enumerate(TASKS):
        questions = held_out(task, SCENES, seed=100 + number)
        prompts = prompt_of(task, questions)
        said = first_word(model, prompts, questions.image_patches)
        found[task] = rounded(said == questions.token_ids[:, prompts.shape[1]])
    return found


def early_look(seed: int) -> dict:
    """Train a model whose first block looks at the image, so that a self-attention mixes what was seen."""
    model = MiniVLM(**recipe.MODEL, cross_layers=[0])
    recipe.train(model, answer_step, seed)
    found = {}
    for number, task in enumerate(TASKS):
        questions = held_out(task, SCENES, seed=100 + number)
        prompts, patches = prompt_of(task, questions), questions.image_patches
        met: list[Tensor] = []
        handle = model.blocks[-1].self_attn.register_forward_hook(lambda *given, met=met: met.append(given[-1][1]))
        said = first_word(model, prompts, patches)
        with torch.no_grad():
            cross_map = model(prompts, patches)[1][-1]
        handle.remove()
        score = probability_of(model, prompts, said)
        maps = {"head average": cross_map.mean(1)[:, -1], "rollout": attention_rollout(met[:1], cross_map)[:, -1]}
        effects = effects_of(score, patches)
        found[task] = {name: explained(score, patches, one, effects, questions) for name, one in maps.items()}
    return {"first block looks": found, "first block looks, right": right_first_words(model)}


# ---------------------------------------------------------------- what is printed


def rows(runs: list[dict]) -> list[dict]:
    return [
        {"seed": run["seed"], "task": run["task"], "map": name, **values}
        for run in runs
        for name, values in run["maps"].items()
    ]


def figures(runs: list[dict]) -> dict[str, float]:
    """The least and the most over the seeds of insertion minus deletion, by kind of question and map."""
    found = {}
    for task in TASKS:
        for name in runs[0]["maps"]:
            these = [run["maps"][name] for run in runs if run["task"] == task]
            quality = [one["insertion"] - one["deletion"] for one in these]
            found[f"{task}, {name}, min"] = round(min(quality), 4)
            found[f"{task}, {name}, max"] = round(max(quality), 4)
    return found


if __name__ == "__main__":
    main()
