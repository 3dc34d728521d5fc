"""Lesson 2, declared: token alignment and many heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, sqrt
from typing import Any

import torch
from attention.ablation import ablate_head
from attention.alignment import TokenAligner, alignment_loss, explained_variance
from attention.digits import digits
from attention.fusion import ImageTextFusion
from attention.heads import merge_heads, split_heads
from attention.matching import word_vectors
from attention.multi_head import AlignedCrossAttention, MultiHeadAttention
from attention.patterns import attention_entropy, classify_pattern
from attention.reader import TwoCellReader, draw_reading
from torch import Tensor, nn
from torch.nn import functional as F

from grader.checks.compare import difference
from grader.declaration.exercise import Check, Exercise, mistake
from grader.declaration.lesson import Lesson
from grader.declaration.probes import load, pair, purity_and_gradients, strided
from grader.declaration.sampler import InputSampler
from grader.declaration.trial import Trial, trials
from grader.records import Case, Finding, Inputs

FUSED = frozenset({"fused attention"})  # what 2.6 and 2.7 may not call; see grader.checks.from_scratch
MATCHING_GATE = 0.90  # of unseen digits; a trained linear aligner reaches 0.94 to 0.97
READING_GATE = 0.90  # both digits right on unseen scenes; four heads reach 0.94 to 0.97
LOOKING_GATE = (
    0.90  # for each named cell, the share of scenes where its best head looks there first; 0.99 to 1
)


def raised(make: Callable[[], Any]) -> str:
    """What a call raised: "ValueError" for it and its subclasses, another error's name, or "no error"."""
    try:
        make()
    except NotImplementedError:
        raise
    except ValueError:
        return "ValueError"
    except Exception as error:
        return type(error).__name__
    return "no error"


def size_of(layer: nn.Module) -> int:
    """How many numbers a layer can learn."""
    return sum(parameter.numel() for parameter in layer.parameters())


def draw_linear(
    draw: InputSampler, name: str, into: int, out: int, bias: bool = True, dtype=torch.float32
) -> dict[str, Tensor]:
    weights = {f"{name}.weight": draw.normal(out, into, scale=1.5 / sqrt(into), dtype=dtype)}
    return {**weights, f"{name}.bias": draw.normal(out, dtype=dtype)} if bias else weights


def draw_heads(
    draw: InputSampler, name: str, d_model: int, d_context: int, dtype=torch.float32
) -> dict[str, Tensor]:
    """The four projections of a MultiHeadAttention; `name` is "" or ends with a dot."""
    found: dict[str, Tensor] = {}
    for part, width in (("W_Q", d_model), ("W_K", d_context), ("W_V", d_context), ("W_O", d_model)):
        found |= draw_linear(draw, name + part, width, d_model, bias=False, dtype=dtype)
    return found


# ---------------------------------------------------------------- 2.1 TokenAligner


def draw_aligner(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    d_vision: int,
    d_text: int,
    method="linear",
    dtype=torch.float32,
) -> Inputs:
    weights: dict[str, Tensor] = {}
    if method == "linear":
        weights = draw_linear(draw, "proj", d_vision, d_text, dtype=dtype)
    if method == "mlp":
        weights = draw_linear(draw, "proj.0", d_vision, d_text, dtype=dtype)
        weights |= draw_linear(draw, "proj.2", d_text, d_text, dtype=dtype)
    image = draw.normal(*batch_shape, tokens, d_vision, dtype=dtype)
    return {"d_vision": d_vision, "d_text": d_text, "method": method, "weights": weights, "tokens": image}


def draw_aligner_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_aligner(draw, **sizes)
    along = draw.normal(
        *sizes.get("batch_shape", ()), sizes["tokens"], sizes["d_text"], dtype=inputs["tokens"].dtype
    )
    return {**inputs, "along": along}


def aligner_default(TokenAligner, d_vision: int, d_text: int, weights: Mapping[str, Tensor], tokens: Tensor):
    aligner = load(TokenAligner(d_vision, d_text), weights)
    return {"aligned": aligner(tokens)}


def aligner_values(TokenAligner, d_vision: int, d_text: int, method: str, weights: Mapping, tokens: Tensor):
    aligner = TokenAligner(d_vision, d_text, method=method)
    aligner = load(aligner, weights) if weights else aligner
    return {"aligned": aligner(tokens)}


def aligner_limits(TokenAligner, tokens: Tensor):
    width = tokens.shape[-1]
    return {
        "identity": TokenAligner(width, width, "identity")(tokens),
        "error for an unknown method": raised(lambda: TokenAligner(width, width, "projection")(tokens)),
        "error for an identity between different widths": raised(
            lambda: TokenAligner(width, width + 1, method="identity")(tokens)
        ),
    }


def aligner_conduct(
    TokenAligner,
    d_vision: int,
    d_text: int,
    method: str,
    weights: Mapping[str, Tensor],
    tokens: Tensor,
    along: Tensor,
):
    aligner = load(TokenAligner(d_vision=d_vision, d_text=d_text, method=method), weights)

    def call(tokens: Tensor) -> dict[str, Tensor]:
        return {"aligned": aligner(strided(tokens))}

    parameters = {name: aligner.get_parameter(name) for name in weights}
    report = purity_and_gradients(call, {"tokens": tokens}, {"aligned": along}, parameters)
    return {**report, "numbers to learn": size_of(aligner)}


@mistake(
    "TokenAligner", "The first numbers of a patch are pixels, not words. Put the tokens through self.proj."
)
class Truncates(TokenAligner):
    def forward(self, tokens: Tensor) -> Tensor:
        parts = [part for part in self.modules() if isinstance(part, nn.Linear)]
        return tokens[..., : parts[-1].out_features] if parts else tokens


@mistake("TokenAligner", "The linear layers have a bias here. nn.Linear has one unless you switch it off.")
class NoBias(TokenAligner):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        super().__init__(d_vision, d_text, method)
        for part in self.modules():
            if isinstance(part, nn.Linear):
                part.register_parameter("bias", None)


@mistake("TokenAligner", 'The method is not used: "mlp" must give a different self.proj than "linear".')
class MethodIgnored(TokenAligner):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        super().__init__(d_vision, d_text)


@mistake("TokenAligner", "Between the two linear layers stands a GELU, not a ReLU.")
class ReluForGelu(TokenAligner):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        super().__init__(d_vision, d_text, method)
        if method == "mlp":
            self.proj[1] = nn.ReLU()


@mistake("TokenAligner", "This is the approximate GELU. Take nn.GELU() as it is, without approximate='tanh'.")
class ApproximateGelu(TokenAligner):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        super().__init__(d_vision, d_text, method)
        if method == "mlp":
            self.proj[1] = nn.GELU(approximate="tanh")


@mistake("TokenAligner", "Two linear layers in a row are one linear layer. Put nn.GELU() between them.")
class NoGelu(TokenAligner):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        super().__init__(d_vision, d_text, method)
        if method == "mlp":
            self.proj[1] = nn.Identity()


@mistake("TokenAligner", "The hidden layer is as wide as the text: d_vision → d_text, GELU, d_text → d_text.")
class HiddenAtVisionWidth(TokenAligner):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        super().__init__(d_vision, d_text, method)
        if method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))


@mistake(
    "TokenAligner", "The output is normalised to length 1. The aligner only projects; the loss normalises."
)
class Normalised(TokenAligner):
    def forward(self, tokens: Tensor) -> Tensor:
        return F.normalize(self.proj(tokens), dim=-1)


@mistake(
    "TokenAligner",
    "An identity cannot change the width. Raise a ValueError where d_vision and d_text differ.",
)
class IdentityAtAnyWidth(TokenAligner):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        super().__init__(d_vision, d_vision if method == "identity" else d_text, method)


@mistake("TokenAligner", "A method that nobody knows must not pass silently. Raise a ValueError.")
class AnyMethod(TokenAligner):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        super().__init__(d_vision, d_text, method if method in ("linear", "mlp") else "identity")


@mistake("TokenAligner", "An assert disappears under python -O and says little. Raise a ValueError instead.")
class AssertsInstead(TokenAligner):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear") -> None:
        assert method in ("linear", "mlp", "identity")
        assert method != "identity" or d_vision == d_text
        super().__init__(d_vision, d_text, method)


ALIGNER = Exercise(
    id="2.1",
    title="A currency exchange for tokens",
    reference=(TokenAligner,),
    points=10,
    difficulty=1,
    minutes=8,
    checks=(
        Check(
            name="linear",
            title="the linear form, which is the default",
            points=3,
            probe=aligner_default,
            examples=trials(draw_aligner, dict(batch_shape=(2,), tokens=3, d_vision=4, d_text=2)),
            trials=trials(
                draw_aligner,
                dict(batch_shape=(2,), tokens=7, d_vision=5, d_text=3),
                dict(tokens=5, d_vision=11, d_text=2),
            ),
        ),
        Check(
            name="mlp",
            title="the form with two layers",
            points=3,
            probe=aligner_values,
            examples=trials(draw_aligner, dict(tokens=3, d_vision=4, d_text=2, method="mlp")),
            trials=trials(
                draw_aligner,
                dict(batch_shape=(2,), tokens=7, d_vision=5, d_text=3, method="mlp"),
                dict(batch_shape=(2, 3), tokens=5, d_vision=11, d_text=7, method="mlp"),
            ),
        ),
        Check(
            name="limits",
            title="identity, and a ValueError for what cannot be",
            points=2,
            needs=("linear",),
            probe=aligner_limits,
            examples=trials(lambda draw, *, tokens, width: {"tokens": draw.normal(tokens, width)}, dict(tokens=2, width=3)),
            trials=trials(
                lambda draw, *, tokens, width: {"tokens": draw.normal(2, tokens, width)}, dict(tokens=5, width=7)
            ),
        ),
        Check(
            name="conduct",
            title="everything learns, nothing else is there, float64 stays float64",
            points=2,
            needs=("linear", "mlp"),
            probe=aligner_conduct,
            trials=trials(
                draw_aligner_along,
                dict(batch_shape=(2,), tokens=5, d_vision=7, d_text=3, dtype=torch.float64),
                dict(tokens=5, d_vision=7, d_text=3, method="mlp", dtype=torch.float64),
            ),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (
        Truncates, NoBias, MethodIgnored, ReluForGelu, ApproximateGelu, NoGelu, HiddenAtVisionWidth, Normalised,
        IdentityAtAnyWidth, AnyMethod, AssertsInstead,
    )),
    review="The exchange",
)  # fmt: skip

# ---------------------------------------------------------------- 2.2 explained_variance


def draw_readout(
    draw: InputSampler, *, batch_shape: tuple[int, ...] = (), tokens: int, d_vision: int, d_text: int
) -> Inputs:
    """Tokens of unequal spread with a mean that is not 0, and a bent projection of them."""
    around = draw.normal(*batch_shape, tokens, d_vision)
    image = around * (draw.uniform(d_vision) * 2 + 0.3) + 2 * draw.normal(d_vision)
    aligned = torch.tanh(around @ draw.normal(d_vision, d_text) / sqrt(d_vision)) * 3 + draw.normal(d_text)
    return {"tokens": image, "aligned": aligned}


def draw_batches(draw: InputSampler, **sizes) -> Inputs:
    """Batches whose means differ: it matters that they are pooled."""
    inputs = draw_readout(draw, **sizes)
    shift = draw.normal(*sizes["batch_shape"], 1, sizes["d_vision"], scale=2.0)
    return {**inputs, "tokens": inputs["tokens"] + shift}


def draw_repeated(draw: InputSampler, *, tokens: int, d_vision: int, d_text: int) -> Inputs:
    """Aligned tokens with columns that repeat one another exactly, in any precision, and one that is constant."""
    image = draw.normal(tokens, d_vision) + draw.normal(d_vision)
    # Two decimals: they stay what they are, and so do their doubles, when the notebook writes them down.
    columns = [
        column.contiguous() for column in draw.normal(tokens, d_text).mul(100).round().div(100).unbind(-1)
    ]
    repeated = torch.stack([*columns, *columns, 2 * columns[0], torch.full_like(columns[0], 3.0)], dim=-1)
    return {"tokens": image, "aligned": repeated}


def readout(explained_variance, tokens: Tensor, aligned: Tensor):
    share = explained_variance(tokens=tokens.clone(), aligned=aligned.clone())
    return {"explained variance": float(share)}


def readout_conduct(explained_variance, tokens: Tensor, aligned: Tensor):
    before = tokens.clone(), aligned.clone()
    share = explained_variance(strided(tokens), strided(aligned))
    explained_variance(tokens, aligned)
    same = torch.equal(tokens, before[0]) and torch.equal(aligned, before[1])
    return {"explained variance": float(share), "inputs unchanged": same}


def close_share(case: Case) -> Finding:
    """To 1e-3, as the syllabus promises: a readout in float32 rounds more than a product does."""
    got, want = case.got.get("explained variance"), case.expected()["explained variance"]
    if not isinstance(got, float):
        return Finding(passed=False, message=f"explained variance is {got!r}, expected a number")
    if not abs(got - want) <= 1e-3:  # a NaN is not close
        return Finding(
            passed=False,
            message=f"explained variance: {got:.4f}, off by {abs(got - want):.2g}, allowed 0.001",
        )
    if case.got.get("inputs unchanged", True) is not True:
        return Finding(passed=False, message="the inputs were changed: work on new tensors, not in place")
    return Finding(passed=True)


def share_of(tokens: Tensor, features: Tensor, *, total: Tensor | None = None) -> Tensor:
    """1 − residual / total for a plain least-squares readout."""
    residual = tokens - features @ (torch.linalg.pinv(features) @ tokens)
    total = (tokens - tokens.mean(0)).square().sum() if total is None else total
    return (1 - residual.square().sum() / total).clamp(0, 1)


def with_ones(features: Tensor) -> Tensor:
    return torch.cat([features, torch.ones_like(features[:, :1])], dim=-1)


@mistake(
    "explained_variance", "The readout needs an intercept: subtract the means first, or add a column of ones."
)
def no_intercept(tokens: Tensor, aligned: Tensor) -> Tensor:
    return share_of(tokens.flatten(0, -2), aligned.flatten(0, -2))


@mistake(
    "explained_variance",
    "The spread of the aligned tokens is not information: doubling them would change it. Fit a readout back to the tokens.",
)
def compares_spreads(tokens: Tensor, aligned: Tensor) -> Tensor:
    spread = aligned.flatten(0, -2).var(0).sum() / tokens.flatten(0, -2).var(0).sum()
    return spread.clamp(0, 1)


@mistake(
    "explained_variance",
    "This predicts the aligned tokens from the image tokens. Turn it around: read the image tokens back.",
)
def wrong_direction(tokens: Tensor, aligned: Tensor) -> Tensor:
    return share_of(aligned.flatten(0, -2), with_ones(tokens.flatten(0, -2)))


@mistake(
    "explained_variance",
    "Sum the squares over all dimensions before you divide. The mean of one share per dimension is something else.",
)
def mean_over_dimensions(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens, features = tokens.flatten(0, -2), with_ones(aligned.flatten(0, -2))
    residual = (tokens - features @ (torch.linalg.pinv(features) @ tokens)).square().sum(0)
    return (1 - residual / (tokens - tokens.mean(0)).square().sum(0)).mean().clamp(0, 1)


@mistake(
    "explained_variance",
    "The total sum of squares is taken around the mean. Subtract the mean of each dimension.",
)
def total_around_zero(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens = tokens.flatten(0, -2)
    return share_of(tokens, with_ones(aligned.flatten(0, -2)), total=tokens.square().sum())


@mistake("explained_variance", "That is the share that is lost. The explained share is 1 minus it.")
def share_that_is_lost(tokens: Tensor, aligned: Tensor) -> Tensor:
    return 1 - share_of(tokens.flatten(0, -2), with_ones(aligned.flatten(0, -2)))


@mistake(
    "explained_variance",
    "What is left over was measured by its length. Sum its squares instead.",
)
def lengths_for_squares(tokens: Tensor, aligned: Tensor) -> Tensor:
    return 1 - (1 - share_of(tokens.flatten(0, -2), with_ones(aligned.flatten(0, -2)))).sqrt()


@mistake(
    "explained_variance",
    "Each batch was fitted by itself. Pool all leading dimensions into one long list of tokens first.",
)
def batch_by_batch(tokens: Tensor, aligned: Tensor) -> Tensor:
    if tokens.ndim == 2:
        return share_of(tokens, with_ones(aligned))
    pairs = zip(tokens.flatten(0, -3), aligned.flatten(0, -3), strict=True)
    return torch.stack([share_of(one, with_ones(other)) for one, other in pairs]).mean()


@mistake(
    "explained_variance",
    "Columns that repeat one another make this readout go wrong. Use torch.linalg.pinv, which copes with them.",
)
def inverts_the_square(tokens: Tensor, aligned: Tensor) -> Tensor:
    tokens, features = tokens.flatten(0, -2), with_ones(aligned.flatten(0, -2))
    readout = torch.linalg.inv(features.T @ features) @ features.T @ tokens
    residual = (tokens - features @ readout).square().sum()
    return (1 - residual / (tokens - tokens.mean(0)).square().sum()).clamp(0, 1)


def close_share_of_repeated(case: Case) -> Finding:
    finding = close_share(case)
    hint = (
        ". Columns that repeat one another lead lstsq and inverses astray; torch.linalg.pinv copes with them"
    )
    return finding if finding.passed else Finding(passed=False, message=finding.message + hint)


VARIANCE = Exercise(
    id="2.2",
    title="What survives the exchange",
    reference=(explained_variance,),
    points=10,
    difficulty=3,
    minutes=12,
    checks=(
        Check(
            name="values",
            title="the share of the sum of squares that a linear readout gets back",
            points=6,
            probe=readout,
            judge=close_share,
            examples=trials(draw_readout, dict(tokens=9, d_vision=3, d_text=2)),
            trials=trials(
                draw_readout,
                dict(tokens=53, d_vision=7, d_text=3),
                dict(tokens=41, d_vision=5, d_text=2),
                dict(tokens=61, d_vision=11, d_text=5),
            ),
        ),
        Check(
            name="batch",
            title="all leading dimensions are pooled, and the inputs stay as they are",
            points=2,
            needs=("values",),
            probe=readout_conduct,
            judge=close_share,
            examples=trials(draw_batches, dict(batch_shape=(2,), tokens=5, d_vision=3, d_text=2)),
            trials=trials(
                draw_batches,
                dict(batch_shape=(3,), tokens=19, d_vision=7, d_text=2),
                dict(batch_shape=(2, 3), tokens=11, d_vision=5, d_text=3),
            ),
        ),
        Check(
            name="repeated",
            title="aligned tokens whose columns repeat one another",
            points=2,
            needs=("values",),
            probe=readout,
            judge=close_share_of_repeated,
            examples=trials(draw_repeated, dict(tokens=11, d_vision=3, d_text=2)),
            trials=trials(
                draw_repeated,
                dict(tokens=53, d_vision=7, d_text=2),
                dict(tokens=31, d_vision=5, d_text=3),
                dict(tokens=47, d_vision=11, d_text=5),
            ),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (
        no_intercept, compares_spreads, wrong_direction, mean_over_dimensions, total_around_zero, share_that_is_lost,
        lengths_for_squares, batch_by_batch, inverts_the_square,
    )),
    review="What survives the exchange",
)  # fmt: skip

# ---------------------------------------------------------------- 2.3 alignment_loss


def draw_words(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...],
    words: int,
    d: int,
    temperature: float = 0.1,
    dtype=torch.float32,
) -> Inputs:
    return {
        "aligned": draw.normal(*batch_shape, d, scale=2.0, dtype=dtype),
        "words": draw.normal(words, d, scale=0.7, dtype=dtype),
        "labels": draw.integers(0, words, *batch_shape),
        "temperature": temperature,
    }


def loss_values(alignment_loss, aligned: Tensor, words: Tensor, labels: Tensor, temperature: float):
    return {
        "loss": alignment_loss(aligned, words, labels),
        "loss at another temperature": alignment_loss(aligned, words, labels, temperature=temperature),
    }


def loss_conduct(alignment_loss, aligned: Tensor, words: Tensor, labels: Tensor, temperature: float):
    def call(aligned: Tensor, words: Tensor, labels: Tensor) -> dict[str, Tensor]:
        return {"loss": alignment_loss(strided(aligned), strided(words), labels, temperature)}

    inputs = {"aligned": aligned, "words": words, "labels": labels}
    return purity_and_gradients(
        call, inputs, {"loss": torch.ones((), dtype=aligned.dtype, device=aligned.device)}
    )


def similarities(aligned: Tensor, words: Tensor) -> Tensor:
    return F.normalize(aligned, dim=-1) @ F.normalize(words, dim=-1).T


def entropy_of(scores: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1))


@mistake(
    "alignment_loss", "Cosine similarity compares directions: divide both vectors by their length first."
)
def dot_products(aligned, words, labels, temperature=0.1):
    return entropy_of(aligned @ words.T / temperature, labels)


@mistake(
    "alignment_loss", "The words are normalised, the aligned tokens are not. Cosine similarity needs both."
)
def only_words_normalised(aligned, words, labels, temperature=0.1):
    return entropy_of(aligned @ F.normalize(words, dim=-1).T / temperature, labels)


@mistake(
    "alignment_loss", "The aligned tokens are normalised, the words are not. Cosine similarity needs both."
)
def only_tokens_normalised(aligned, words, labels, temperature=0.1):
    return entropy_of(F.normalize(aligned, dim=-1) @ words.T / temperature, labels)


@mistake(
    "alignment_loss",
    "Divide by the temperature. A small one makes the choice sharper, so it must make the scores larger.",
)
def times_temperature(aligned, words, labels, temperature=0.1):
    return entropy_of(similarities(aligned, words) * temperature, labels)


@mistake("alignment_loss", "The argument temperature is not used.")
def one_temperature(aligned, words, labels, temperature=0.1):
    return entropy_of(similarities(aligned, words) / 0.1, labels)


@mistake(
    "alignment_loss",
    "Without a temperature the scores lie between −1 and 1, too close together. Divide by it.",
)
def no_temperature(aligned, words, labels, temperature=0.1):
    return entropy_of(similarities(aligned, words), labels)


@mistake(
    "alignment_loss", "F.cross_entropy takes the scores and does the softmax itself. Here it is done twice."
)
def softmax_twice(aligned, words, labels, temperature=0.1):
    return entropy_of(torch.softmax(similarities(aligned, words) / temperature, dim=-1), labels)


@mistake("alignment_loss", "The loss is the mean over the tokens, not their sum.")
def summed(aligned, words, labels, temperature=0.1):
    return entropy_of(similarities(aligned, words) / temperature, labels) * labels.numel()


@mistake(
    "alignment_loss",
    "This only pulls each token to its word. Cross-entropy also pushes it away from the other words.",
)
def only_pulls(aligned, words, labels, temperature=0.1):
    return (1 - similarities(aligned, words).gather(-1, labels.unsqueeze(-1))).mean() / temperature


@mistake(
    "alignment_loss",
    "The choice is among the words, for each token. Here it is among the tokens, for each word.",
)
def chooses_among_tokens(aligned, words, labels, temperature=0.1):
    scores = (similarities(aligned, words) / temperature).reshape(-1, len(words)).log_softmax(0)
    return -scores.gather(-1, labels.reshape(-1, 1)).mean()


@mistake(
    "alignment_loss",
    "F.normalize works along dim=1 unless you say otherwise. With a batch in front, say dim=-1.",
)
def normalised_along_dim_1(aligned, words, labels, temperature=0.1):
    return entropy_of(F.normalize(aligned) @ F.normalize(words).T / temperature, labels)


def draw_unseen(count: int) -> Callable[[InputSampler], Inputs]:
    def draw_patches(draw: InputSampler) -> Inputs:
        held_out = digits("test").patches
        return {"patches": held_out[draw.permutation(len(held_out))[:count]]}

    return draw_patches


def aligner_trained(aligner, words: Tensor, patches: Tensor):
    weight, bias = aligner.proj.weight, aligner.proj.bias
    with torch.no_grad():
        aligned = aligner(patches.to(weight.device))
    return {"weight": weight, "bias": bias, "words": words, "aligned": aligned}


def labels_of(patches: Tensor) -> Tensor:
    """The digits on held-out patches (..., 64), found by their pixels: labels never enter the sandbox."""
    held_out = digits("test")
    rows = patches.reshape(-1, patches.shape[-1])
    nearest = torch.cdist(rows.double(), held_out.patches.double()).argmin(-1)
    return held_out.labels[nearest].reshape(patches.shape[:-1])


def unusable(got: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> str:
    """What is wrong with the tensors that came back, before anything is computed from them; empty if nothing is."""
    for name, shape in shapes.items():
        tensor = got.get(name)
        if not isinstance(tensor, Tensor) or tensor.dtype != torch.float32 or tuple(tensor.shape) != shape:
            seen = (
                f"{tensor.dtype}, {tuple(tensor.shape)}"
                if isinstance(tensor, Tensor)
                else type(tensor).__name__
            )
            return f"{name} is {seen}, expected float32, {shape}".replace("torch.", "")
        if not tensor.isfinite().all():
            return f"{name} holds NaN or infinite numbers: the training ran away"
    return ""


def matches_unseen(case: Case) -> Finding:
    """The aligner that the notebook trained: it computes what its weights say, and it matches unseen digits."""
    count = len(case.inputs["patches"])
    shapes = {"weight": (32, 64), "bias": (32,), "words": (10, 32), "aligned": (count, 32)}
    if problem := unusable(case.got, shapes):
        return Finding(passed=False, message=problem)
    words, patches = word_vectors(0), case.inputs["patches"]
    aligned = F.linear(patches, case.got["weight"], case.got["bias"])
    if difference("words", case.got["words"], words) or difference(
        "aligned", case.got["aligned"], aligned, rtol=10
    ):
        return Finding(passed=False, message="the aligned tokens are not what the aligner's own weights give")
    right = (similarities(aligned, words).argmax(-1) == labels_of(patches)).double().mean().item()
    if right < MATCHING_GATE:
        return Finding(
            passed=False,
            message=f"{right:.0%} of unseen digits are nearest to their own word, {MATCHING_GATE:.0%} are asked",
        )
    return Finding(passed=True)


LOSS = Exercise(
    id="2.3",
    title="Learning the rate of exchange",
    reference=(alignment_loss,),
    points=15,
    difficulty=2,
    minutes=10,
    checks=(
        Check(
            name="values",
            title="cross-entropy over the similarities with all words",
            points=5,
            probe=loss_values,
            examples=trials(draw_words, dict(batch_shape=(3,), words=4, d=2, temperature=0.5)),
            trials=trials(
                draw_words,
                dict(batch_shape=(7,), words=11, d=5, temperature=0.3),
                dict(batch_shape=(13,), words=5, d=3, temperature=1.7),
            ),
        ),
        Check(
            name="batch",
            title="any leading dimensions",
            points=2,
            needs=("values",),
            probe=loss_values,
            examples=trials(draw_words, dict(batch_shape=(2, 3), words=4, d=2, temperature=0.5)),
            trials=trials(
                draw_words,
                dict(batch_shape=(2, 7), words=11, d=5, temperature=0.3),
                dict(batch_shape=(3, 2, 5), words=7, d=11, temperature=0.7),
            ),
        ),
        Check(
            name="conduct",
            title="gradients flow, float64 stays float64, inputs stay as they are",
            points=1,
            needs=("values",),
            probe=loss_conduct,
            trials=trials(draw_words, dict(batch_shape=(2, 5), words=7, d=3, temperature=0.2, dtype=torch.float64)),
        ),
        Check(
            name="trained",
            title="the aligner that you trained matches digits it has never seen",
            points=7,
            needs=("values",),
            probe=aligner_trained,
            judge=matches_unseen,
            at="train-aligner",
            trials=(Trial("300 unseen digits", draw_unseen(300)),),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (
        dot_products, only_words_normalised, only_tokens_normalised, times_temperature, one_temperature, no_temperature,
        softmax_twice, summed, only_pulls, chooses_among_tokens, normalised_along_dim_1,
    )),
    builds_on=("2.1",),
    review="Learning the rate",
)  # fmt: skip

# ---------------------------------------------------------------- 2.4 split_heads and 2.5 merge_heads


def draw_tokens(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    heads: int,
    d_head: int,
    dtype=torch.float32,
) -> Inputs:
    return {"tokens": draw.normal(*batch_shape, tokens, heads * d_head, dtype=dtype), "num_heads": heads}


def draw_tokens_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_tokens(draw, **sizes)
    shape = (*sizes.get("batch_shape", ()), sizes["heads"], sizes["tokens"], sizes["d_head"])
    return {**inputs, "along": draw.normal(*shape, dtype=inputs["tokens"].dtype)}


def draw_split(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    heads: int,
    tokens: int,
    d_head: int,
    dtype=torch.float32,
) -> Inputs:
    return {"heads": draw.normal(*batch_shape, heads, tokens, d_head, dtype=dtype)}


def draw_split_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_split(draw, **sizes)
    shape = (*sizes.get("batch_shape", ()), sizes["tokens"], sizes["heads"] * sizes["d_head"])
    return {**inputs, "along": draw.normal(*shape, dtype=inputs["heads"].dtype)}


def split_values(split_heads, tokens: Tensor, num_heads: int):
    return {"heads": split_heads(tokens, num_heads)}


def split_conduct(split_heads, tokens: Tensor, num_heads: int, along: Tensor):
    def call(tokens: Tensor) -> dict[str, Tensor]:
        return {"heads": split_heads(tokens=strided(tokens), num_heads=num_heads)}

    return purity_and_gradients(call, {"tokens": tokens}, {"heads": along})


def merge_values(merge_heads, heads: Tensor):
    return {"tokens": merge_heads(heads)}


def merge_conduct(merge_heads, heads: Tensor, along: Tensor):
    def call(heads: Tensor) -> dict[str, Tensor]:
        return {"tokens": merge_heads(heads=strided(heads))}

    return purity_and_gradients(call, {"heads": heads}, {"tokens": along})


@mistake(
    "split_heads",
    "The shape is right, but the numbers of different tokens are mixed. First give the heads an axis of their own, then swap axes.",
)
def reshape_without_transpose(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.reshape(*tokens.shape[:-2], num_heads, tokens.shape[-2], -1)


@mistake("split_heads", "The heads have their axis, but it stands behind the tokens. Swap the two.")
def tokens_before_heads(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (num_heads, -1))


@mistake(
    "split_heads",
    "Each head gets d_head numbers that stand side by side. Here head 0 gets every num_heads-th number.",
)
def every_other_feature(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (-1, num_heads)).movedim(-1, -3)


@mistake("split_heads", "num_heads says how many heads there are, not how wide one is.")
def heads_for_width(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (-1, num_heads)).transpose(-3, -2)


@mistake("split_heads", "The last two axes are swapped: each head holds tokens × d_head.")
def features_before_tokens(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (num_heads, -1)).movedim(-3, -1)


@mistake(
    "split_heads", "This splits the tokens among the heads. Every head sees every token; split the features."
)
def tokens_shared_out(tokens: Tensor, num_heads: int) -> Tensor:
    return torch.stack(tokens.tensor_split(num_heads, dim=-2)[:1] * num_heads, dim=-3)


@mistake(
    "split_heads",
    "This needs exactly one batch axis. Count the axes from the end, so that none or two are fine as well.",
)
def one_batch_axis(tokens: Tensor, num_heads: int) -> Tensor:
    batch, n, d_model = tokens.shape
    return tokens.reshape(batch, n, num_heads, d_model // num_heads).transpose(1, 2)


@mistake(
    "merge_heads",
    "The shape is right, but the numbers of different tokens are mixed. First swap heads and tokens, then flatten.",
)
def flatten_without_transpose(heads: Tensor) -> Tensor:
    count, n, d_head = heads.shape[-3:]
    return heads.reshape(*heads.shape[:-3], n, count * d_head)


@mistake(
    "merge_heads", "The heads are joined in the wrong order: first all numbers of head 0, then all of head 1."
)
def interleaved(heads: Tensor) -> Tensor:
    return heads.movedim(-3, -1).flatten(-2)


@mistake("merge_heads", "The heads stand side by side in the result; they are not averaged.")
def averaged(heads: Tensor) -> Tensor:
    return heads.mean(-3)


@mistake("merge_heads", "The heads stand side by side in the result; they are not added up.")
def added_up(heads: Tensor) -> Tensor:
    return heads.sum(-3)


@mistake(
    "merge_heads",
    "The heads are stacked below one another. They belong side by side, in the features of each token.",
)
def heads_as_tokens(heads: Tensor) -> Tensor:
    return heads.flatten(-3, -2)


@mistake(
    "merge_heads",
    "After a transpose the numbers no longer lie in order, and view refuses. Use flatten or reshape.",
)
def view_after_transpose(heads: Tensor) -> Tensor:
    swapped = heads.transpose(-3, -2)
    return swapped.view(*swapped.shape[:-2], -1)


@mistake("merge_heads", "Two axes are joined, but not swapped first: heads must stand behind tokens.")
def joins_without_swapping(heads: Tensor) -> Tensor:
    return heads.flatten(-2)


@mistake(
    "merge_heads",
    "This needs exactly one batch axis. Count the axes from the end, so that none or two are fine as well.",
)
def one_batch_axis_here(heads: Tensor) -> Tensor:
    batch, count, n, d_head = heads.shape
    return heads.transpose(1, 2).reshape(batch, n, count * d_head)


SPLIT = Exercise(
    id="2.4",
    title="Splitting into heads",
    reference=(split_heads,),
    points=10,
    difficulty=2,
    minutes=8,
    checks=(
        Check(
            name="values",
            title="each head gets its own features of every token",
            points=7,
            probe=split_values,
            examples=trials(draw_tokens, dict(batch_shape=(2,), tokens=4, heads=2, d_head=3)),
            trials=trials(
                draw_tokens,
                dict(batch_shape=(2,), tokens=7, heads=3, d_head=5),
                dict(batch_shape=(3,), tokens=10, heads=5, d_head=2),
            ),
        ),
        Check(
            name="batch",
            title="no batch, or several batch dimensions",
            points=2,
            needs=("values",),
            probe=split_values,
            examples=trials(draw_tokens, dict(tokens=4, heads=2, d_head=3)),
            trials=trials(
                draw_tokens,
                dict(tokens=7, heads=5, d_head=3),
                dict(batch_shape=(2, 3), tokens=5, heads=7, d_head=11),
            ),
        ),
        Check(
            name="conduct",
            title="gradients flow, float64 stays float64, inputs stay as they are",
            points=1,
            needs=("values",),
            probe=split_conduct,
            trials=trials(draw_tokens_along, dict(batch_shape=(2,), tokens=5, heads=3, d_head=7, dtype=torch.float64)),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (
        reshape_without_transpose, tokens_before_heads, every_other_feature, heads_for_width, features_before_tokens,
        tokens_shared_out, one_batch_axis,
    )),
    review="Splitting and joining",
)  # fmt: skip

MERGE = Exercise(
    id="2.5",
    title="Joining the heads",
    reference=(merge_heads,),
    points=10,
    difficulty=2,
    minutes=6,
    checks=(
        Check(
            name="values",
            title="the heads' numbers stand side by side, token by token",
            points=7,
            probe=merge_values,
            examples=trials(draw_split, dict(batch_shape=(2,), heads=2, tokens=4, d_head=3)),
            trials=trials(
                draw_split,
                dict(batch_shape=(2,), heads=3, tokens=7, d_head=5),
                dict(batch_shape=(3,), heads=5, tokens=11, d_head=2),
            ),
        ),
        Check(
            name="batch",
            title="no batch, or several batch dimensions",
            points=2,
            needs=("values",),
            probe=merge_values,
            examples=trials(draw_split, dict(heads=2, tokens=4, d_head=3)),
            trials=trials(
                draw_split,
                dict(heads=5, tokens=7, d_head=3),
                dict(batch_shape=(2, 3), heads=7, tokens=5, d_head=11),
            ),
        ),
        Check(
            name="conduct",
            title="gradients flow, float64 stays float64, inputs stay as they are",
            points=1,
            needs=("values",),
            probe=merge_conduct,
            trials=trials(draw_split_along, dict(batch_shape=(2,), heads=3, tokens=5, d_head=7, dtype=torch.float64)),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (
        flatten_without_transpose, interleaved, averaged, added_up, heads_as_tokens, view_after_transpose,
        joins_without_swapping, one_batch_axis_here,
    )),
    review="Splitting and joining",
)  # fmt: skip

# ---------------------------------------------------------------- 2.6 MultiHeadAttention


def draw_layer(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    tokens: int,
    heads: int,
    d_head: int,
    context: int | None = None,
    d_context: int | None = None,
    masked: str = "",
    dtype=torch.float32,
) -> Inputs:
    """A layer's weights, and what it is called with. `masked` is "", "causal", "padding", "any" or "nowhere"."""
    d_model, answers = heads * d_head, context or tokens
    mask = None
    if masked == "causal":
        mask = torch.ones(tokens, answers, dtype=torch.bool).tril()
    if masked == "padding":
        lengths = draw.integers(1, answers, *batch_shape, 1, 1)
        mask = torch.arange(answers) < lengths
    if masked in ("any", "nowhere"):
        mask = draw.mask(*batch_shape, tokens, answers)
    if masked == "nowhere":
        mask[..., 1, :] = False
    return {
        "d_model": d_model,
        "num_heads": heads,
        "d_context": d_context,
        "weights": draw_heads(draw, "", d_model, d_context or d_model, dtype),
        "tokens": draw.normal(*batch_shape, tokens, d_model, dtype=dtype),
        "context": draw.normal(*batch_shape, context, d_context or d_model, dtype=dtype) if context else None,
        "mask": mask,
    }


def draw_layer_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_layer(draw, **sizes)
    batch_shape, dtype = sizes.get("batch_shape", ()), inputs["tokens"].dtype
    answers = sizes.get("context") or sizes["tokens"]
    return {
        **inputs,
        "along_output": draw.normal(*batch_shape, sizes["tokens"], inputs["d_model"], dtype=dtype),
        "along_weights": draw.normal(*batch_shape, sizes["heads"], sizes["tokens"], answers, dtype=dtype),
    }


def layer_self(
    MultiHeadAttention, d_model: int, num_heads: int, weights: Mapping[str, Tensor], tokens: Tensor
):
    layer = load(MultiHeadAttention(d_model, num_heads), weights)
    output, _ = pair(layer(tokens))
    return {"output": output}


def layer_output(
    MultiHeadAttention,
    d_model: int,
    num_heads: int,
    d_context,
    weights: Mapping[str, Tensor],
    tokens,
    context,
    mask,
):
    layer = load(MultiHeadAttention(d_model, num_heads, d_context=d_context), weights)
    output, _ = pair(layer(tokens, context=context, mask=mask))
    return {"output": output}


def layer_maps(
    MultiHeadAttention,
    d_model: int,
    num_heads: int,
    d_context,
    weights: Mapping[str, Tensor],
    tokens,
    context,
    mask,
):
    layer = load(MultiHeadAttention(d_model, num_heads, d_context=d_context), weights)
    _, maps = pair(layer(tokens, context=context, mask=mask))
    return {"weights": maps}


def layer_values(
    MultiHeadAttention,
    d_model: int,
    num_heads: int,
    d_context,
    weights: Mapping[str, Tensor],
    tokens,
    context,
    mask,
):
    layer = load(MultiHeadAttention(d_model, num_heads, d_context=d_context), weights)
    output, maps = pair(layer(tokens, context=context, mask=mask))
    return {"output": output, "weights": maps}


def layer_conduct(
    MultiHeadAttention,
    d_model: int,
    num_heads: int,
    d_context,
    weights,
    tokens,
    context,
    mask,
    along_output,
    along_weights,
):
    layer = load(MultiHeadAttention(d_model=d_model, num_heads=num_heads, d_context=d_context), weights)

    def call(tokens: Tensor, context: Tensor, mask: Tensor) -> dict[str, Tensor]:
        output, maps = pair(layer(tokens=strided(tokens), context=strided(context), mask=mask))
        return {"output": output, "weights": maps}

    parameters = {name: layer.get_parameter(name) for name in weights}
    inputs, along = (
        {"tokens": tokens, "context": context, "mask": mask},
        {"output": along_output, "weights": along_weights},
    )
    return {
        **purity_and_gradients(call, inputs, along, parameters),
        "num_heads": layer.num_heads,
        "numbers to learn": size_of(layer),
        "error for d_model = 7 and 2 heads": raised(lambda: MultiHeadAttention(7, 2)(torch.zeros(2, 3, 7))),
    }


def layer_dropout(
    MultiHeadAttention, d_model: int, num_heads: int, dropout: float, weights, tokens: Tensor, repeats: int
):
    torch.manual_seed(0)
    layer = load(MultiHeadAttention(d_model, num_heads, dropout=dropout), weights)
    many = tokens.expand(repeats, *tokens.shape)
    layer.train()
    output, maps = pair(layer(many))
    layer.eval()
    quiet, _ = pair(layer(tokens.unsqueeze(0)))
    return {
        "weights": maps[:3],
        "mean of the outputs": output.mean(0),
        "variance of the outputs": output.var(0),
        "output in evaluation mode": quiet,
    }


def drops_weights(case: Case) -> Finding:
    """Dropout on the weights: they come back whole, the output is right on average and spreads as it should.

    Where each weight is kept with chance 1 − p and made larger by 1 / (1 − p), what a key brings to a query varies
    by p / (1 − p) times its square, independently of all others. The random numbers themselves are not compared:
    a loop over heads draws them in another order.
    """
    given, got = case.inputs, case.got
    heads, p, repeats = given["num_heads"], given["dropout"], given["repeats"]
    layer = load(MultiHeadAttention(given["d_model"], heads), given["weights"])
    with torch.no_grad():
        output, maps = layer(given["tokens"])
        value = split_heads(layer.W_V(given["tokens"]), heads)
        slices = layer.W_O.weight.unflatten(-1, (heads, -1)).permute(1, 2, 0)  # (H, d_head, d_model)
        variance = torch.einsum("hts,hsd->td", maps**2, (value @ slices) ** 2) * p / (1 - p)
    exact = (
        ("output in evaluation mode", output.unsqueeze(0), "in evaluation mode nothing is dropped"),
        ("weights", maps.expand(3, *maps.shape), "the weights that are returned are those before dropout"),
    )
    for name, want, why in exact:
        if problem := difference(name, got.get(name), want, rtol=10):
            return Finding(passed=False, message=f"{problem}; {why}")
    moments = "mean of the outputs", "variance of the outputs"
    if problem := unusable(got, dict.fromkeys(moments, tuple(output.shape))):
        return Finding(passed=False, message=problem)
    mean, spread = (got[name].double() for name in moments)
    # Six standard errors, and for the variance of a sum of a few coin tosses a quarter of it.
    if ((mean - output).abs() > 6 * (variance / repeats).sqrt() + 1e-4).any():
        return Finding(passed=False, message="with dropout the output is not right on average")
    if ((spread - variance).abs() > 0.25 * variance + 1e-6).any():
        return Finding(
            passed=False,
            message="in training mode the output does not vary as it does when weights are dropped",
        )
    return Finding(passed=True)


def draw_dropout(draw: InputSampler, *, tokens: int, heads: int, d_head: int, dropout: float) -> Inputs:
    d_model = heads * d_head
    return {
        "d_model": d_model,
        "num_heads": heads,
        "dropout": dropout,
        "weights": draw_heads(draw, "", d_model, d_model),
        "tokens": draw.normal(tokens, d_model),
        "repeats": 6000,
    }


class Steps(MultiHeadAttention):
    """Multi-head attention in single steps, each of which a mistake can get wrong."""

    def project(self, tokens: Tensor, context: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.W_Q(tokens), self.W_K(context), self.W_V(context)

    def split(self, tokens: Tensor) -> Tensor:
        return split_heads(tokens, self.num_heads)

    def scale(self, scores: Tensor, d_head: int) -> Tensor:
        return scores / sqrt(d_head)

    def for_all_heads(self, mask: Tensor) -> Tensor:
        return mask.unsqueeze(-3)

    def weigh(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()

    def drop(self, weights: Tensor) -> Tensor:
        return F.dropout(weights, self.dropout, self.training)

    def merge(self, heads: Tensor) -> Tensor:
        return merge_heads(heads)

    def project_out(self, merged: Tensor) -> Tensor:
        return self.W_O(merged)

    def give_back(self, output: Tensor, weights: Tensor, dropped: Tensor) -> tuple[Tensor, Tensor]:
        return output, weights

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = (self.split(part) for part in self.project(tokens, context))
        scores = self.scale(query @ key.transpose(-2, -1), query.shape[-1])
        mask = None if mask is None else self.for_all_heads(mask)
        weights = self.weigh(scores, mask)
        dropped = self.drop(weights)
        return self.give_back(self.project_out(self.merge(dropped @ value)), weights, dropped)


@mistake(
    "MultiHeadAttention",
    "The scores are divided by the root of d_model. Each head works on d_head numbers: divide by √d_head.",
)
class ScaledByDModel(Steps):
    def scale(self, scores, d_head):
        return scores / sqrt(d_head * self.num_heads)


@mistake("MultiHeadAttention", "The scores are not scaled. Divide them by √d_head.")
class Unscaled(Steps):
    def scale(self, scores, d_head):
        return scores


@mistake("MultiHeadAttention", "The heads' answers are joined but not mixed. W_O comes last.")
class NoOutputProjection(Steps):
    def project_out(self, merged):
        return merged


@mistake(
    "MultiHeadAttention",
    "Keys and values have changed places: weights come from W_K, what is brought back from W_V.",
)
class KeysAndValuesSwapped(Steps):
    def project(self, tokens, context):
        return self.W_Q(tokens), self.W_V(context), self.W_K(context)


@mistake(
    "MultiHeadAttention",
    "Queries and keys have changed places: the tokens ask with W_Q, the context answers with W_K.",
)
class QueriesAndKeysSwapped(Steps):
    def project(self, tokens, context):
        return self.W_K(tokens), self.W_Q(context), self.W_V(context)


@mistake("MultiHeadAttention", "The context is not looked at. With a context, keys and values come from it.")
class ContextIgnored(Steps):
    def forward(self, tokens, context=None, mask=None):
        return super().forward(tokens, None, mask)


@mistake(
    "MultiHeadAttention",
    "The values come from the tokens that ask. They describe the context, as the keys do.",
)
class ValuesFromTokens(Steps):
    def project(self, tokens, context):
        return self.W_Q(tokens), self.W_K(context), self.W_V(tokens)


@mistake(
    "MultiHeadAttention",
    "The heads mix the numbers of different tokens: a reshape alone is not a split. Use your split_heads.",
)
class ReshapedIntoHeads(Steps):
    def split(self, tokens):
        return reshape_without_transpose(tokens, self.num_heads)


@mistake("MultiHeadAttention", "The heads' answers are joined in the wrong order. Use your merge_heads.")
class MergedWithoutTranspose(Steps):
    def merge(self, heads):
        return flatten_without_transpose(heads)


@mistake(
    "MultiHeadAttention", "Each head takes d_head numbers that stand side by side. Use your split_heads."
)
class InterleavedHeads(Steps):
    def split(self, tokens):
        return every_other_feature(tokens, self.num_heads)

    def merge(self, heads):
        return interleaved(heads)


@mistake(
    "MultiHeadAttention",
    "There is one big head here: split queries, keys and values before you compare them.",
)
class OneBigHead(Steps):
    def split(self, tokens):
        return tokens.unsqueeze(-3)


@mistake(
    "MultiHeadAttention",
    "The softmax runs over the queries. Each query spreads its attention over the keys: dim=-1.",
)
class SoftmaxOverQueries(Steps):
    def weigh(self, scores, mask):
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(-2).nan_to_num()


@mistake(
    "MultiHeadAttention",
    "The softmax runs over the heads. Each head spreads its own attention over the keys: dim=-1.",
)
class SoftmaxOverHeads(Steps):
    def weigh(self, scores, mask):
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(-3).nan_to_num()


@mistake("MultiHeadAttention", "The weights of the heads were averaged. Return one map for each head.")
class AveragedWeights(Steps):
    def give_back(self, output, weights, dropped):
        return output, weights.mean(-3)


@mistake("MultiHeadAttention", "The mask is inverted: True means may attend.")
class MaskInverted(Steps):
    def for_all_heads(self, mask):
        return ~mask.unsqueeze(-3)


@mistake("MultiHeadAttention", "The mask is not used.")
class MaskIgnored(Steps):
    def forward(self, tokens, context=None, mask=None):
        return super().forward(tokens, context, None)


@mistake(
    "MultiHeadAttention",
    "The mask is applied after the softmax, so the weights no longer sum to 1. Set the scores to −∞ before it.",
)
class MaskAfterSoftmax(Steps):
    def weigh(self, scores, mask):
        return scores.softmax(-1) if mask is None else scores.softmax(-1) * mask


@mistake(
    "MultiHeadAttention",
    "A mask of each batch meets the axis of the heads. Give it a head axis: mask.unsqueeze(-3).",
)
class MaskWithoutHeadAxis(Steps):
    def for_all_heads(self, mask):
        return mask


@mistake(
    "MultiHeadAttention",
    "The head axis was put into the mask counted from the front. Count from the end: mask.unsqueeze(-3).",
)
class MaskAxisFromTheFront(Steps):
    def for_all_heads(self, mask):
        return mask.unsqueeze(1) if mask.ndim > 2 else mask


@mistake(
    "MultiHeadAttention", "A query that may attend nowhere gets NaN: 0 divided by 0. Set its weights to 0."
)
class NanRows(Steps):
    def weigh(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1)


@mistake(
    "MultiHeadAttention",
    "A query that may attend nowhere still attends, to all keys alike. Set its weights to 0.",
)
class LargeNegativeScores(Steps):
    def weigh(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-1)


@mistake(
    "MultiHeadAttention",
    "Dropout acts on the weights on their way to the values; return those from before it.",
)
class DroppedWeightsReturned(Steps):
    def give_back(self, output, weights, dropped):
        return output, dropped


@mistake("MultiHeadAttention", "Dropout is never applied. In training mode some weights are dropped.")
class NoDropout(Steps):
    def drop(self, weights):
        return weights


@mistake(
    "MultiHeadAttention",
    "Dropout goes on in evaluation mode. Let nn.Dropout do it, or hand self.training to F.dropout.",
)
class DropoutAlways(Steps):
    def drop(self, weights):
        return F.dropout(weights, self.dropout)


@mistake("MultiHeadAttention", "Dropout acts on the output here. It belongs on the weights.")
class DropoutOnOutput(Steps):
    def drop(self, weights):
        return weights

    def project_out(self, merged):
        return F.dropout(self.W_O(merged), self.dropout, self.training)


@mistake(
    "MultiHeadAttention", "Dropout comes before the softmax here, on the scores. It belongs on the weights."
)
class DropoutOnScores(Steps):
    def drop(self, weights):
        return weights

    def weigh(self, scores, mask):
        return super().weigh(F.dropout(scores, self.dropout, self.training), mask)


@mistake(
    "MultiHeadAttention",
    "Seven numbers cannot be shared out among two heads. Raise a ValueError with both sizes.",
)
class AnyWidth(Steps):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__(d_model, num_heads if d_model % num_heads == 0 else 1, d_context, dropout)


@mistake(
    "MultiHeadAttention", "An assert disappears under python -O and says little. Raise a ValueError instead."
)
class AssertsTheWidth(Steps):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        assert d_model % num_heads == 0
        super().__init__(d_model, num_heads, d_context, dropout)


def draw_named_cells(count: int) -> Callable[[InputSampler], Inputs]:
    def draw_scenes_and_cells(draw: InputSampler) -> Inputs:
        patches, cells, _ = draw_reading(count, draw.generator, "test")
        return {"patches": patches, "cells": cells}

    return draw_scenes_and_cells


def reader_trained(reader, patches: Tensor, cells: Tensor):
    names = (
        "aligner.0.weight", "aligner.0.bias", "aligner.2.weight", "aligner.2.bias", "positions",
        "first.weight", "second.weight", "attention.W_Q.weight", "attention.W_K.weight", "attention.W_V.weight",
        "attention.W_O.weight", "digits.weight", "digits.bias",
    )  # fmt: skip
    state = {name: reader.get_parameter(name) for name in names}
    reader.eval()
    with torch.no_grad():
        logits, maps = reader(patches.to(reader.positions.device), cells.to(reader.positions.device))
    return {"state": state, "logits": logits, "maps": maps}


def reads_unseen(case: Case) -> Finding:
    """The four-head reader that the notebook trained: its maps are those of its own weights, and they look there."""
    patches, cells = case.inputs["patches"], case.inputs["cells"]
    reader = TwoCellReader(num_heads=4)
    shapes = {name: tuple(parameter.shape) for name, parameter in reader.named_parameters()}
    state = case.got.get("state")
    if not isinstance(state, Mapping):
        return Finding(passed=False, message="the reader's weights did not come back")
    count = len(patches)
    problem = unusable(state, shapes) or unusable(case.got, {"logits": (count, 2, 10), "maps": (count, 4, 9)})
    if problem:
        return Finding(passed=False, message=problem)
    reader.load_state_dict({name: state[name] for name in shapes})
    with torch.no_grad():
        logits, maps = reader.eval()(patches, cells)
    for name, want in (("logits", logits), ("maps", maps)):
        if problem := difference(name, case.got[name], want, rtol=30):
            return Finding(passed=False, message=f"on unseen scenes {problem}, from the same weights")
    both = (logits.argmax(-1) == labels_of(patches).gather(1, cells)).all(1).double().mean().item()
    if both < READING_GATE:
        return Finding(
            passed=False,
            message=f"both digits are right on {both:.0%} of unseen scenes, {READING_GATE:.0%} are asked",
        )
    looks = (maps.argmax(-1, keepdim=True) == cells.unsqueeze(1)).double().mean(0)  # (H, 2)
    least = looks.max(0).values.min().item()
    if least < LOOKING_GATE:
        return Finding(
            passed=False,
            message=f"one of the named cells has no head of its own: the best looks there in {least:.0%}",
        )
    return Finding(passed=True)


MULTI_HEAD = Exercise(
    id="2.6",
    title="Multi-head attention",
    reference=(MultiHeadAttention,),
    points=25,
    difficulty=3,
    minutes=20,
    bans=FUSED,
    builds_on=("2.4", "2.5"),
    checks=(
        Check(
            name="self",
            title="the tokens look at themselves",
            points=4,
            probe=layer_self,
            examples=trials(draw_layer, dict(batch_shape=(2,), tokens=3, heads=2, d_head=2)),
            trials=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=7, heads=3, d_head=5),
                dict(batch_shape=(3,), tokens=11, heads=7, d_head=2),
            ),
        ),
        Check(
            name="cross",
            title="the tokens look at a context of another width",
            points=4,
            needs=("self",),
            probe=layer_output,
            examples=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=3, heads=2, d_head=2, context=4),
                dict(batch_shape=(2,), tokens=3, heads=2, d_head=2, context=5, d_context=3),
            ),
            trials=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=5, heads=3, d_head=7, context=11, d_context=13),
                dict(batch_shape=(3,), tokens=7, heads=2, d_head=3, context=5, d_context=11),
                dict(batch_shape=(2,), tokens=5, heads=3, d_head=7, context=5),
            ),
        ),
        Check(
            name="mask",
            title="every head looks only where the mask allows",
            points=3,
            needs=("self",),
            probe=layer_output,
            examples=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=3, heads=2, d_head=2, masked="causal"),
                dict(batch_shape=(2,), tokens=3, heads=2, d_head=2, masked="padding"),
            ),
            trials=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=7, heads=3, d_head=5, masked="causal"),
                dict(batch_shape=(3,), tokens=5, heads=3, d_head=2, context=7, masked="padding"),
                dict(batch_shape=(5,), tokens=7, heads=3, d_head=2, context=11, d_context=13, masked="padding"),
                dict(batch_shape=(2,), tokens=5, heads=3, d_head=7, masked="any"),
            ),
        ),
        Check(
            name="batch",
            title="no batch, or several batch dimensions",
            points=2,
            needs=("self", "mask"),
            probe=layer_output,
            examples=trials(draw_layer, dict(tokens=3, heads=2, d_head=2)),
            trials=trials(
                draw_layer,
                dict(tokens=7, heads=3, d_head=5, masked="causal"),
                dict(tokens=5, heads=2, d_head=3, context=7, d_context=11),
                dict(batch_shape=(2, 3), tokens=5, heads=7, d_head=2, masked="any"),
                dict(batch_shape=(2, 5), tokens=7, heads=3, d_head=2, context=11, masked="padding"),
            ),
        ),
        Check(
            name="weights",
            title="one map for each head",
            points=2,
            needs=("self",),
            probe=layer_maps,
            map="weights",
            examples=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=3, heads=2, d_head=2),
                dict(batch_shape=(2,), tokens=3, heads=2, d_head=2, context=4, masked="any"),
            ),
            trials=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=7, heads=3, d_head=5),
                dict(batch_shape=(3,), tokens=5, heads=2, d_head=7, context=11, d_context=13, masked="any"),
            ),
        ),
        Check(
            name="nowhere",
            title="a query that may attend nowhere gets zeros",
            points=1,
            needs=("self", "mask"),
            probe=layer_values,
            examples=trials(draw_layer, dict(batch_shape=(2,), tokens=3, heads=2, d_head=2, masked="nowhere")),
            trials=trials(draw_layer, dict(batch_shape=(2,), tokens=7, heads=3, d_head=5, masked="nowhere")),
        ),
        Check(
            name="dropout",
            title="dropout acts on the weights, in training only",
            points=2,
            needs=("self",),
            probe=layer_dropout,
            judge=drops_weights,
            trials=trials(draw_dropout, dict(tokens=3, heads=2, d_head=3, dropout=0.4)),
        ),
        Check(
            name="conduct",
            title="everything learns, nothing else is there, float64 stays float64",
            points=2,
            needs=("self", "cross"),
            probe=layer_conduct,
            trials=trials(
                draw_layer_along,
                dict(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, d_context=11, masked="any", dtype=torch.float64),
            ),
        ),
        Check(
            name="maps",
            title="your trained layer looks at the cells that are named, on scenes it has never seen",
            points=5,
            needs=("self", "cross"),
            probe=reader_trained,
            judge=reads_unseen,
            at="train-reader",
            trials=(Trial("400 unseen scenes", draw_named_cells(400)),),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (
        ScaledByDModel, Unscaled, NoOutputProjection, KeysAndValuesSwapped, QueriesAndKeysSwapped, ContextIgnored,
        ValuesFromTokens, ReshapedIntoHeads, MergedWithoutTranspose, InterleavedHeads, OneBigHead, SoftmaxOverQueries,
        SoftmaxOverHeads, AveragedWeights, MaskInverted, MaskIgnored, MaskAfterSoftmax, MaskAxisFromTheFront,
        MaskWithoutHeadAxis, NanRows, LargeNegativeScores, DroppedWeightsReturned, NoDropout, DropoutAlways,
        DropoutOnOutput, DropoutOnScores, AnyWidth, AssertsTheWidth,
    )),
    review="Many heads",
)  # fmt: skip

# ---------------------------------------------------------------- 2.7 AlignedCrossAttention


def draw_aligned(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    text: int,
    image: int,
    heads: int,
    d_head: int,
    d_vision: int,
    method: str = "linear",
    masked: str = "",
    dtype=torch.float32,
) -> Inputs:
    d_text = heads * d_head
    aligner = draw_aligner(draw, tokens=1, d_vision=d_vision, d_text=d_text, method=method, dtype=dtype)[
        "weights"
    ]
    weights = {f"aligner.{name}": value for name, value in aligner.items()}
    mask = draw.mask(*batch_shape, text, image) if masked == "any" else None
    if masked == "padding":
        mask = torch.arange(image) < draw.integers(1, image, *batch_shape, 1, 1)
    return {
        "d_vision": d_vision,
        "d_text": d_text,
        "num_heads": heads,
        "method": method,
        "weights": weights | draw_heads(draw, "cross_attn.", d_text, d_text, dtype),
        "text_tokens": draw.normal(*batch_shape, text, d_text, dtype=dtype),
        "image_tokens": draw.normal(*batch_shape, image, d_vision, dtype=dtype),
        "mask": mask,
    }


def draw_aligned_along(draw: InputSampler, **sizes) -> Inputs:
    inputs = draw_aligned(draw, **sizes)
    batch_shape, dtype = sizes.get("batch_shape", ()), inputs["text_tokens"].dtype
    return {
        **inputs,
        "along_output": draw.normal(*batch_shape, sizes["text"], inputs["d_text"], dtype=dtype),
        "along_weights": draw.normal(
            *batch_shape, sizes["heads"], sizes["text"], sizes["image"], dtype=dtype
        ),
    }


def aligned_default(AlignedCrossAttention, d_vision, d_text, num_heads, weights, text_tokens, image_tokens):
    layer = load(AlignedCrossAttention(d_vision, d_text, num_heads), weights)
    output, maps = pair(layer(text_tokens, image_tokens))
    return {"output": output, "weights": maps}


def aligned_values(
    AlignedCrossAttention, d_vision, d_text, num_heads, method, weights, text_tokens, image_tokens, mask
):
    layer = load(AlignedCrossAttention(d_vision, d_text, num_heads, align_method=method), weights)
    output, maps = pair(layer(text_tokens, image_tokens, mask=mask))
    return {"output": output, "weights": maps}


def aligned_conduct(
    AlignedCrossAttention,
    d_vision,
    d_text,
    num_heads,
    method,
    weights,
    text_tokens,
    image_tokens,
    mask,
    along_output,
    along_weights,
):
    layer = load(
        AlignedCrossAttention(d_vision=d_vision, d_text=d_text, num_heads=num_heads, align_method=method),
        weights,
    )

    def call(text_tokens: Tensor, image_tokens: Tensor, mask: Tensor) -> dict[str, Tensor]:
        output, maps = pair(
            layer(text_tokens=strided(text_tokens), image_tokens=strided(image_tokens), mask=mask)
        )
        return {"output": output, "weights": maps}

    parameters = {name: layer.get_parameter(name) for name in weights}
    inputs = {"text_tokens": text_tokens, "image_tokens": image_tokens, "mask": mask}
    along = {"output": along_output, "weights": along_weights}
    return {**purity_and_gradients(call, inputs, along, parameters), "numbers to learn": size_of(layer)}


@mistake(
    "AlignedCrossAttention",
    "The image tokens are cut to the width of the text. Put them through the aligner.",
)
class CutsTheImage(AlignedCrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, image_tokens[..., : text_tokens.shape[-1]], mask)


@mistake(
    "AlignedCrossAttention",
    "Here the image asks and the text answers. The text tokens come first, the image is the context.",
)
class ImageAsks(AlignedCrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        mask = None if mask is None else mask.transpose(-2, -1)
        return self.cross_attn(self.aligner(image_tokens), text_tokens, mask)


@mistake(
    "AlignedCrossAttention", "The text looks only at itself. Hand the aligned image tokens on as the context."
)
class ImageIgnored(AlignedCrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, None, None)


@mistake("AlignedCrossAttention", "The mask is not handed on to the attention.")
class MaskForgotten(AlignedCrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens))


@mistake("AlignedCrossAttention", "align_method is not handed on to the aligner.")
class AlignMethodForgotten(AlignedCrossAttention):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__(d_vision, d_text, num_heads)


@mistake("AlignedCrossAttention", "num_heads is not handed on: there is one head here.")
class AlwaysOneHead(AlignedCrossAttention):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__(d_vision, d_text, 1, align_method)


@mistake(
    "AlignedCrossAttention",
    "The text is added to the output here. Return the attention's output alone; adding comes in lesson 3.",
)
class ResidualAdded(AlignedCrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = super().forward(text_tokens, image_tokens, mask)
        return text_tokens + output, weights


@mistake("AlignedCrossAttention", "The weights of the heads were averaged. Return one map for each head.")
class MapsAveraged(AlignedCrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = super().forward(text_tokens, image_tokens, mask)
        return output, weights.mean(-3)


@mistake("AlignedCrossAttention", "Return two values, output and weights.")
class OutputAlone(AlignedCrossAttention):
    def forward(self, text_tokens, image_tokens, mask=None):
        return super().forward(text_tokens, image_tokens, mask)[0]


ALIGNED = Exercise(
    id="2.7",
    title="Align, then look",
    reference=(AlignedCrossAttention,),
    points=10,
    difficulty=2,
    minutes=8,
    bans=FUSED,
    builds_on=("2.1", "2.4", "2.5", "2.6"),
    checks=(
        Check(
            name="values",
            title="the text looks at the aligned image",
            points=5,
            probe=aligned_default,
            map="weights",
            examples=trials(draw_aligned, dict(batch_shape=(2,), text=3, image=4, heads=2, d_head=2, d_vision=5)),
            trials=trials(
                draw_aligned,
                dict(batch_shape=(2,), text=5, image=7, heads=3, d_head=2, d_vision=11),
                dict(batch_shape=(3,), text=7, image=5, heads=2, d_head=5, d_vision=13),
            ),
        ),
        Check(
            name="method",
            title="the aligner is of the kind that was asked for",
            points=2,
            needs=("values",),
            probe=aligned_values,
            examples=trials(draw_aligned, dict(text=3, image=4, heads=2, d_head=2, d_vision=5, method="mlp")),
            trials=trials(
                draw_aligned,
                dict(text=5, image=7, heads=3, d_head=2, d_vision=11, method="mlp"),
                dict(batch_shape=(2,), text=5, image=7, heads=3, d_head=2, d_vision=6, method="identity"),
            ),
        ),
        Check(
            name="mask",
            title="the mask is respected, with any batch dimensions",
            points=2,
            needs=("values",),
            probe=aligned_values,
            examples=trials(
                draw_aligned, dict(batch_shape=(2,), text=3, image=4, heads=2, d_head=2, d_vision=5, masked="padding")
            ),
            trials=trials(
                draw_aligned,
                dict(batch_shape=(3,), text=5, image=7, heads=3, d_head=2, d_vision=11, masked="padding"),
                dict(batch_shape=(2, 3), text=5, image=7, heads=2, d_head=3, d_vision=11, masked="any"),
            ),
        ),
        Check(
            name="conduct",
            title="everything learns, nothing else is there, float64 stays float64",
            points=1,
            needs=("values",),
            probe=aligned_conduct,
            trials=trials(
                draw_aligned_along,
                dict(batch_shape=(2,), text=5, image=7, heads=3, d_head=2, d_vision=11, masked="any", dtype=torch.float64),
            ),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (
        CutsTheImage, ImageAsks, ImageIgnored, MaskForgotten, AlignMethodForgotten, AlwaysOneHead, ResidualAdded,
        MapsAveraged, OutputAlone,
    )),
    review="Align, then look",
)  # fmt: skip

# ---------------------------------------------------------------- 2.8 ablate_head


def ablated(MultiHeadAttention, ablate_head, d_model, num_heads, d_context, weights, tokens, context, mask):
    found = {}
    with torch.no_grad():
        for head in range(num_heads):
            layer = load(MultiHeadAttention(d_model, num_heads, d_context=d_context), weights).eval()
            found[f"without head {head}"] = ablate_head(
                attention_layer=layer, head=head, tokens=tokens, context=context, mask=mask
            )
    return found


def ablated_conduct(MultiHeadAttention, ablate_head, d_model, num_heads, weights, tokens):
    layer = load(MultiHeadAttention(d_model, num_heads), weights).eval()
    given = tokens.clone()
    with torch.no_grad():
        without = ablate_head(layer, 1, strided(given))
        after, _ = pair(layer(tokens))
    same = all(torch.equal(layer.get_parameter(name), value) for name, value in weights.items())
    return {
        "without head 1": without,
        "inputs unchanged": torch.equal(given, tokens),
        "layer's weights unchanged": same,
        "layer still in evaluation mode": not any(part.training for part in layer.modules()),
        "layer's output afterwards": after,
    }


def heads_of(layer: nn.Module, tokens: Tensor, context: Tensor | None, mask: Tensor | None) -> Tensor:
    _, weights = layer(tokens, context, mask)
    return weights @ split_heads(layer.W_V(tokens if context is None else context), layer.num_heads)


def without(layer: nn.Module, head: int, heads: Tensor) -> Tensor:
    kept = torch.arange(layer.num_heads) != head
    return layer.W_O(merge_heads(heads * kept.to(heads.dtype)[:, None, None]))


@mistake("ablate_head", "Nothing was removed: this is the output of all heads.")
def nothing_removed(attention_layer, head, tokens, context=None, mask=None):
    return attention_layer(tokens, context, mask)[0]


@mistake("ablate_head", "This is what the head contributes. Asked is what is left without it.")
def keeps_only_it(attention_layer, head, tokens, context=None, mask=None):
    output, _ = attention_layer(tokens, context, mask)
    return output - without(attention_layer, head, heads_of(attention_layer, tokens, context, mask))


@mistake(
    "ablate_head",
    "W_O mixes the heads, so no part of the output belongs to one of them alone. Remove the head before W_O, or its columns of W_O; the rows make the outputs.",
)
def after_the_mixing(attention_layer, head, tokens, context=None, mask=None):
    output = attention_layer(tokens, context, mask)[0].clone()
    d_head = output.shape[-1] // attention_layer.num_heads
    output[..., head * d_head : (head + 1) * d_head] = 0
    return output


@mistake(
    "ablate_head",
    "Without a query a head attends to all keys alike, and still brings something back. Remove its values, or its columns of W_O.",
)
def query_removed(attention_layer, head, tokens, context=None, mask=None):
    uniform = torch.ones_like(attention_layer(tokens, context, mask)[1])
    uniform = uniform if mask is None else uniform * (mask.unsqueeze(-3) if mask.ndim > 2 else mask)
    uniform = uniform / uniform.sum(-1, keepdim=True).clamp_min(1)
    value = split_heads(
        attention_layer.W_V(tokens if context is None else context), attention_layer.num_heads
    )
    heads = heads_of(attention_layer, tokens, context, mask).clone()
    heads[..., head, :, :] = (uniform @ value)[..., head, :, :]
    return attention_layer.W_O(merge_heads(heads))


@mistake(
    "ablate_head", "The other heads were made larger to make up for the missing one. Leave them as they are."
)
def others_made_larger(attention_layer, head, tokens, context=None, mask=None):
    count = attention_layer.num_heads
    left = without(attention_layer, head, heads_of(attention_layer, tokens, context, mask))
    return left * count / max(count - 1, 1)


@mistake("ablate_head", "The wrong head is gone: heads are counted from 0.")
def counts_from_one(attention_layer, head, tokens, context=None, mask=None):
    return without(
        attention_layer,
        (head - 1) % attention_layer.num_heads,
        heads_of(attention_layer, tokens, context, mask),
    )


@mistake(
    "ablate_head",
    "A head's numbers stand side by side: head h owns the columns from h · d_head on. Here every num_heads-th column was removed.",
)
def every_other_column(attention_layer, head, tokens, context=None, mask=None):
    merged = merge_heads(heads_of(attention_layer, tokens, context, mask)).clone()
    merged[..., head :: attention_layer.num_heads] = 0
    return attention_layer.W_O(merged)


@mistake("ablate_head", "The context is not handed on to the layer.")
def context_forgotten(attention_layer, head, tokens, context=None, mask=None):
    return without(attention_layer, head, heads_of(attention_layer, tokens, None, mask))


@mistake("ablate_head", "The mask is not handed on to the layer.")
def mask_forgotten(attention_layer, head, tokens, context=None, mask=None):
    return without(attention_layer, head, heads_of(attention_layer, tokens, context, None))


@mistake(
    "ablate_head", "The layer has lost the head for good. Work on a copy, or put the weights back afterwards."
)
def layer_left_changed(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_O.weight.shape[1] // attention_layer.num_heads
    result = without(attention_layer, head, heads_of(attention_layer, tokens, context, mask))
    with torch.no_grad():
        attention_layer.W_O.weight[:, head * d_head : (head + 1) * d_head] = 0
    return result


@mistake("ablate_head", "The layer is in training mode afterwards. Leave its mode as it was.")
def mode_left_changed(attention_layer, head, tokens, context=None, mask=None):
    result = without(attention_layer, head, heads_of(attention_layer, tokens, context, mask))
    attention_layer.train()
    return result


ABLATION = Exercise(
    id="2.8",
    title="Taking a head away",
    reference=(ablate_head,),
    points=10,
    difficulty=2,
    minutes=8,
    builds_on=("2.4", "2.5", "2.6"),
    checks=(
        Check(
            name="values",
            title="the output without what one head contributes",
            points=5,
            probe=ablated,
            examples=trials(draw_layer, dict(tokens=3, heads=2, d_head=2)),
            trials=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=7, heads=3, d_head=5),
                dict(tokens=5, heads=5, d_head=2),
            ),
        ),
        Check(
            name="context",
            title="with a context and a mask",
            points=3,
            needs=("values",),
            probe=ablated,
            examples=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=3, heads=2, d_head=2, context=4, d_context=3),
                dict(batch_shape=(2,), tokens=3, heads=2, d_head=2, masked="causal"),
            ),
            trials=trials(
                draw_layer,
                dict(batch_shape=(2,), tokens=5, heads=3, d_head=2, context=7, d_context=11, masked="any"),
                dict(batch_shape=(2, 3), tokens=5, heads=2, d_head=3, context=7, d_context=11),
                dict(tokens=7, heads=3, d_head=2, masked="causal"),
            ),
        ),
        Check(
            name="conduct",
            title="the layer stays as it is",
            points=2,
            needs=("values",),
            probe=ablated_conduct,
            examples=trials(draw_layer, dict(tokens=3, heads=2, d_head=2)),
            trials=trials(draw_layer, dict(batch_shape=(2,), tokens=5, heads=3, d_head=7, dtype=torch.float64)),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (
        nothing_removed, keeps_only_it, after_the_mixing, query_removed, others_made_larger, counts_from_one,
        every_other_column, context_forgotten, mask_forgotten, layer_left_changed, mode_left_changed,
    )),
    review="Taking a head away",
)  # fmt: skip

# ---------------------------------------------------------------- practice: 2.P1, 2.P2, 2.P3


def draw_maps(
    draw: InputSampler, *, batch_shape: tuple[int, ...] = (), queries: int, keys: int, dtype=torch.float32
) -> Inputs:
    """Maps of every sharpness, with weights of exactly 0 and a row that looks at one key alone."""
    scores = draw.normal(*batch_shape, queries, keys, scale=3.0, dtype=dtype).masked_fill(
        ~draw.mask(*batch_shape, queries, keys), -torch.inf
    )
    scores[..., 0, :] = -torch.inf
    scores[..., 0, 1] = 0.0
    return {"weights": scores.softmax(-1)}


def entropy_values(attention_entropy, weights: Tensor):
    return {"entropy": attention_entropy(weights)}


@mistake(
    "attention_entropy",
    "0 · log 0 counts as 0 here, but computes to NaN. Leave out the weights that are 0, or use torch.special.entr.",
)
def nan_at_zero(weights: Tensor) -> Tensor:
    return -(weights * weights.log()).sum(-1) / log(weights.shape[-1])


@mistake(
    "attention_entropy", "Divide by the entropy of a uniform row, log S, so that 1 is the most there can be."
)
def not_normalised(weights: Tensor) -> Tensor:
    return torch.special.entr(weights).sum(-1)


@mistake("attention_entropy", "Return one number for each query, not one for the whole map.")
def one_for_all(weights: Tensor) -> Tensor:
    return (torch.special.entr(weights).sum(-1) / log(weights.shape[-1])).mean()


@mistake(
    "attention_entropy",
    "The entropy is taken over the queries. Each query spreads its attention over the keys: the last axis.",
)
def over_the_queries(weights: Tensor) -> Tensor:
    return torch.special.entr(weights).sum(-2) / log(weights.shape[-2])


ENTROPY = Exercise(
    id="2.P1",
    title="How widely does a query look?",
    reference=(attention_entropy,),
    points=0,
    difficulty=1,
    minutes=5,
    checks=(
        Check(
            name="values",
            title="0 for one key, 1 for all keys alike",
            points=0,
            probe=entropy_values,
            examples=trials(draw_maps, dict(queries=3, keys=5)),
            trials=trials(
                draw_maps,
                dict(queries=5, keys=7),
                dict(batch_shape=(2, 3), queries=7, keys=5, dtype=torch.float64),
            ),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (nan_at_zero, not_normalised, one_for_all, over_the_queries)),
    review="Reading a map",
)


def draw_patterns(draw: InputSampler, *, n: int) -> Inputs:
    """One map of each kind, well inside its definition, with a little noise."""
    position = torch.arange(n)
    near = torch.ones(n, n).tril(1).triu(-1)
    hub, far = torch.zeros(n, n), torch.zeros(n, n)
    hub[:, int(draw.integers(1, n - 1))] = 1
    far[position, (position + n // 2) % n] = 1
    kinds = (torch.ones(n, n) / n, hub, torch.eye(n), near / near.sum(-1, keepdim=True), far)
    noise = draw.uniform(len(kinds), n, n)
    noise = noise / noise.sum(-1, keepdim=True)
    order = draw.permutation(len(kinds))
    return {"maps": (0.85 * torch.stack(kinds) + 0.15 * noise)[order]}


def pattern_values(classify_pattern, maps: Tensor):
    return {"patterns": [classify_pattern(weights) for weights in maps]}


@mistake(
    "classify_pattern", "A hub is a key that all queries look at: a column of the map. Rows always sum to 1."
)
def hub_in_rows(weights: Tensor) -> str:
    return classify_pattern(weights.T) if classify_pattern(weights) == "hub" else classify_pattern(weights)


@mistake("classify_pattern", "Ask for the diagonal before the band: a diagonal lies inside every band.")
def band_before_diagonal(weights: Tensor) -> str:
    return "local" if classify_pattern(weights) == "diagonal" else classify_pattern(weights)


@mistake(
    "classify_pattern",
    'A map that spreads evenly is "uniform", whatever else it may look like: ask for it first.',
)
def never_uniform(weights: Tensor) -> str:
    return "other" if classify_pattern(weights) == "uniform" else classify_pattern(weights)


PATTERN = Exercise(
    id="2.P2",
    title="A word for a map",
    reference=(classify_pattern,),
    points=0,
    difficulty=2,
    minutes=8,
    checks=(
        Check(
            name="values",
            title="uniform, hub, diagonal, local or other",
            points=0,
            probe=pattern_values,
            examples=trials(draw_patterns, dict(n=7)),
            trials=trials(draw_patterns, dict(n=11), dict(n=13), dict(n=17)),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (hub_in_rows, band_before_diagonal, never_uniform)),
    builds_on=("2.P1",),
    review="Reading a map",
)


def draw_fusion(
    draw: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    text: int,
    image: int,
    d_text: int,
    d_image: int,
    heads: int | None = None,
    d_head: int,
) -> Inputs:
    """Without `heads`, the default of 4 is asked for."""
    d_model = (heads or 4) * d_head
    weights: dict[str, Tensor] = {}
    for side, width in (("text", d_text), ("image", d_image)):
        weights |= {f"{side}_norm.weight": draw.uniform(width) + 0.5, f"{side}_norm.bias": draw.normal(width)}
        weights |= draw_linear(draw, f"{side}_in", width, d_model) | draw_linear(
            draw, f"{side}_out", d_model, width
        )
    for name in ("text_from_image.", "image_from_text."):
        weights |= draw_heads(draw, name, d_model, d_model)
    return {
        "sizes": [d_text, d_image, d_model],
        "more": {} if heads is None else {"num_heads": heads},
        "weights": weights,
        "text_tokens": draw.normal(*batch_shape, text, d_text),
        "image_tokens": draw.normal(*batch_shape, image, d_image),
    }


def fusion_values(
    ImageTextFusion, sizes: list[int], more: Mapping, weights: Mapping[str, Tensor], text_tokens, image_tokens
):
    fusion = load(ImageTextFusion(*sizes, **more), weights)
    text, image = pair(fusion(text_tokens, image_tokens))
    return {"text update": text, "image update": image, "numbers to learn": size_of(fusion)}


@mistake(
    "ImageTextFusion",
    "The residual is added inside the layer. The caller adds it, once; twice makes activations grow layer by layer.",
)
class ResidualInside(ImageTextFusion):
    def forward(self, text_tokens, image_tokens):
        text, image = super().forward(text_tokens, image_tokens)
        return text_tokens + text, image_tokens + image


@mistake(
    "ImageTextFusion",
    "The image looks at a text that has just been changed. Both sides look at what came in.",
)
class OneAfterTheOther(ImageTextFusion):
    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        seen = self.text_from_image(text, image)[0]
        return self.text_out(seen), self.image_out(self.image_from_text(image, text + seen)[0])


@mistake("ImageTextFusion", "The two directions have changed places: the text asks in text_from_image.")
class DirectionsSwapped(ImageTextFusion):
    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        return (
            self.text_out(self.image_from_text(text, image)[0]),
            self.image_out(self.text_from_image(image, text)[0]),
        )


@mistake("ImageTextFusion", "The tokens are not normalised. Put them through text_norm and image_norm first.")
class NoNorm(ImageTextFusion):
    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(text_tokens), self.image_in(image_tokens)
        return (
            self.text_out(self.text_from_image(text, image)[0]),
            self.image_out(self.image_from_text(image, text)[0]),
        )


FUSION = Exercise(
    id="2.P3",
    title="Both directions at once",
    reference=(ImageTextFusion,),
    points=0,
    difficulty=3,
    minutes=10,
    builds_on=("2.4", "2.5", "2.6"),
    checks=(
        Check(
            name="values",
            title="the text looks at the image and the image at the text",
            points=0,
            probe=fusion_values,
            examples=trials(
                draw_fusion, dict(batch_shape=(2,), text=3, image=4, d_text=3, d_image=5, heads=2, d_head=2)
            ),
            trials=trials(
                draw_fusion,
                dict(batch_shape=(2,), text=5, image=7, d_text=11, d_image=13, heads=3, d_head=2),
                dict(text=7, image=3, d_text=5, d_image=11, heads=2, d_head=3),
                dict(text=3, image=5, d_text=7, d_image=11, d_head=2),
            ),
        ),
    ),
    mistakes=tuple(one.__mistake__ for one in (ResidualInside, OneAfterTheOther, DirectionsSwapped, NoNorm)),
    review="Both directions",
)

LESSON = Lesson(
    assignment="2-heads",
    title="Token alignment and many heads",
    cell_seconds={"train-reader": 120.0, "train-aligner": 60.0},
    exercises=(
        ALIGNER, VARIANCE, LOSS, SPLIT, MERGE, MULTI_HEAD, ALIGNED, ABLATION, ENTROPY, PATTERN, FUSION,
    ),
    # What training cells leave behind; there is no reference for it.
    given={"aligner": None, "words": None, "reader": None},
)  # fmt: skip
