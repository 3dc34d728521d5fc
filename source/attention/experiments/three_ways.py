"""Three ways to bring an image into a text model, on one small task: who answers, who looks, and what it costs.

The task is the pocket's (`pocket_vlm`): one word asks for a place, one word answers with the digit that stands
there. The three layers come from the caller, as classes.

Axes: B questions, T words, S = 9 patches, H heads, K learned queries.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import cos, pi
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from attention.builtin import MultiHeadAttention, causal_mask
from attention.data.digits import BLANK, POSITIONS, digits, draw_scenes
from attention.data.tokens import WORDS, Questions
from attention.experiments.progress import progress
from attention.experiments.recipe import draw_start

CONCATENATION, GATED, QUERIES = WAYS = ("concatenation", "gated cross-attention", "learned queries")
WAY_WIDTH, WAY_HEADS, WAY_QUERIES = 32, 1, 4
WAY_STEPS, WAY_BATCH, WAY_RATE, WAY_BETAS, WAY_WARM_UP = 500, 80, 0.01, (0.9, 0.9), 20


class WayLayers(NamedTuple):
    """The layers that are compared, as classes."""

    joined: Callable  # joined(d_model, num_heads), called with text, image, mask → tokens of both, weights
    gated: Callable  # gated(d_model, num_heads), called with text, image → tokens, weights
    queries: Callable  # queries(num_queries, d_model, num_heads), called with image → summary, weights


class WayBlock(nn.Module):
    """One pre-norm block: the words meet each other and the image, then each token thinks for itself."""

    def __init__(self, way: str, layers: WayLayers, width: int, num_heads: int) -> None:
        super().__init__()
        self.norm1, self.norm3 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.ffn = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.joined = self.self_attn = self.gated = None
        if way == GATED:
            self.self_attn, self.gated = MultiHeadAttention(width, num_heads), layers.gated(width, num_heads)
        else:
            self.joined = layers.joined(width, num_heads)

    def forward(self, text: Tensor, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """text (B, T, width), image (B, S, width) → both again, and where the words look (B, H, T, S)."""
        T, S = text.shape[-2], image.shape[-2]
        mask = causal_mask(T, text.device)
        if self.joined is None:
            text = text + self.self_attn(self.norm1(text), mask=mask)[0]
            text, weights = self.gated(text, image)
            return text + self.ffn(self.norm3(text)), image, weights
        met, weights = self.joined(self.norm1(text), self.norm1(image), mask)
        both = torch.cat([image, text], -2) + met
        both = both + self.ffn(self.norm3(both))
        return both[..., S:, :], both[..., :S, :], weights[..., S:, :S]


class WayVLM(nn.Module):
    """A vision-language model around one of the three ways."""

    def __init__(
        self,
        way: str,
        layers: WayLayers,
        num_queries: int = WAY_QUERIES,
        width: int = WAY_WIDTH,
        num_heads: int = WAY_HEADS,
        num_blocks: int = 1,
        num_patches: int = 9,
    ) -> None:
        """num_queries counts for learned queries alone.

        Raises:
            ValueError: there is no such way.
        """
        super().__init__()
        if way not in WAYS:
            raise ValueError(f"the ways are {', '.join(WAYS)}, not {way!r}")
        self.aligner = nn.Linear(64, width)
        self.image_positions = nn.Parameter(torch.empty(num_patches, width))
        self.image_norm, self.norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.embedding = nn.Embedding(len(WORDS), width)
        self.summary = layers.queries(num_queries, width, num_heads) if way == QUERIES else None
        self.blocks = nn.ModuleList(WayBlock(way, layers, width, num_heads) for _ in range(num_blocks))
        self.head = nn.Linear(width, len(WORDS), bias=False)

    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        """token_ids (B, T), image_patches (B, S, 64) → logits (B, T, words), a map for each layer that looks.

        Where words look: (B, H, T, S), or (B, H, T, K) with learned queries, whose own map (B, H, K, S) is the first.
        """
        image = self.image_norm(self.aligner(image_patches) + self.image_positions)
        text, maps = self.embed(token_ids), []
        if self.summary is not None:
            image, weights = self.summary(image)
            maps.append(weights)
        for block in self.blocks:
            text, image, weights = block(text, image)
            maps.append(weights)
        return self.head(self.norm(text)), maps

    def embed(self, token_ids: Tensor) -> Tensor:
        """token_ids (B, T) → the words' vectors (B, T, width)."""
        return self.embedding(token_ids)


def over_patches(model: WayVLM, maps: list[Tensor]) -> Tensor:
    """Return where the words of the last block look among the patches, averaged over the heads: (B, T, S).

    Learned queries stand in between: a word looks at queries and these at patches, so their maps are multiplied.
    """
    looks = maps[-1].mean(-3)
    return looks if model.summary is None else looks @ maps[0].mean(-3)


def place_questions(
    count: int, generator: torch.Generator, split: str = "train", fewest: int = 9, most: int = 9
) -> Questions:
    """Draw questions on the CPU: the name of a place that shows a digit, and the digit. T = 2: question, answer."""
    patches, labels = draw_scenes(count, generator, split, fewest, most)
    lots = torch.where(labels != BLANK, torch.rand(count, 9, generator=generator), -1.0)
    cell = lots.argmax(1, keepdim=True)
    place, digit = WORDS.index(POSITIONS[0]) + cell, WORDS.index("0") + labels.gather(1, cell)
    lengths = torch.ones(count, dtype=torch.long)
    return Questions(torch.cat([place, digit], 1), lengths, patches, cell, labels)


def draw_way_start(model: WayVLM, seed: int, gate: float = 0.0) -> None:
    """Draw every parameter from the seed; a place's word begins as the vector of that place, a gate at `gate`.

    The aligner begins where least squares bring each digit to the embedding of its word.
    """
    draw_start(model, seed)
    generator = torch.Generator().manual_seed(seed)
    first = WORDS.index(POSITIONS[0])
    patches, labels = digits("train")
    inputs = F.pad(patches, (0, 1), value=1.0)  # (N, 65), the last column for the bias
    ridge = torch.eye(65)  # some pixels are always white: without it there would be no single solution
    with torch.no_grad():
        model.image_positions.mul_(0.7)
        model.embedding.weight[first : first + 9] = model.image_positions
        for name, parameter in model.named_parameters():
            if name.endswith(".gate"):
                parameter.fill_(gate)
            elif name.endswith(".queries"):
                parameter.copy_(torch.randn(parameter.shape, generator=generator))
        words = model.embedding.weight[WORDS.index("0") + labels]
        solution = torch.linalg.solve(inputs.T @ inputs + ridge, inputs.T @ words)
        model.aligner.weight.copy_(solution[:-1].T)
        model.aligner.bias.copy_(solution[-1])


def train_way(
    way: str,
    layers: WayLayers,
    seed: int,
    steps: int = WAY_STEPS,
    num_queries: int = WAY_QUERIES,
    gate: float = 0.0,
    device: torch.device | str = "cpu",
) -> tuple[WayVLM, list[float]]:
    """Train a model around one way; return it, and the loss of every step.

    Scenes hold one or two digits at first, and up to nine in the last third.
    """
    torch.set_flush_denormal(True)  # a processor takes long over numbers below 1e-38
    model = WayVLM(way, layers, num_queries)
    draw_way_start(model, seed, gate)
    model.to(device)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=WAY_RATE, betas=WAY_BETAS)
    losses = []
    for step in progress(range(steps), way):
        warm = min(1.0, (step + 1) / WAY_WARM_UP)
        optimizer.param_groups[0]["lr"] = WAY_RATE * warm * (1 + cos(pi * step / steps)) / 2
        asked = place_questions(WAY_BATCH, generator, fewest=1, most=min(9, 2 + 11 * step // steps)).to(device)
        logits, _ = model(asked.token_ids[:, :1], asked.image_patches)
        loss = F.cross_entropy(logits[:, 0], asked.token_ids[:, 1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def way_scores(model: WayVLM, count: int = 2000, seed: int = 7) -> dict[str, object]:
    """Return scores on full scenes of unseen images.

    Returns:
        "right": the share of right answers; "on the patch": of maps that are largest on the patch in question;
        "by place": the share of right answers for each of the nine places, (9,).
    """
    asked = place_questions(count, torch.Generator().manual_seed(seed), "test")
    device = model.head.weight.device
    with torch.no_grad():
        logits, maps = model(asked.token_ids[:, :1].to(device), asked.image_patches.to(device))
    right = (logits[:, 0].argmax(-1).cpu() == asked.token_ids[:, 1]).float()
    cell = asked.cells[:, 0]
    looks = over_patches(model, maps)[:, 0].argmax(-1).cpu()
    return {
        "right": right.mean().item(),
        "on the patch": (looks == cell).float().mean().item(),
        "by place": torch.stack([right[cell == place].mean() for place in range(9)]),
    }


def new_layers(gated: Callable, count: int, gate: float, width: int = 64, num_heads: int = 4) -> nn.ModuleList:
    """Return layers of gated cross-attention that have learned nothing; at `gate` 100 they are open, since tanh is 1."""
    layers = nn.ModuleList(gated(width, num_heads) for _ in range(count))
    for layer in layers:
        nn.init.constant_(layer.gate, gate)
    return layers


@contextmanager
def added_layers(model: nn.Module, layers: nn.ModuleList) -> Iterator[None]:
    """Put new layers in front of the first block of lesson 3's model, for a while.

    Args:
        model: an OpenVLM; its words go through the layers, which also get the image tokens.
        layers: each called with text, image → tokens, weights.
    """
    image: list[Tensor] = []  # the model makes its image tokens before it reads the words

    def through(part: nn.Module, given: tuple, text: Tensor) -> Tensor:
        tokens = image.pop()
        for layer in layers:
            text, _ = layer(text, tokens)
        return text

    hooks = [
        model.image_norm.register_forward_hook(lambda part, given, made: image.append(made)),
        model.text_positions.register_forward_hook(through),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def counted_flops(model: WayVLM, words: int = 1) -> int:
    """Return the additions and multiplications of all matrix products for one question.

    They are counted while the model runs.
    """
    device = model.head.weight.device
    token_ids = torch.zeros(1, words, dtype=torch.long, device=device)
    with FlopCounterMode(display=False) as counter:  # it fails on learned queries without gradients
        model(token_ids, torch.zeros(1, len(model.image_positions), 64, device=device))
    return counter.get_total_flops()


def way_flops(
    way: str, patches: int, words: int = 1, num_queries: int = WAY_QUERIES, width: int = WAY_WIDTH, blocks: int = 1
) -> int:
    """Return the same by formula, for any sizes, without the aligner and the head, which all three ways share.

    A product (n, a) · (a, b) takes 2·n·a·b: a multiplication and an addition each.
    """

    def attention(asking: int, asked: int) -> int:
        """W_Q and W_O for those who ask, W_K and W_V for those who are asked, scores and weighted sums."""
        return 4 * width**2 * (asking + asked) + 4 * width * asking * asked

    def feed_forward(tokens: int) -> int:
        return 8 * width**2 * tokens

    if way == GATED:
        block = attention(words, words) + attention(words, patches) + feed_forward(words)
        return blocks * block
    before, image = (attention(num_queries, patches), num_queries) if way == QUERIES else (0, patches)
    both = image + words
    return before + blocks * (attention(both, both) + feed_forward(both))
