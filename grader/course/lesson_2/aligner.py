"""Exercise 2.1, TokenAligner: one linear layer, two layers with a GELU, or the identity."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.alignment import TokenAligner
from torch import Tensor

from grader.course.lesson_2 import stand_ins
from grader.course.lesson_2.layers import draw_projection, gradients_and_size
from grader.declare.authoring import CheckSpec, InputSampler, Sizes, drawn, drawn_layer, given, sizes, written_exercise
from grader.declare.probes import as_module, load, raised


def draw_aligner_weights(sampler: InputSampler, sizes: Sizes) -> dict[str, Tensor]:
    """Draw the weights of an aligner for the trial's method. The method "identity" has no weights."""
    d_vision, d_text, dtype = sizes["d_vision"], sizes["d_text"], sizes.get("dtype", torch.float32)
    method = sizes.get("method", "linear")
    if method == "mlp":
        first = draw_projection(sampler, "proj.0", d_vision, d_text, dtype=dtype)
        return first | draw_projection(sampler, "proj.2", d_text, d_text, dtype=dtype)
    return draw_projection(sampler, "proj", d_vision, d_text, dtype=dtype) if method == "linear" else {}


draw_aligner = drawn_layer(
    draw_aligner_weights,
    dict(d_vision="d_vision", d_text="d_text", method=given("method", "linear")),
    tokens="* tokens d_vision",
)


def aligner_default(layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping) -> dict[str, Any]:
    """Return the aligned tokens of an aligner that is made without a method."""
    aligner = load(layer_class(sizes["d_vision"], sizes["d_text"]), weights)
    return {"aligned": aligner(arguments["tokens"])}


def aligner_values(layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping) -> dict[str, Any]:
    """Return the aligned tokens of an aligner whose method is passed by keyword."""
    aligner = load(layer_class(sizes["d_vision"], sizes["d_text"], method=sizes["method"]), weights)
    return {"aligned": aligner(arguments["tokens"])}


def aligner_limits(TokenAligner, tokens: Tensor) -> dict[str, Any]:
    """Return the result of an identity, and the errors for wrong arguments.

    The wrong arguments are an unknown method, and two different widths for an identity.
    """
    width = tokens.shape[-1]
    linear = as_module(TokenAligner(width, width)).to(tokens.device)
    return {
        "identity": TokenAligner(width, width, "identity")(tokens),
        "linear between equal widths changes nothing": torch.equal(linear(tokens), tokens),
        "error for an unknown method": raised(lambda: TokenAligner(width, width, "projection")(tokens)),
        "error for a part of a method's name": raised(lambda: TokenAligner(width, width, "line")(tokens)),
        "error for an identity between different widths": raised(
            lambda: TokenAligner(width, width + 1, method="identity")(tokens)
        ),
        "error for an identity to a smaller width": raised(
            lambda: TokenAligner(width, width - 1, method="identity")(tokens)
        ),
    }


ALIGNER = written_exercise("2.1 A currency exchange for tokens", TokenAligner, (
    CheckSpec("linear", 3, "the linear form, which is the default",
        examples=[sizes(batch_shape=(2,), tokens=3, d_vision=4, d_text=2)],
        trials=[sizes(batch_shape=(2,), tokens=7, d_vision=5, d_text=3), sizes(tokens=5, d_vision=11, d_text=2)],
        probe=aligner_default),
    CheckSpec("mlp", 3, "the form with two layers", examples=[sizes(tokens=3, d_vision=4, d_text=2, method="mlp")],
        trials=[sizes(batch_shape=(2,), tokens=7, d_vision=5, d_text=3, method="mlp"),
            sizes(batch_shape=(2, 3), tokens=5, d_vision=11, d_text=7, method="mlp")], probe=aligner_values),
    CheckSpec("limits", 2, "identity, and a ValueError for what cannot be", examples=[sizes(tokens=2, width=3)],
        trials=[sizes(tokens=5, width=7)], 
        needs=("linear",), draw=drawn(tokens="2 tokens width"), draw_public=drawn(tokens="tokens width"),
        probe=aligner_limits, ),
    CheckSpec("conduct", 2, "everything learns, nothing else is there, float64 stays float64",
        trials=[sizes(batch_shape=(2,), tokens=5, d_vision=7, d_text=3, dtype=torch.float64),
            sizes(tokens=5, d_vision=7, d_text=3, method="mlp", dtype=torch.float64),
            sizes(batch_shape=(1,), tokens=1, d_vision=7, d_text=3, method="mlp", dtype=torch.float64)],
        needs=("linear", "mlp"), probe=gradients_and_size),
),
    draw=draw_aligner, returns=("aligned",),
    difficulty=1, minutes=8, review="The exchange", stand_in=stand_ins.TokenAligner,
    mistakes="""
    truncates: You return only the first numbers of each token, cut to the width of the text. Put the tokens
        through self.proj instead.
        + parts = [part for part in self.modules() if isinstance(part, nn.Linear)]
        self.proj(tokens)  →  tokens[..., : parts[-1].out_features] if parts else tokens
    no_bias (slip): A linear layer of yours has no bias. Every linear layer here must have one: do not switch it
        off in nn.Linear.
        self.proj = nn.Linear(d_vision, d_text)  →  self.proj = nn.Linear(d_vision, d_text, bias=False)
        (nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
            →  (nn.Linear(d_vision, d_text, bias=False), nn.GELU(), nn.Linear(d_text, d_text, bias=False))
    mlp_by_default: If no `method` is given, your class makes the "mlp". The default must be "linear".
        method: str = "linear"  →  method: str = "mlp"
    method_ignored: "mlp" gives a single linear layer here. It should give an nn.Sequential of two, with a GELU
        between them.
        elif method == "mlp"  →  elif method == ""
        self.proj = nn.Identity()  →  self.proj = nn.Identity() if method == "identity" else nn.Linear(d_vision, d_text)
    relu_for_gelu: This is a ReLU between the two linear layers. Put nn.GELU() there.
        nn.GELU()  →  nn.ReLU()
    approximate_gelu: Your GELU is only the approximate one. Use nn.GELU() as it is, without approximate='tanh'.
        nn.GELU()  →  nn.GELU(approximate="tanh")
    no_gelu: Your two linear layers follow each other directly, so they do no more than a single one. Put
        nn.GELU() between them.
        nn.GELU()  →  nn.Identity()
    gelu_at_the_end: There is a second GELU after the last linear layer. Leave it out.
        nn.GELU(), nn.Linear(d_text, d_text)  →  nn.GELU(), nn.Linear(d_text, d_text), nn.GELU()
    hidden_at_vision_width: The hidden layer is as wide as the image tokens. Make it as wide as the text: the first
        layer goes from d_vision to d_text, the second from d_text to d_text.
        nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)
            →  nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text)
    normalised: Your aligner normalises its output to length 1. It must only project the tokens: the loss
        normalises them later.
        = F.normalize(result, dim=-1)
    identity_at_any_width: An identity cannot change the width. Raise a ValueError if d_vision and d_text differ.
        if method == "identity" and d_vision != d_text:  →  if False:
    any_method: Your class accepts a method that is not in the table. Raise a ValueError instead.
        + __init__: method = method if method in METHODS else "identity"
    part_of_a_name: Your class accepts a part of a method's name, because `in` also finds parts of a string.
        Compare with ==.
        + __init__: method = next((known for known in METHODS if method in known), method)
    asserts_instead: Python ignores an assert under -O, and its error does not explain what is wrong. Raise a
        ValueError instead.
        + __init__: assert method in METHODS
        + __init__: assert method != "identity" or d_vision == d_text
""")  # fmt: skip
