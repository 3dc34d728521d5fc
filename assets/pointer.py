"""README's figure, measured: train lesson 1's pointer and show where it looks. Writes assets/pointer.png."""

from io import BytesIO
from pathlib import Path
from unittest import mock

import matplotlib

matplotlib.use("Agg")

import torch
from attention.data.digits import to_images
from attention.experiments.digit_pointer import Pointer, draw_looks, draw_start
from attention.plots.map_plots import show_over_image
from attention.pointer_loss import pointer_loss
from matplotlib import pyplot as plt
from PIL import Image

SEED, STEPS, SHOWN = 0, 300, [0, 3]


def trained_pointer() -> Pointer:
    """Lesson 1's training, with the reference."""
    pointer = Pointer()
    draw_start(pointer, SEED)
    optimizer = torch.optim.Adam(pointer.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(STEPS):
        words, patches, target = draw_looks(128, generator)
        loss = pointer_loss(pointer(words, patches), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return pointer


def main() -> None:
    untrained, trained = Pointer(), trained_pointer()
    draw_start(untrained, SEED)
    words, patches, target = draw_looks(len(SHOWN) + 3, torch.Generator().manual_seed(SEED + 1), "test")
    with torch.no_grad():
        maps = {
            "chance": torch.full((len(words), 9), 1 / 9),
            "untrained": untrained(words, patches),
            "trained": trained(words, patches),
        }
    with mock.patch.object(plt, "show"):
        show_over_image(
            to_images(patches[SHOWN]),
            {name: weights[SHOWN] for name, weights in maps.items()},
            target[SHOWN],
            [f"where is the {word}?" for word in words[SHOWN].tolist()],
        )
    drawn = BytesIO()
    plt.savefig(drawn, dpi=110, facecolor="white")
    in_256_colours(drawn).save(Path(__file__).with_name("pointer.png"), optimize=True)


def in_256_colours(picture: BytesIO) -> Image.Image:
    """Return a picture with a palette: it takes less than half of the bytes, in each wheel and each clone."""
    return Image.open(picture).convert("RGB").quantize(256, kmeans=4, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
