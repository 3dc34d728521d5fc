# %% [wrong] straight_reshape | One reshape to (B, n, p²): a patch gets neighbouring pixels of one row of the image in place of a square.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size does not divide the image")
    n = (H // patch_size) * (W // patch_size)
    return images.reshape(B, n, patch_size**2)

# %% [wrong] pixels_by_column | Swaps one pair of axes too many, so the pixels within a patch are read column by column.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if H % p != 0 or W % p != 0:
        raise ValueError(f"{p} does not divide {H} × {W}")
    grid = images.reshape(B, H // p, p, W // p, p)
    return grid.permute(0, 1, 3, 4, 2).flatten(3).flatten(1, 2)

# %% [wrong] patches_down_the_columns | Goes over the columns in the outer loop: the patches are read from top to bottom, not row by row.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    _, height, width = images.shape
    if height % patch_size or width % patch_size:
        raise ValueError("does not fit")
    patches = []
    for left in range(0, width, patch_size):
        for top in range(0, height, patch_size):
            square = images[:, top : top + patch_size, left : left + patch_size]
            patches.append(square.flatten(1))
    return torch.stack(patches, dim=1)

# %% [wrong] square_images_only | Takes the number of rows for the number of columns as well: H and W may differ.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size must divide H and W")
    side = H // patch_size
    x = images.reshape(B, side, patch_size, side, patch_size)
    return x.transpose(2, 3).reshape(B, side * side, patch_size * patch_size)

# %% [wrong] and_for_or | Raises only if patch_size divides neither H nor W; unfold silently cuts off the rest of the other side.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    H, W = images.shape[1:]
    if H % patch_size != 0 and W % patch_size != 0:
        raise ValueError(f"patch_size {patch_size} does not divide {H} and {W}")
    cut = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    return cut.flatten(3).flatten(1, 2)

# %% [wrong] checks_the_product | Checks whether p² divides the number of pixels, which it may do without p dividing both sides; then an error of another type comes.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if (H * W) % (patch_size * patch_size):
        raise ValueError("patches do not cover the image")
    rows = images.split(patch_size, dim=1)
    squares = [square for row in rows for square in row.split(patch_size, dim=2)]
    return torch.stack([square.reshape(B, -1) for square in squares], dim=1)

# %% [right] split_and_stack | Cuts with torch.split into rows and squares, and stacks the flattened squares.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if any(side % patch_size for side in images.shape[-2:]):
        raise ValueError(f"patches of {patch_size} do not fit into {tuple(images.shape[-2:])}")
    squares = [square for row in images.split(patch_size, dim=1) for square in row.split(patch_size, dim=2)]
    return torch.stack([square.flatten(start_dim=1) for square in squares], dim=1)
