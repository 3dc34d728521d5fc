# %% [wrong] straight_reshape | The image is reshaped to (B, n, p²) in one go, without swapping axes. A "patch" is then a stretch of neighbouring pixels of one row, [0, 1, 2, 3] in place of [0, 1, 4, 5].
def patchify(images, patch_size):
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size must divide height and width")
    n = (H // patch_size) * (W // patch_size)
    return images.reshape(B, n, patch_size * patch_size)

# %% [wrong] area_is_checked | Only the area is checked: H · W must be a multiple of p². An image of 6 × 24 with patches of 4 × 4 passes without a ValueError, and the last two rows of pixels are lost. Height and width should each be divisible.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if (H * W) % (p * p) != 0:
        raise ValueError(f"{H}x{W} pixels cannot be cut into patches of {p}x{p}")
    rows = []
    for i in range(H // p):
        for j in range(W // p):
            rows.append(images[:, i * p : (i + 1) * p, j * p : (j + 1) * p].flatten(1))
    return torch.stack(rows, dim=1)

# %% [wrong] pixels_column_by_column | The patches come in the right order, but within a patch the pixels are read column by column: [0, 4, 1, 5] in place of [0, 1, 4, 5]. They should be read row by row too.
def patchify(images, patch_size):
    B, H, W = images.shape
    p = patch_size
    if H % p != 0 or W % p != 0:
        raise ValueError("image size is not a multiple of patch_size")
    x = images.reshape(B, H // p, p, W // p, p)
    x = x.permute(0, 1, 3, 4, 2)
    return x.flatten(3).flatten(1, 2)

# %% [wrong] patches_column_by_column | The outer loop goes over the columns, so the patches are read top to bottom and then left to right. The second patch of the example is [8, 9, 12, 13] and should be [2, 3, 6, 7].
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size > 0 or W % patch_size > 0:
        raise ValueError(f"patch_size {patch_size} does not divide {H} and {W}")
    patches = []
    for x in range(0, W, patch_size):
        for y in range(0, H, patch_size):
            patch = images[:, y : y + patch_size, x : x + patch_size]
            patches.append(patch.reshape(B, -1))
    return torch.stack(patches, dim=1)

# %% [wrong] as_many_columns_as_rows | The number of patches in a row is computed from the height. For square images it is right; where H and W differ the reshape fails. The width should be used for the columns.
def patchify(images, patch_size):
    B, H, W = images.size()
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError("patch_size has to divide H and W")
    grid = H // patch_size
    x = images.view(B, grid, patch_size, grid, patch_size)
    x = x.permute(0, 1, 3, 2, 4).contiguous()
    return x.view(B, grid * grid, patch_size**2)

# %% [right] pixel_numbers_first | Numbers the pixels of one image, cuts the numbers into patches with split and stack, and picks the pixels of all flattened images by this table.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[-2:]
    if any(side % patch_size for side in (height, width)):
        raise ValueError(f"{height} x {width} pixels are no whole number of patches of side {patch_size}")
    numbers = torch.arange(height * width, device=images.device).reshape(height, width)
    table = torch.stack(
        [square.flatten() for strip in numbers.split(patch_size, 0) for square in strip.split(patch_size, 1)]
    )
    return images.flatten(1)[:, table]
