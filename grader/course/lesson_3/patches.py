"""Exercises 3.1 and 3.9: `patchify` cuts images into patches, `swap_patches` exchanges two of them."""

from collections.abc import Mapping

import torch
from attention.patches import patchify, swap_patches
from torch import Tensor

from grader.course.lesson_3 import stand_ins
from grader.course.lesson_3.writings import patches_in_loops, swap_by_index
from grader.declare.authoring import (
    CheckSpec,
    Inputs,
    InputSampler,
    Value,
    drawn,
    edits,
    given,
    sizes,
    written_exercise,
)
from grader.declare.probes import function_effects

# ---------------------------------------------------------------- 3.1 patchify

draw_images = drawn(images="images height width", patch_size=given("patch_size"))


def patchify_refuses(patchify, images: Tensor, patch_size: int) -> Mapping[str, Value]:
    """Return {"a ValueError came": True} if `patchify` raises a ValueError, and False otherwise."""
    try:
        patchify(images, patch_size)
    except ValueError:
        return {"a ValueError was raised": True}
    return {"a ValueError was raised": False}


PATCHIFY = written_exercise("3.1 An image as a sequence", patchify, (
    CheckSpec("values", 7, "patches row by row, pixels row by row",
        examples=[sizes(images=1, height=4, width=6, patch_size=2)],
        trials=[sizes(images=2, height=6, width=10, patch_size=2), sizes(images=3, height=15, width=9, patch_size=3),
            sizes(images=1, height=5, width=5, patch_size=5), sizes(images=2, height=3, width=2, patch_size=1)]),
    CheckSpec("refuses", 2, "a ValueError where patches do not fit",
        examples=[sizes(images=1, height=4, width=5, patch_size=2), sizes(images=1, height=5, width=4, patch_size=2)],
        # height · width is a multiple of patch_size, and at last even of its square: both sides must be tested.
        trials=[sizes(images=2, height=6, width=7, patch_size=3), sizes(images=2, height=7, width=6, patch_size=3),
            sizes(images=1, height=2, width=9, patch_size=6), sizes(images=1, height=12, width=3, patch_size=6)],
        probe=patchify_refuses),
    CheckSpec("conduct", 1, "float64 stays float64, inputs stay as they are",
        trials=[sizes(images=2, height=6, width=9, patch_size=3, dtype=torch.float64)], probe=function_effects),
),
    draw=draw_images, returns=("patches",), 
    difficulty=1, minutes=8, review="From pixels to patches", stand_in=stand_ins.patchify,
    mistakes=edits(patchify, """
    cuts_off: Your code raises nothing if patch_size does not divide the height or the width. Raise a ValueError.
        + images = images[..., : images.shape[-2] // patch_size * patch_size, : images.shape[-1] // patch_size *
          patch_size]
    checks_height_only: Only one side is checked. patch_size must divide both the height and the width.
        + images = images[..., : images.shape[-1] // patch_size * patch_size]
    checks_width_only: Only one side is checked. patch_size must divide both the height and the width.
        + images = images[..., : images.shape[-2] // patch_size * patch_size, :]
    patches_in_columns: The patches are in order column by column. They must be row by row: all of the top row first.
        grid.transpose(-3, -2)  →  grid.movedim(-2, -4)
    pixels_in_columns: Within a patch, the pixels are in order column by column. Read them row by row.
        grid.transpose(-3, -2)  →  grid.transpose(-3, -2).transpose(-2, -1)
    reshape_alone: Your code only reshapes, which cuts strips, not squares. Give rows and columns an axis each,
        then swap two axes.
        grid.transpose(-3, -2)  →  images
    wrong_axes: A patch contains pixels from the whole image here. Cut the height into (rows, patch_size) and the width
        into (columns, patch_size), then swap the two axes in the middle.
        (*lead, rows, patch_size, columns, patch_size)  →  (*lead, patch_size, rows, patch_size, columns)
        grid.transpose(-3, -2)  →  grid.permute(0, 2, 4, 1, 3)
    height_and_width_exchanged: Height and width are swapped. The shape is (B, H, W): the height comes first.
        *lead, height, width = images.shape  →  *lead, width, height = images.shape
    taken_for_a_square: The number of columns is computed from the height. An image may not be square: compute it from
        the width.
        width // patch_size  →  height // patch_size
    size_taken_for_a_count: patch_size is used as the number of patches along a side. It is the side of one patch, in
        pixels.
        rows, columns = height // patch_size, width // patch_size  →  rows, columns = patch_size, patch_size
        (*lead, rows, patch_size, columns, patch_size)  →  (*lead, rows, height // rows, columns, width // columns)
        rows * columns, patch_size**2)  →  rows * columns, -1)
    patches_at_every_pixel: In your code a new patch begins at every pixel. It should begin where the patch before
        it ends.
        = F.unfold(images.unsqueeze(1), patch_size).mT
    checks_the_area: Only the product height · width is checked, but patches may still not fit. Check the height and the
        width, each by itself.
        height % patch_size or width % patch_size  →  height * width % patch_size**2
""") + edits(patches_in_loops, """
    checks_the_area_of_loops: Only the product height · width is checked, but patches may still not fit. Check the
        height and the width, each by itself.
        height % patch_size or width % patch_size  →  height * width % patch_size**2
    checks_the_area_and_cuts_off: Only the product height · width is checked, but patches may still not fit. Check the
        height and the width, each by itself.
        height % patch_size or width % patch_size  →  height * width % patch_size**2
        range(0, height,  →  range(0, height // patch_size * patch_size,
        range(0, width,  →  range(0, width // patch_size * patch_size,
""", defines="patchify"))  # fmt: skip

# ---------------------------------------------------------------- 3.9 swap_patches


def draw_pairs(sampler: InputSampler, *, scenes: int, patches: int, d_vision: int, dtype=torch.float32) -> Inputs:
    """Draw scenes, and a pair of different patches for each scene, as two tensors of indices."""
    first = sampler.integers(0, patches, scenes)
    second = (first + sampler.integers(1, patches, scenes)) % patches
    image_patches = sampler.normal(scenes, patches, d_vision, dtype=dtype)
    return {"image_patches": image_patches, "first": first, "second": second}


def draw_swap(sampler: InputSampler, **sizes) -> Inputs:
    """Draw scenes, and one pair of different patches for all scenes, as two ints."""
    inputs = draw_pairs(sampler, **sizes)
    return {**inputs, "first": int(inputs["first"][0]), "second": int(inputs["second"][0])}


def draw_same(sampler: InputSampler, **sizes) -> Inputs:
    """Draw scenes, and one pair for all scenes that is twice the same patch. The swap must change nothing."""
    inputs = draw_swap(sampler, **sizes)
    return {**inputs, "second": inputs["first"]}


def draw_swap_or_pairs(sampler: InputSampler, *, pairs: bool = False, **sizes) -> Inputs:
    """Draw inputs with `draw_pairs` if `pairs` is True, and with `draw_swap` otherwise."""
    return draw_pairs(sampler, **sizes) if pairs else draw_swap(sampler, **sizes)


SWAP = written_exercise("3.9 Intervene: swap two patches", swap_patches, (
    CheckSpec("values", 2, "two patches are swapped, the same two in every scene",
        examples=[sizes(scenes=2, patches=4, d_vision=3)],
        trials=[sizes(scenes=5, patches=7, d_vision=11), sizes(scenes=3, patches=9, d_vision=5),
            sizes(scenes=2, patches=5, d_vision=7)], draw=(draw_swap, draw_swap, draw_same), draw_public=draw_swap),
    CheckSpec("pairs", 2, "a pair of its own for each scene", examples=[sizes(scenes=2, patches=4, d_vision=3)],
        trials=[sizes(scenes=5, patches=7, d_vision=11), sizes(scenes=7, patches=5, d_vision=3),
            sizes(scenes=1, patches=3, d_vision=2)], draw=draw_pairs),
    CheckSpec("conduct", 1, "float64 stays float64, inputs stay as they are",
        examples=[sizes(scenes=2, patches=3, d_vision=2)],
        trials=[sizes(scenes=3, patches=7, d_vision=5, dtype=torch.float64),
            sizes(scenes=3, patches=7, d_vision=5, pairs=True, dtype=torch.float64)], probe=function_effects),
),
    draw=draw_swap_or_pairs, returns=("patches",),
    difficulty=1, minutes=5, review="Intervene",
    mistakes=edits(swap_by_index, """
    in_place: The input scene is changed. Work on a copy: .clone().
        = (image_patches.data.copy_(result.data), image_patches)[1]
    all_pairs_everywhere: Every scene gets all pairs here. With tensors, scene b must get only first[b] and second[b].
        swapped[scene, first] = image_patches[scene, second]  →  swapped[:, first] = image_patches[:, second]
        swapped[scene, second] = image_patches[scene, first]  →  swapped[:, second] = image_patches[:, first]
    first_pair_everywhere: The first scene's pair is used for all scenes. With tensors, scene b must get first[b] and
        second[b].
        + first, second = (one[0] if isinstance(one, Tensor) else one for one in (first, second))
    copies_one_way: One patch is there twice, and the other is lost. Write both places, and read both from the original
        scene.
        swapped[scene, second] = image_patches[scene, first]  →  pass
    others_lost: All other patches are lost. Begin with a copy of the scene.
        swapped = image_patches.clone()  →  swapped = torch.zeros_like(image_patches)
    swaps_scenes: Your code swaps scenes. Swap patches, which are along the second axis.
        swapped[scene, first] = image_patches[scene, second]  →  swapped[first] = image_patches[second]
        swapped[scene, second] = image_patches[scene, first]  →  swapped[second] = image_patches[first]
    swaps_pixels: Your code swaps pixels. Swap patches, which are along the second axis: image_patches[:, first].
        + image_patches = image_patches.transpose(1, 2)
        = result.transpose(1, 2)
    nothing_moves: Nothing has moved: put each of the two patches where the other one was.
        = image_patches.clone()
""", defines="swap_patches"))  # fmt: skip
