# %% [wrong] plain_reshape | One reshape to (B, n, p²) cuts the rows of the image into pieces; a patch then holds pixels of one image row: [0, 1, 2, 3] instead of [0, 1, 4, 5]
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size must divide H and W")
    return images.reshape(B, -1, patch_size**2)

# %% [wrong] pixels_by_column | The permute ends in (column, row) within a patch, so its pixels are read column by column: [0, 4, 1, 5] instead of [0, 1, 4, 5]
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if H % p != 0 or W % p != 0:
        raise ValueError(f"{H}x{W} cannot be cut into {p}x{p}")
    x = images.reshape(B, H // p, p, W // p, p)
    return x.permute(0, 1, 3, 4, 2).reshape(B, -1, p * p)

# %% [wrong] patches_by_column | The patches come column by column (the patch column stands before the patch row in the permute): the second one is [8, 9, 12, 13] instead of [2, 3, 6, 7]
def patchify(images: Tensor, patch_size: int) -> Tensor:
    b, h, w = images.shape
    if h % patch_size or w % patch_size:
        raise ValueError("no whole number of patches")
    grid = images.view(b, h // patch_size, patch_size, w // patch_size, patch_size)
    return grid.permute(0, 3, 1, 2, 4).flatten(1, 2).flatten(2)

# %% [wrong] rest_cut_off | Nothing is checked: unfold with a step silently leaves out rows and columns that do not fill a patch, where a ValueError is demanded
def patchify(images: Tensor, patch_size: int) -> Tensor:
    p = patch_size
    tiles = images.unfold(1, p, p).unfold(2, p, p)    # (B, rows, columns, p, p)
    return tiles.flatten(1, 2).flatten(-2)

# %% [wrong] square_images | The number of patches in a row is taken from H for both directions, so images with H ≠ W fail in the reshape
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError(f"patch_size {patch_size} does not divide {H} and {W}")
    side = H // patch_size
    x = images.reshape(B, side, patch_size, side, patch_size)
    return x.transpose(2, 3).reshape(B, side * side, -1)

# %% [wrong] area_checked | The check asks whether p² divides H · W instead of p dividing each: for 2 × 8 and p = 4 no ValueError is raised, and the reshape below fails otherwise
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if (H * W) % patch_size**2 != 0:
        raise ValueError("the image has no whole number of patches")
    x = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    return x.transpose(2, 3).flatten(3).flatten(1, 2)

# %% [right] unfold_twice | two unfolds in place of the reshape, after a check with divmod
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[-2:]
    if height % patch_size or width % patch_size:
        raise ValueError(f"{height} × {width} pixels are no multiple of patch_size = {patch_size}")
    tiles = images.unfold(-2, patch_size, patch_size).unfold(-2, patch_size, patch_size)
    return tiles.flatten(-2).flatten(-3, -2)
