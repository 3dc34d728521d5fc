"""The ranking of exercise 6.3: explanations of a model, ranked on scenes that the submission has never seen.

The explanations are provided, so that an error in 6.1 or 6.2 costs no points here. The grader draws
the model's weights. The scenes contain digits of the test split.
"""

from collections.abc import Mapping

import torch
from attention.data.tokens import WORDS
from attention.deletion import area_under, deletion_curve, insertion_curve
from attention.measures.evaluation import BLANK_PATCH
from attention.measures.faithfulness import value_weighted
from attention.open_vlm import OpenVLM
from torch import Tensor

from grader.course.lesson_6.own_model import draw_own_questions
from grader.declare.authoring import Inputs, InputSampler, Value, build_quietly, draw_layer_weights
from grader.declare.probes import load

RANKED_SIZES = {
    "d_vision": 64,
    "d_model": 12,
    "num_heads": 3,
    "d_ff": 13,
    "num_layers": 2,
    "vocab_size": len(WORDS),
    "max_tokens": 9,
    "num_patches": 9,
}
CLEAR = 1e-4  # how far apart the areas of two explanations must be for their order to count


def draw_ranked(sampler: InputSampler, *, scenes: int, task: str) -> Inputs:
    """Draw a model and questions about unseen scenes, until the areas of its explanations differ clearly."""
    ours = deletion_curve, insertion_curve, area_under, value_weighted, OpenVLM
    while True:
        inputs = _draw_once(sampler, scenes, task)
        areas = rank_explanations(*ours, **inputs)["areas"]
        if (areas[:, 1] - areas[:, 0]).sort().values.diff().min() > CLEAR:
            return inputs


def _draw_once(sampler: InputSampler, scenes: int, task: str) -> dict:
    """Draw questions and a model's weights, without looking at its explanations."""
    questions = draw_own_questions(sampler, scenes=scenes, task=task)
    weights = draw_layer_weights(sampler, build_quietly(OpenVLM, **RANKED_SIZES), torch.float64)
    weights["head.weight"] *= 3.0  # sure answers, as those of a trained model are
    for which in ("W_Q", "W_K"):
        weights[f"blocks.1.cross_attn.{which}.weight"] *= 2.0
    return {
        "sizes": RANKED_SIZES,
        "weights": weights,
        "token_ids": questions["token_ids"],
        "image_patches": questions["image_patches"].double(),
        "blank": BLANK_PATCH.double(),
    }


def rank_explanations(
    deletion_curve,
    insertion_curve,
    area_under,
    value_weighted,
    OpenVLM,
    sizes: Mapping,
    weights: Mapping,
    token_ids: Tensor,
    image_patches: Tensor,
    blank: Tensor,
) -> Mapping[str, Value]:
    """Explain a model's answers in three ways, and rank the three explanations by insertion minus deletion.

    Returns:
        "ranking": the names of the explanations, the best first. "areas": (3, 2), the areas for
        deletion and insertion of each explanation, as means over the scenes.
    """
    model = load(OpenVLM(**sizes), weights).eval()

    def probability(shown):
        return model(token_ids, shown)[0][:, -1].softmax(-1).gather(1, said).squeeze(1)

    areas = []
    with torch.no_grad():
        seen = model.inside(token_ids, image_patches)
        said = seen.logits[:, -1].argmax(-1, keepdim=True)
        maps = {
            "head average": seen.cross_map.mean(-3),
            "largest head": seen.cross_map.amax(-3),
            "value-weighted": value_weighted(model, image_patches, seen.cross_map),
        }
        for found in maps.values():
            order = found[:, -1].argsort(dim=1, descending=True, stable=True)
            deletion = deletion_curve(probability, image_patches, order, blank)
            insertion = insertion_curve(probability, image_patches, order, blank)
            areas.append(torch.stack([area_under(deletion).mean(), area_under(insertion).mean()]))
    table, names = torch.stack(areas), list(maps)
    best = (table[:, 1] - table[:, 0]).argsort(descending=True)
    return {"ranking": [names[index] for index in best.tolist()], "areas": table}
