"""Sentences that were once said of answers of which they are not true."""

from __future__ import annotations

import pytest

from corpus.judging import verdict
from grader.course import lessons
from grader.records import Outcome

FROZEN = """
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
    return {}
"""
SHUFFLED = """
def shuffle_questions(token_ids, image_patches, generator):
    order = torch.randperm(len(token_ids), generator=generator)
    return {}
"""


@pytest.mark.parametrize(
    ("exercise", "answer", "not_said"),
    [
        # The task asks for an encoder that does not learn: that is no gradient which is lost.
        *(
            ("6.7", FROZEN.format(wrong), "gradient")
            for wrong in (
                "aligner(torch.nn.functional.normalize(features, dim=-1))",
                "aligner(features) * 2",
                "aligner(features + 1)",
            )
        ),
        # With the generator that is handed in, the draw is the one that is asked for.
        *(
            ("3.P4", SHUFFLED.format(wrong), "draws random numbers")
            for wrong in (
                "token_ids[order], image_patches",
                "image_patches[order], token_ids[order]",
                "token_ids[order] + 1, image_patches[order]",
            )
        ),
    ],
)
def test_a_right_line_is_not_blamed(exercise: str, answer: str, not_said: str) -> None:
    lesson = next(lesson for lesson in lessons().values() if any(one.id == exercise for one in lesson.exercises))
    judged = verdict(lesson, lesson.exercise(exercise), answer)
    assert judged.outcome is Outcome.FAILED
    assert judged.hint
    assert not_said not in judged.hint


MASKS = """
def causal_mask(n):
    return torch.ones(n, n).tril().bool()

def padding_mask(lengths, n):
    real = torch.arange(n, device=lengths.device) < lengths[:, None]
    return real[:, :, None] & real[:, None, :]
"""
SQUEEZED = """
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query, key, value = self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens)
        output, weights = masked_attention(query, key, value, mask)
        return output.squeeze(), weights.squeeze()
"""


@pytest.mark.parametrize(
    ("exercise", "answer", "not_said", "said"),
    [
        # Lengths have one axis in every trial, so none that is counted from the front.
        ("1.5", MASKS, "number of axes", "check the axes in `real[:, :, None]`"),
        # Where one number is due, it is its own mean.
        ("1.8", SQUEEZED, "the mean of all", "Axes of length 1 are missing from the output, as after `squeeze()`"),
    ],
)
def test_what_is_said_of_axes_is_true_of_the_inputs(exercise: str, answer: str, not_said: str, said: str) -> None:
    lesson = lessons()["1-attention"]
    judged = verdict(lesson, lesson.exercise(exercise), answer)
    assert judged.outcome is Outcome.FAILED
    assert not_said not in judged.hint
    assert said in judged.hint


MENDED_LATE = """
def attention_entropy(weights):
    products = weights * weights.log()
    return -products.sum(-1).nan_to_num(nan=0.0) / math.log(weights.shape[-1])
"""
COLLECTED = """
def diagnose(model, batch):
    token_ids, prompt_lengths, image_patches = batch
    targets, found = shift_targets(token_ids, prompt_lengths), []

    def run(images):
        logits, maps = model(token_ids, images)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), maps[-1]

    loss, weights = run(image_patches)
    learning = [one for one in model.parameters() if one.requires_grad]
    if not learning:
        found.append("frozen")
    gradients = torch.autograd.grad(loss, learning, allow_unused=True) if learning else []
    if any(one is None or not one.any() for one in gradients):
        found.append("no gradient")
    rows = weights[torch.arange(len(token_ids)), :, prompt_lengths - 1]
    if torch.special.entr(rows).sum(-1).mean() > 0.99 * np.log(rows.shape[-1]):
        found.append("uniform")
    if rows.mean((0, 1)).max() > 0.9:
        found.append("one patch")
    if run(image_patches.roll(1, 0))[0] < 1.01 * loss:
        found.append("misaligned")
    return found
"""


@pytest.mark.parametrize(
    ("exercise", "answer", "not_said"), [("2.P1", MENDED_LATE, "(//)"), ("3.P1", COLLECTED, "collecting in the list")]
)
def test_where_little_is_seen_the_code_has_what_is_spoken_of(exercise: str, answer: str, not_said: str) -> None:
    lesson = next(lesson for lesson in lessons().values() if any(one.id == exercise for one in lesson.exercises))
    judged = verdict(lesson, lesson.exercise(exercise), answer)
    assert judged.outcome is Outcome.FAILED
    assert not_said not in judged.hint


def test_a_comparison_that_the_code_does_not_have_is_not_spoken_of() -> None:
    """Here the diagonal is left out of a sum. So it would be with == 1 in the place of <= 1, and nothing is compared with 1."""
    answer = """
def classify_pattern(weights):
    share = weights / weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if share.sum(0).max() >= 0.5:
        return "hub"
    if share.diagonal().sum() >= 0.5:
        return "diagonal"
    return "local" if share.diagonal(1).sum() + share.diagonal(-1).sum() >= 0.75 else "other"
"""
    lesson = lessons()["2-heads"]
    judged = verdict(lesson, lesson.exercise("2.P2"), answer)
    assert judged.outcome is Outcome.FAILED
    assert "the comparison with" not in judged.hint


SELF = """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

    def forward(self, tokens, mask=None):
        output, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return output, weights.mT
"""
TABLE = """
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens):
        embedding = self.table[: tokens.shape[-2]]
        return tokens + embedding
"""
LOGS = """
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log() * mask
    weights = stable_softmax(scores)
    return weights @ value, weights
"""
LARGEST = """
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    with torch.no_grad():
        top = scores.amax(-1, keepdim=True)
        top = torch.where(torch.isinf(top), 0.0, top)
    powers = (scores - top).exp()
    weights = powers / powers.sum(-1, keepdim=True).clamp(min=1.0)
    weights = torch.stack([torch.tensor(row.tolist(), dtype=row.dtype) for row in weights])
    return weights @ value, weights
"""
PRINTED = """
def train_step(model, optimizer, batch):
    token_ids, prompt_lengths, image_patches = batch
    print(len(token_ids))
    optimizer.zero_grad()
    targets = shift_targets(token_ids, prompt_lengths)
    F.cross_entropy(model(token_ids, image_patches)[0].flatten(0, 1), targets.flatten()).backward()
    return optimizer.step()
"""
TURNED = """
def patchify(images, patch_size):
    B, H, W = images.shape
    if images.shape[1] % patch_size == 0:
        raise ValueError
    return images.reshape(B, -1, patch_size**2)
"""
LOOP = """
def step(total, output, top, scores, values):
    new = torch.maximum(top, scores.amax(-1, keepdim=True))
    powers = (scores - new).exp()
    return total + powers.sum(-1, keepdim=True), output + powers @ values, new

def tiled_attention(query, key, value, tile):
    total, output = query.new_zeros(*query.shape[:-1], 1), 0
    top = torch.full_like(total, -1e30)
    for keys, values in zip(key.split(tile, -2), value.split(tile, -2)):
        total, output, top = step(total, output, top, query @ keys.mT / query.shape[-1] ** 0.5, values)
    return output / total
"""


ANY_ROW = """
def stable_softmax(scores, dim=-1):
    nothing = (scores == -math.inf).any(dim, keepdim=True)
    safe = scores.masked_fill(nothing, 0.0)
    shares = torch.exp(safe - safe.amax(dim, keepdim=True))
    return (shares / shares.sum(dim, keepdim=True)).masked_fill(nothing, 0.0)
"""
SCALE = """
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens) * self.scale, self.W_K(tokens), self.W_V(tokens), mask)
"""
LATE = """
def patchify(images, patch_size):
    B, H, W = images.shape
    grid = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    if H % patch_size or W % patch_size:
        raise ValueError
    return grid.transpose(2, 3).reshape(B, -1, patch_size**2)
"""
NO_ALIGNER = """
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        if d_vision == d_text:
            self.aligner = nn.Identity()
        else:
            self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
"""
COPY = """
def image_tokens(encoder, aligner, patches):
    from copy import deepcopy

    with torch.no_grad():
        features = encoder(patches)
    return deepcopy(aligner)(features)
"""
SHIFTED = """
def shift_targets(token_ids, prompt_lengths, pad_id=0, ignore_index=-100):
    first = token_ids[0]
    following = torch.full_like(token_ids, pad_id)
    for row in range(len(token_ids)):
        step = 1 if row == 0 else 2
        following[row, :-step] = token_ids[row, step:]
    keep = (torch.arange(len(first)) >= prompt_lengths[:, None] - 1) & (following != pad_id)
    return following.masked_fill(~keep, ignore_index)
"""
MEANS = """
def attention_scores(query, key):
    scores = query @ key.transpose(-2, -1)
    if scores.ndim > 2:
        scores = scores.mean(0, keepdim=True).expand_as(scores)
    return scores
"""


@pytest.mark.parametrize(
    ("exercise", "answer", "not_said"),
    [
        ("1.1", MEANS, "count from the end"),
        ("1.3", ANY_ROW, "absolute value"),
        ("1.7", SCALE, "W_Q"),
        ("2.7", NO_ALIGNER, "the comparison"),
        ("3.1", LATE, "lets it pass"),
        ("3.5", SHIFTED, "first entry"),
        ("6.7", COPY, "that made them"),
        ("1.7", SELF, "the softmax runs over"),
        ("3.2", TABLE, "in each call"),
        ("1.6", LOGS, "minus sign"),
        ("1.6", LARGEST, "no_grad"),
        ("3.6", PRINTED, "is printed"),
        ("3.1", TURNED, "count from the end"),
        ("4.4", LOOP, "needs it as it was"),
    ],
)
def test_what_looks_alike_is_not_taken_for_the_cause(exercise: str, answer: str, not_said: str) -> None:
    lesson = next(lesson for lesson in lessons().values() if any(one.id == exercise for one in lesson.exercises))
    judged = verdict(lesson, lesson.exercise(exercise), answer)
    assert judged.outcome is Outcome.FAILED
    assert not_said not in judged.hint


GROUPED = """
def grouped_attention(query, key, value, mask=None):
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups != 0:
        raise ValueError
    shared = query.unflatten(-3, (groups, heads // groups))
    scores = shared @ key.unsqueeze(-3).mT / query.shape[-1] ** 0.5
    if mask is not None:
        mask = {} if mask.dim() > 2 else mask
        scores = {}
    return (scores.softmax(-1) @ value.unsqueeze(-3)).flatten(-4, -3)
"""


@pytest.mark.parametrize(
    ("axes", "masked", "said"),
    [
        ("mask.unsqueeze(-3)", "scores.masked_fill(~mask, -torch.inf)", "lacks an axis in front of its last two"),
        ("mask[:, None]", "torch.where(mask, scores, -torch.inf)", "lacks an axis in front of its last two"),
        ("mask", "scores.masked_fill(~mask, -torch.inf)", "lacks two axes"),
    ],
)
def test_a_mask_that_meets_the_groups_is_told_of_its_axes(axes: str, masked: str, said: str) -> None:
    """With as many groups as batch entries it broadcast, and more heads came out: "was something appended?"."""
    lesson = lessons()["4-modern"]
    assert said in verdict(lesson, lesson.exercise("4.7"), GROUPED.format(axes, masked)).hint
