"""Slips of public code: the cause that is named, and the points that are left.

Each is the course's own solution with one change, written after public repositories and bug reports.
"""

import pytest

from corpus.judging import solutions, verdict
from grader.course import lessons
from grader.records import Outcome

SLIPS = [
    # exercise, what is changed: old and new text; words of the hint, points
    pytest.param("1.2", [("    d_k = key.shape[-1]\n", "")], "`d_k` is not defined here", 0, id="1.2 undefined d_k"),
    pytest.param(
        "6.10",
        [
            (
                "        if mask is None:\n            mask = torch.ones(T, T, dtype=torch.bool, device=text_tokens.device)\n        patches_ask = torch.cat([mask.new_ones(S, S), mask.new_zeros(S, T)], dim=1)\n        words_ask = torch.cat([mask.new_ones(T, S), mask], dim=1)\n        sequence = torch.cat([image_tokens, text_tokens], dim=-2)\n        return self.self_attn(sequence, mask=torch.cat([patches_ask, words_ask], dim=0))\n",
                "        n = S + T\n        allowed = torch.ones(n, n, dtype=torch.bool, device=text_tokens.device)\n        allowed[:S, S:] = False\n        if mask is not None:\n            allowed[S:, S:] = mask\n        sequence = torch.cat([image_tokens, text_tokens], dim=-2)\n        return self.self_attn(sequence)\n",
            )
        ],
        "passes no mask to the attention",
        0,
        id="6.10 allowed made, mask handed over",
    ),
    pytest.param(
        "4.5",
        [
            (
                "base ** (-torch.arange(0, d, 2, device=vectors.device) / d)",
                "base ** (torch.arange(0, d, 2, device=vectors.device) / d)",
            )
        ],
        "check the sign of the exponent",
        0,
        id="4.5 sign of the exponent",
    ),
    pytest.param(
        "4.5",
        [
            (
                "    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)\n    first, second = vectors[..., 0::2], vectors[..., 1::2]\n    turned = torch.stack((cos * first - sin * second, sin * first + cos * second), dim=-1)\n    return turned.reshape(vectors.shape)\n",
                "    angles = angles.repeat_interleave(2, dim=-1)\n    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)\n    half = torch.cat((-vectors[..., d // 2 :], vectors[..., : d // 2]), dim=-1)\n    return vectors * cos + half * sin\n",
            )
        ],
        "your partners are d/2 apart",
        0,
        id="4.5 rotate_half layout with angles repeat_interleave",
    ),
    pytest.param(
        "4.5",
        [
            (
                "    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)\n    first, second = vectors[..., 0::2], vectors[..., 1::2]\n    turned = torch.stack((cos * first - sin * second, sin * first + cos * second), dim=-1)\n    return turned.reshape(vectors.shape)\n",
                "    angles = torch.cat((angles, angles), dim=-1)\n    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)\n    half = torch.stack((-vectors[..., 1::2], vectors[..., 0::2]), dim=-1).flatten(-2)\n    return vectors * cos + half * sin\n",
            )
        ],
        "the angles repeat after d/2",
        0,
        id="4.5 angles cat, partners interleaved",
    ),
    pytest.param(
        "4.5",
        [
            (
                "-torch.arange(0, d, 2, device=vectors.device) / d",
                "-torch.arange(2, d + 2, 2, device=vectors.device) / d",
            )
        ],
        "The exponents begin at −2/d",
        2,
        id="4.5 exponents from 1",
    ),
    pytest.param(
        "6.12",
        [("self.norm(asking + found)", "self.norm(found)")],
        "The queries are not added",
        5.5,
        id="6.12 residual dropped",
    ),
    pytest.param(
        "3.3",
        [
            (
                "            self.cross_attn, self.norm2 = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)\n",
                "            self.cross_attn, self.norm2 = self.self_attn, nn.LayerNorm(d_model)\n",
            )
        ],
        "`self.cross_attn` and `self.self_attn` are the same layer here: make a separate layer for each.",
        0,
        id="3.3 one attention under two names",
    ),
    pytest.param(
        "3.3",
        [
            (
                "        note, _ = self.self_attn(self.norm1(text_tokens), mask=mask)\n        tokens = text_tokens + note\n",
                "        x = self.norm1(text_tokens)\n        note, _ = self.self_attn(x, mask=mask)\n        tokens = x + note\n",
            )
        ],
        "The first residual starts from the normalised tokens",
        10.5,
        id="3.3 residual from normed in step 1",
    ),
    pytest.param(
        "3.3",
        [
            (
                "            note, weights = self.cross_attn(self.norm2(tokens), image_tokens)\n            tokens = tokens + note\n",
                "            tokens = self.norm2(tokens)\n            note, weights = self.cross_attn(tokens, image_tokens)\n            tokens = tokens + note\n",
            )
        ],
        "The second residual starts from the normalised tokens",
        11.5,
        id="3.3 residual from normed in step 2",
    ),
    pytest.param(
        "3.3",
        [("tokens + self.ffn(self.norm3(tokens))", "self.ffn(self.norm3(tokens) + tokens)")],
        "adds the tokens to the input of the feed-forward step",
        10.5,
        id="3.3 residual inside (ffn)",
    ),
    pytest.param(
        "3.3",
        [
            (
                "tokens = tokens + self.ffn(self.norm3(tokens))",
                "x = self.ffn(self.norm3(tokens))\n        tokens = x + x",
            )
        ],
        "to itself. Add it to the tokens",
        10.5,
        id="3.3 x + x",
    ),
    pytest.param(
        "3.3",
        [("tokens = tokens + self.ffn(self.norm3(tokens))", "tokens = text_tokens + self.ffn(self.norm3(tokens))")],
        "starts from the block's input",
        10.5,
        id="3.3 last residual from the block's input",
    ),
    pytest.param(
        "3.3",
        [("self.cross_attn(self.norm2(tokens), image_tokens)", "self.cross_attn(self.norm1(tokens), image_tokens)")],
        "Your cross-attention step uses norm1",
        11.5,
        id="3.3 norm1 twice and norm2 unused",
    ),
    pytest.param("3.3", [("nn.GELU()", "nn.SiLU()")], "There is a SiLU", 10, id="3.3 SiLU"),
    pytest.param(
        "3.3",
        [
            ("nn.GELU()", "QuickGELU()"),
            (
                "# @exercise 3.3\n",
                "# @exercise 3.3\nclass QuickGELU(nn.Module):\n    def forward(self, x):\n        return x * torch.sigmoid(1.702 * x)\n\n\n",
            ),
        ],
        "only approximates a GELU",
        10,
        id="3.3 QuickGELU",
    ),
    pytest.param(
        "1.5",
        [
            (
                "    position = torch.arange(n)\n    return position[:, None] >= position\n",
                "    return torch.triu(torch.ones(n, n))\n",
            ),
            (
                "    return position < lengths[:, None, None]\n",
                "    return (position <= lengths[:, None, None]).float()\n",
            ),
        ],
        "but got the numbers 0 and 1. The triangle points the wrong way: each token sees the future instead of the past. The mask allows one key too many",
        0,
        id="1.5 triu, <=, dtype",
    ),
    pytest.param(
        "1.2",
        [("return attention_scores(query, key) * d_k**-0.5", "return query @ key.mT / query.norm()")],
        "divides the scores by query.norm()",
        0,
        id="1.2 / query.norm()",
    ),
    pytest.param(
        "1.2",
        [("return attention_scores(query, key) * d_k**-0.5", "return torch.sqrt(attention_scores(query, key))")],
        "Your code takes the root of the scores",
        0,
        id="1.2 sqrt of the scores",
    ),
    pytest.param(
        "1.8",
        [
            (
                "        key, value = self.W_K(image_tokens), self.W_V(image_tokens)\n        return masked_attention(self.W_Q(text_tokens)",
                "        key, value = self.W_K(image_tokens), self.W_V(image_tokens)\n        return masked_attention(self.W_K(text_tokens)",
            )
        ],
        "Your code makes the queries with W_K",
        0,
        id="1.8 W_K where W_Q",
    ),
    pytest.param(
        "4.3",
        [("split(layer.W_Q(tokens))", "split(layer.W_K(tokens))")],
        "in one place, check `layer.W_K`: another attribute belongs here",
        0,
        id="4.3 W_K where W_Q",
    ),
    pytest.param(
        "1.6",
        [("scores = torch.where(mask, scores, -math.inf)", "scores = scores + (1 - mask.float()) * -1e4")],
        "lowered by the same number, so the softmax does not change",
        7,
        id="1.6 (1 - mask) * -1e4",
    ),
    pytest.param(
        "3.5",
        [
            (
                "    targets[:, :-1] = token_ids[:, 1:]\n    targets[:, :-1][token_ids[:, 1:] == pad_id] = ignore_index\n",
                "    targets[:] = token_ids\n    targets[token_ids == pad_id] = ignore_index\n",
            )
        ],
        "is the token at that position",
        0,
        id="3.5 no shift",
    ),
    pytest.param(
        "3.8",
        [
            (
                "    return brought.norm(dim=-1)",
                "    return (weights[..., 0, :, :, None] * (value[..., :width] @ cross_attn.W_O.weight[:, :width].T)[..., None, :, :]).norm(dim=-1)",
            )
        ],
        "Only the first head is used",
        0,
        id="3.8 first head alone",
    ),
    pytest.param(
        "2.2",
        [
            (
                "    lost = ((x - z @ readout) ** 2).sum() / (x**2).sum()\n",
                "    y = tokens.reshape(-1, tokens.shape[-1])\n    lost = ((x - z @ readout) ** 2).sum() / ((y - y.mean()) ** 2).sum()\n",
            )
        ],
        "around one mean of all numbers",
        0,
        id="2.2 total about the mean of everything",
    ),
    pytest.param(
        "4.2",
        [
            ("phi_k.sum(dim=-2)", "phi_k.cumsum(dim=-2)[..., -1, :]"),
            (
                '    pairs = torch.einsum("...jd,...je->...de", phi_k, value)\n    above = torch.einsum("...id,...de->...ie", phi_q, pairs)\n',
                '    pairs = (phi_k[..., :, None] * value[..., None, :]).cumsum(dim=-3)\n    above = torch.einsum("...id,...ide->...ie", phi_q, pairs)\n',
            ),
        ],
        "end at each query's own position",
        0,
        id="4.2 cumsum",
    ),
    pytest.param(
        "6.1",
        [("layer = weights.mean(dim=-3)", "layer = weights.amax(dim=-3)")],
        "In the layers' maps the largest weight",
        0,
        id="6.1 amax over heads",
    ),
    pytest.param(
        "6.8",
        [
            (
                "    mirrored = patches[:, opposite]\n    return torch.where(turned, opposite[cells], cells), torch.where(turned[:, None, None], mirrored, patches)\n",
                "    mirrored = patches.clone()\n    for a in (0, 3, 6):\n        mirrored[:, a] = mirrored[:, a + 2]\n        mirrored[:, a + 2] = mirrored[:, a]\n    return torch.where(turned, opposite[cells], cells), torch.where(turned[:, None, None], mirrored, patches)\n",
            )
        ],
        "overwritten before it is read",
        0,
        id="6.8 both moves of a swap in place",
    ),
    pytest.param(
        "4.4",
        [
            (
                "        total = total * shrink + weights.sum(dim=-1, keepdim=True)\n        output = output * shrink + weights @ values\n        largest = new_largest\n    return output / total\n",
                "        new_total = total * shrink + weights.sum(dim=-1, keepdim=True)\n        output = (output * shrink + weights @ values) / new_total\n        total, largest = new_total, new_largest\n    return output\n",
            )
        ],
        "divided in every round",
        0,
        id="4.4 old output not multiplied by the old total b",
    ),
    pytest.param(
        "6.11",
        [("torch.tensor([0.0])", "torch.randn(1)")],
        "begins at a random number",
        7,
        id="6.11 gate starts at randn",
    ),
    pytest.param(
        "5.3",
        [
            (
                "    hidden = F.gelu(layer.expand(layer.norm_2(after)))\n    return torch.addcmul(after,",
                "    after = layer.norm_2(after)\n    hidden = F.gelu(layer.expand(after))\n    return torch.addcmul(after,",
            )
        ],
        "The second residual starts from",
        6,
        id="5.3 second residual of the normed tokens",
    ),
    # A default that is not the task's costs half of the first check that fails for it.
    pytest.param(
        "2.6",
        [("dropout=0.0", "dropout=0.1")],
        "the default of `dropout` is 0.1; the task asks for 0.0.",
        18,
        id="2.6 dropout=0.1",
    ),
    pytest.param(
        "1.3", [("dim=-1):", "dim=1):")], "the default of `dim` is 1; the task asks for -1.", 8.5, id="1.3 dim=1):"
    ),
    pytest.param(
        "3.5",
        [("ignore_index: int = -100", "ignore_index: int = -1")],
        "the default of `ignore_index` is -1; the task asks for -100.",
        6.5,
        id="3.5 ignore_index: int = -1",
    ),
    pytest.param(
        "4.5",
        [("base: float = 10000.0", "base: float = 500000.0")],
        "the default of `base` is 500000.0; the task asks for 10000.0.",
        11,
        id="4.5 base: float = 500000.0",
    ),
]


@pytest.mark.fast_cases(
    "1.2 undefined d_k", "1.5 triu, <=, dtype", "3.3 SiLU", "6.12 residual dropped", "2.6 dropout=0.1"
)
@pytest.mark.parametrize(("id", "changes", "words", "points"), SLIPS)
def test_the_cause_is_named_and_the_rest_keeps_its_points(
    id: str, changes: list[tuple[str, str]], words: str, points: float
) -> None:
    lesson = next(one for one in lessons().values() if id in {exercise.id for exercise in one.exercises})
    source = solutions(lesson.assignment)[id]
    for old, new in changes:
        assert old in source
        source = source.replace(old, new, 1)
    found = verdict(lesson, lesson.exercise(id), source)
    assert found.outcome is Outcome.FAILED
    assert words in found.hint
    assert found.points == points
