# %% [wrong] area_divides | checks whether patch_size² divides the number of pixels, not patch_size H and W each: a 2×8 image with patch_size 4 passes the check, and an odd result or another error (no ValueError about the sides) follows
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if (H * W) % (patch_size * patch_size) != 0:
        raise ValueError("patch_size does not divide the image")
    grid = F.unfold(images.unsqueeze(1), kernel_size=patch_size, stride=patch_size)
    return grid.transpose(1, 2)


# %% [wrong] down_the_columns | reads the patches column by column (top to bottom, then left to right): the outer loop runs over columns
def patchify(images: Tensor, patch_size: int) -> Tensor:
    _, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError(f"{patch_size} does not divide {H} and {W}")
    patches = []
    for x in range(0, W, patch_size):
        for y in range(0, H, patch_size):
            square = images[:, y : y + patch_size, x : x + patch_size]
            patches.append(square.reshape(len(images), -1))
    return torch.stack(patches, dim=1)


# %% [wrong] pixels_turned | the patches stand in the right order, but the axes inside a patch are exchanged: its pixels are read column by column
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    rows, rest_h = divmod(H, patch_size)
    columns, rest_w = divmod(W, patch_size)
    if rest_h or rest_w:
        raise ValueError(f"patches of {patch_size} do not fit into {H}×{W}")
    x = images.reshape(B, rows, patch_size, columns, patch_size)
    x = x.permute(0, 1, 3, 4, 2)
    return x.reshape(B, rows * columns, patch_size**2)


# %% [wrong] only_the_height | tests the height alone: where patch_size does not divide W, unfold silently cuts the rest of the image off instead of raising a ValueError
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if images.shape[-2] % patch_size != 0:
        raise ValueError("patch_size must divide H and W")
    windows = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    return windows.flatten(3).flatten(1, 2)


# %% [wrong] stacked_in_front | the list of patches is stacked along axis 0: (n, B, patch_size²) instead of (B, n, patch_size²)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if any(side % patch_size for side in (H, W)):
        raise ValueError(f"patch_size {patch_size} does not divide {H} and {W}")
    return torch.stack(
        [
            square.flatten(1)
            for band in images.split(patch_size, dim=1)
            for square in band.split(patch_size, dim=2)
        ]
    )


# %% [right] numbers_of_pixels | cuts a table of pixel numbers into patches, and picks the pixels of all images with it at once
def patchify(images: Tensor, patch_size: int) -> Tensor:
    H, W = images.shape[1:]
    if max(H % patch_size, W % patch_size) > 0:
        raise ValueError(f"patches of {patch_size}×{patch_size} do not tile an image of {H}×{W}")
    start = [y * W + x for y in range(0, H, patch_size) for x in range(0, W, patch_size)]
    inside = [y * W + x for y in range(patch_size) for x in range(patch_size)]
    numbers = torch.tensor(start, device=images.device)[:, None] + torch.tensor(inside, device=images.device)
    return images.flatten(1)[:, numbers]
