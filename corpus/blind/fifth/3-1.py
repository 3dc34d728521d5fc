# %% [wrong] columns_first | the patch grid is read column by column: the permute puts columns before rows, so patch 1 is the one below and not the one to the right
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if H % p or W % p:
        raise ValueError("patch_size must divide H and W")
    x = images.reshape(B, H // p, p, W // p, p)
    return x.permute(0, 3, 1, 2, 4).reshape(B, -1, p * p)

# %% [wrong] no_swap | the image is reshaped straight to (B, n, p²) without swapping the two middle axes, so a patch holds pixels of one image row and not a square
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError(f"{patch_size} does not divide {H} and {W}")
    n = (H // patch_size) * (W // patch_size)
    return images.reshape(B, n, patch_size * patch_size)

# %% [wrong] only_height_checked | only H is checked; with a W that patch_size does not divide, the loop cuts off the right margin in silence where a ValueError is asked
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size:
        raise ValueError("image height does not fit")
    patches = []
    for top in range(0, H - patch_size + 1, patch_size):
        for left in range(0, W - patch_size + 1, patch_size):
            patches.append(images[:, top : top + patch_size, left : left + patch_size].flatten(1))
    return torch.stack(patches, dim=1)

# %% [wrong] pixels_column_by_column | within each patch the pixels are read top to bottom first (the last two axes are swapped): [0, 4, 1, 5] where [0, 1, 4, 5] is asked
def patchify(images: Tensor, patch_size: int) -> Tensor:
    p = patch_size
    if images.shape[1] % p or images.shape[2] % p:
        raise ValueError("p must divide both sides")
    tiles = images.unfold(1, p, p).unfold(2, p, p)
    return tiles.transpose(-1, -2).flatten(-2).flatten(1, 2)

# %% [wrong] stacked_on_the_batch | the patches are stacked on axis 0, (n, B, p²), where the batch should come first: (B, n, p²)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    _, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("no whole patches")
    rows = images.split(patch_size, dim=1)
    return torch.stack([tile.flatten(1) for row in rows for tile in row.split(patch_size, dim=2)])

# %% [wrong] square_image | rows and columns of patches are both taken from H (side = H // p), so an image with H ≠ W raises a reshape error; the two may differ
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch size")
    side = H // patch_size
    grid = images.reshape(B, side, patch_size, side, patch_size)
    return grid.transpose(2, 3).reshape(B, side * side, patch_size**2)

# %% [right] two_unfolds | unfold along the height and along the width makes the tiles as a view; two flattens make patches of them
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[-2:]
    if height % patch_size or width % patch_size:
        raise ValueError(f"patches of {patch_size} pixels do not fill an image of {height} × {width}")
    tiles = images.unfold(-2, patch_size, patch_size).unfold(-2, patch_size, patch_size)
    return tiles.flatten(-2).flatten(-3, -2)
