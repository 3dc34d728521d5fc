"""Exercise 6.2: `gradient_attention`, attention weighted by the gradient of a score."""

from collections.abc import Mapping

import torch
from attention.explanation_maps import gradient_attention
from torch import Tensor

from grader.course.lesson_6.own_model import OWN_GRADIENTS
from grader.declare.authoring import CheckSpec, Value, drawn, normal, sizes, written_exercise
from grader.declare.probes import side_effects

draw_scored_attention = drawn(
    logits=normal("* heads tokens patches", scale=1.5), value="* heads patches 3", read="heads tokens 3"
)


def scored(logits: Tensor, value: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
    """Return weights (..., H, T, S), and a score (...) that is computed from them."""
    weights = logits.softmax(-1)
    return weights, ((weights @ value).tanh() * read).sum((-3, -2, -1))


def gradient_values(gradient_attention, logits: Tensor, value: Tensor, read: Tensor) -> Mapping[str, Value]:
    """Return the student's map for the weights and the score that `scored` makes."""
    found = gradient_attention(*scored(logits.clone().requires_grad_(), value, read))
    return {"map": found.detach() if isinstance(found, Tensor) else found}


def gradient_purity(gradient_attention, logits: Tensor, value: Tensor, read: Tensor) -> Mapping[str, Value]:
    """Return the map, whether the call leaves weights and score unchanged, and the number of tensors with a `.grad`."""
    learns = [tensor.clone().requires_grad_() for tensor in (logits, value, read)]
    weights, score = scored(*learns)
    before = {"weights": weights.detach().clone(), "score": score.detach().clone()}
    found = gradient_attention(weights=weights, score=score)
    return {
        "map": found.detach() if isinstance(found, Tensor) else found,
        "parameters with a .grad": sum(tensor.grad is not None for tensor in learns),
        **side_effects(before, {"weights": weights.detach(), "score": score.detach()}),
    }


GRADIENT = written_exercise("6.2 Attention times gradient", gradient_attention, (
    CheckSpec("values", 5, "the positive part of weight × gradient, the mean over the heads",
        examples=[sizes(batch_shape=(2,), heads=2, tokens=3, patches=4)],
        trials=[sizes(batch_shape=(3,), heads=2, tokens=5, patches=7),
            sizes(batch_shape=(5,), heads=3, tokens=2, patches=11)], map="map"),
    CheckSpec("batch", 2, "with and without batch dimensions",
        examples=[sizes(batch_shape=(2, 2), heads=2, tokens=2, patches=3)],
        trials=[sizes(heads=3, tokens=5, patches=7), sizes(batch_shape=(2, 3), heads=2, tokens=5, patches=7)]),
    CheckSpec("conduct", 1, "no .grad is filled, and float64 stays float64",
        examples=[sizes(batch_shape=(2,), heads=2, tokens=2, patches=3)],
        trials=[sizes(batch_shape=(3,), heads=2, tokens=5, patches=7, dtype=torch.float64)], probe=gradient_purity),
    CheckSpec("own model", 2, "the same for the answers of your trained model, to questions that you have not seen",
        trials=[sizes(scenes=20, task="where")], **OWN_GRADIENTS),
),
    draw=draw_scored_attention, probe=gradient_values,
    difficulty=2, minutes=10, review="Attention times gradient",
    mistakes="""
    gradient_alone: You return only the gradient. Multiply it by the weights.
        (weights.detach() * gradient)  →  gradient
    weights_alone: You return only the weights, averaged over the heads. Use the gradient, too.
        (weights.detach() * gradient).clamp(min=0)  →  weights.detach()
    negative_kept: Your code keeps negative products, which belong to weights that lower the score. Set these
        products to 0 before the mean.
        .clamp(min=0)  →
    absolute_value: Your code takes the absolute value, so weights that lower the score also count. Set negative
        products to 0.
        .clamp(min=0)  →  .abs()
    mean_before_clamp: Your code takes the mean over the heads too early, so heads cancel each other. Set negative
        products to 0 in each head before the mean.
        .clamp(min=0).mean(-3)  →  .mean(-3).clamp(min=0)
    averaged_apart: Weights and gradient are averaged over the heads before they are multiplied. Multiply in each head.
        (weights.detach() * gradient).clamp(min=0).mean(-3)
            →  weights.detach().mean(-3) * gradient.clamp(min=0).mean(-3)
    summed_heads: The heads are added up. Take their mean.
        .mean(-3)  →  .sum(-3)
    mean_of_what_helps: Your code divides the sum by the number of heads with a positive product. Divide by the
        number of all heads.
        .mean(-3)  →  .sum(-3) / (weights.detach() * gradient > 0).sum(-3).clamp(min=1)
    wrong_sign: Your sign is wrong: you keep the products that lower the score, and lose those that raise it. Keep
        those that raise it.
        weights.detach() *  →  -weights.detach() *
    first_scene_alone: Your code uses only the first scene's score, so the maps of the other scenes are 0. Take
        the gradient of the sum of all scores.
        score.sum()  →  score.flatten()[0]
    gradient_of_the_mean: You take the gradient of the mean over the scenes, which is too small in a batch. Take
        the gradient of the sum.
        = result / score.numel()
    rows_normalised: The rows are normalised to sum to 1. Return the products as they are.
        = result / result.sum(-1, keepdim=True).clamp(min=1e-9)
    fills_every_grad (slip): Your backward() also fills the .grad of every parameter of the model. Use
        torch.autograd.grad, which returns the gradient and fills nothing.
        + weights.retain_grad()
        + score.sum().backward()
        + return (weights.detach() * weights.grad).clamp(min=0).mean(-3)
""")  # fmt: skip
