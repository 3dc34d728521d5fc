# %% [wrong] no_swap | Reshapes straight to the patches: each one is a stretch of consecutive pixels and not a square.
def patchify(images, patch_size):
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size does not divide the image")
    n = (H // patch_size) * (W // patch_size)
    return images.reshape(B, n, patch_size * patch_size)


# %% [wrong] only_the_height_checked | Only the height is checked; where patch_size does not divide the width, `unfold` cuts the rest off without an error.
def patchify(images, patch_size):
    if images.shape[1] % patch_size != 0:
        raise ValueError(f"{patch_size} does not divide {images.shape[1]}")
    squares = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    return squares.flatten(3).flatten(1, 2)


# %% [wrong] area_checked | Checks whether patch_size² divides the number of pixels: 2 × 8 pixels pass with a patch_size of 4, and an error of another kind, or nonsense, follows.
def patchify(images, patch_size):
    B, H, W = images.shape
    p = patch_size
    if (H * W) % (p * p):
        raise ValueError("patches do not fit")
    rows, cols = H // p, W // p
    return images.reshape(B, rows, p, cols, p).permute(0, 1, 3, 2, 4).reshape(B, rows * cols, p * p)


# %% [wrong] column_by_column | The patches are read column by column, top to bottom first.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError
    x = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    x = x.permute(0, 3, 1, 2, 4)
    return x.flatten(3).flatten(1, 2)


# %% [wrong] pixels_transposed | The pixels within a patch are read column by column.
def patchify(images, patch_size):
    B, H, W = images.shape
    p = patch_size
    if H % p != 0 or W % p != 0:
        raise ValueError("no whole number of patches")
    patches = []
    for top in range(0, H, p):
        for left in range(0, W, p):
            square = images[:, top:top + p, left:left + p]
            patches.append(square.transpose(1, 2).reshape(B, -1))
    return torch.stack(patches, dim=1)


# %% [wrong] square_images_only | The number of rows is used for the columns as well: right for square images, an error where H and W differ.
def patchify(images, patch_size):
    B, H, W = images.shape
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError("patch_size must divide H and W")
    side = H // patch_size
    grid = images.reshape(B, side, patch_size, side, patch_size)
    return grid.transpose(2, 3).flatten(3).flatten(1, 2)


# %% [right] split_and_stack | Splits the image into strips and each strip into squares, with `split`, and stacks them; no reshape with five axes.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[-2:]
    if any(side % patch_size for side in (height, width)):
        raise ValueError(f"patches of side {patch_size} do not fill {height} × {width} pixels")
    strips = images.split(patch_size, dim=1)
    return torch.stack([square.flatten(1) for strip in strips for square in strip.split(patch_size, dim=2)], dim=1)
