"""The check of 2.6 that dropout acts on the attention weights: its probe and its judge.

A probe calls the student's code and returns values. A judge decides if these values are right.
"""

from collections.abc import Mapping
from typing import Any

import torch
from attention.heads import split_heads
from attention.multi_head import MultiHeadAttention
from torch import Tensor

from grader.course.lesson_2.layers import draw_head_projections
from grader.declare.authoring import Case, Finding, Inputs, InputSampler, failed
from grader.declare.probes import as_tensor, load, load_alone, pair
from grader.judge.compare import difference


def draw_dropout(sampler: InputSampler, *, tokens: int, heads: int, d_head: int, dropout: float) -> Inputs:
    """Draw weights and tokens for a layer with dropout. Add the number of copies that the probe passes to it."""
    d_model = heads * d_head
    return {
        "d_model": d_model,
        "num_heads": heads,
        "dropout": dropout,
        "weights": draw_head_projections(sampler, "", d_model, d_model),
        "tokens": sampler.normal(tokens, d_model),
        "repeats": 6000,
    }


def attend_with_dropout(
    MultiHeadAttention,
    d_model: int,
    num_heads: int,
    dropout: float,
    weights: Mapping[str, Tensor],
    tokens: Tensor,
    repeats: int,
) -> dict[str, Any]:
    """Return the results of a layer for many copies of the same tokens in training mode, and in evaluation mode."""
    torch.manual_seed(0)
    layer = load_alone(MultiHeadAttention(d_model, num_heads, dropout=dropout), weights)
    many = tokens.expand(repeats, *tokens.shape)
    layer.train()
    returned, maps = pair(layer(many))
    output = as_tensor(returned, "output")
    again = as_tensor(pair(layer(many[:9]))[0], "output")
    others = as_tensor(pair(layer(many[:9]))[0], "output")
    layer.eval()
    quiet, _ = pair(layer(tokens.unsqueeze(0)))
    return {
        "weights": as_tensor(maps, "weights")[:3],
        "mean of the outputs": output.mean(0),
        "variance of the outputs": output.var(0),
        "output in evaluation mode": quiet,
        "another call drops others": not torch.equal(again, others),
    }


def unusable(values: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Return a message about the first tensor that is missing, not float32, misshapen or not finite.

    Return "" if all tensors can be used.

    Args:
        shapes: the name of each tensor → its expected shape.
    """
    for name, shape in shapes.items():
        tensor = values.get(name)
        if not isinstance(tensor, Tensor):
            return f"{name} is {type(tensor).__name__}, expected float32, {shape}"
        if tensor.dtype != torch.float32 or tuple(tensor.shape) != shape:
            text = f"{name} is {tensor.dtype}, {tuple(tensor.shape)}, expected float32, {shape}"
            return text.replace("torch.", "")
        if not tensor.isfinite().all():
            return f"{name} holds NaN or infinite numbers"
    return ""


def drops_weights(case: Case) -> Finding:
    """Judge if dropout acts on the attention weights, in training mode only.

    The layer must return the weights from before dropout, and the mean and variance of its outputs
    must be those that dropout on the weights gives. If each weight is kept with probability 1 − p
    and then multiplied by 1 / (1 − p), the contribution of a key to a query's output has the
    variance p / (1 − p) times its square, independently of all others. The judge does not compare
    single random numbers, because a loop over heads draws them in another order.
    """
    expected = case.expected()
    exact = {
        "output in evaluation mode": "in evaluation mode nothing is dropped",
        "weights": "the weights to return are those before dropout",
        "another call drops others": "two calls drop the same weights: the layer sets the seed of the random numbers",
    }
    for name, why in exact.items():
        if problem := difference(name, case.got.get(name), expected[name], rtol=10):
            return failed(f"{problem}; {why}")
    moments = "mean of the outputs", "variance of the outputs"
    output, variance = (expected[name].double() for name in moments)
    if problem := unusable(case.got, dict.fromkeys(moments, tuple(output.shape))):
        return failed(problem)
    mean, spread = (case.got[name].double() for name in moments)
    # Tolerances: six standard errors for the mean. For the variance 25 % of its value: the outputs are sums
    # of a few coin tosses, so the variance of 6000 of them is known less well.
    if ((mean - output).abs() > 6 * (variance / case.inputs["repeats"]).sqrt() + 1e-4).any():
        return failed("with dropout the output is not right on average")
    if ((spread - variance).abs() > 0.25 * variance + 1e-6).any():
        return failed("in training mode the output does not vary as it does when weights are dropped")
    return Finding(passed=True)


def expected_moments(inputs: Inputs) -> dict[str, Tensor]:
    """Return the expected results of the reference: weights, output, and the mean and variance of its outputs.

    Only the variance is computed with dropout.
    """
    heads, p = inputs["num_heads"], inputs["dropout"]
    layer = load(MultiHeadAttention(inputs["d_model"], heads), inputs["weights"])
    with torch.no_grad():
        output, maps = layer(inputs["tokens"])
        value = split_heads(layer.W_V(inputs["tokens"]), heads)
        slices = layer.W_O.weight.unflatten(-1, (heads, -1)).permute(1, 2, 0)  # (H, d_head, d_model)
        variance = torch.einsum("hts,hsd->td", maps**2, (value @ slices) ** 2) * p / (1 - p)
    return {
        "weights": maps.expand(3, *maps.shape),
        "mean of the outputs": output,
        "variance of the outputs": variance,
        "output in evaluation mode": output.unsqueeze(0),
        "another call drops others": True,
    }
