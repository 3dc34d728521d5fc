# %% [wrong] pixels_column_by_column | The two axes within a patch are exchanged (permute(0, 1, 3, 4, 2)), so the pixels of a patch are read column by column; it should be row by row, (0, 1, 3, 2, 4). The first patch is 0, 4, 1, 5.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError(f"{patch_size} does not divide {H} and {W}")
    grid = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    return grid.permute(0, 1, 3, 4, 2).flatten(3).flatten(1, 2)

# %% [wrong] patches_column_by_column | The columns of patches come before the rows (permute(0, 3, 1, 2, 4)); patches should be read row by row, (0, 1, 3, 2, 4). The second patch is the one below the first, not the one beside it.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError("patch_size must divide height and width")
    cut = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    return cut.permute(0, 3, 1, 2, 4).reshape(B, -1, patch_size**2)

# %% [wrong] square_images_alone | The number of columns is taken from the height, as if images were square; it should be W // patch_size. For H ≠ W the reshape fails.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    side = images.shape[1] // patch_size
    if images.shape[1] % patch_size or images.shape[2] % patch_size:
        raise ValueError("not a whole number of patches")
    cut = images.reshape(len(images), side, patch_size, side, patch_size)
    return cut.transpose(2, 3).reshape(len(images), side * side, patch_size * patch_size)

# %% [wrong] both_must_fail | The ValueError comes only if patch_size divides neither H nor W (and); it should come if it fails to divide one of them (or). F.unfold then drops the remaining pixels in silence.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[-2:]
    if height % patch_size and width % patch_size:
        raise ValueError(f"cannot cut {height}×{width} into squares of {patch_size}")
    return F.unfold(images.unsqueeze(1), patch_size, stride=patch_size).transpose(1, 2)

# %% [wrong] unfold_as_it_comes | F.unfold gives (B, patch_size², n), and is handed back as it is; it should be transposed to (B, n, patch_size²).
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if any(side % patch_size for side in images.shape[1:]):
        raise ValueError("patch_size does not divide the image")
    return F.unfold(images[:, None], kernel_size=patch_size, stride=patch_size)

# %% [wrong] the_area_is_divided | It is tested whether patch_size² divides the area H · W; it should be tested for both sides. An image of 2 × 8 passes with patch_size 4, and the slices that run over its edge are stacked as pieces of 2 × 4 without a word.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    _, H, W = images.shape
    if (H * W) % patch_size**2:
        raise ValueError("the patches do not fill the image")
    pieces = [
        images[:, top : top + patch_size, left : left + patch_size].flatten(1)
        for top in range(0, H, patch_size)
        for left in range(0, W, patch_size)
    ]
    return torch.stack(pieces, dim=1)

# %% [right] slices_in_reading_order | Each patch is cut out as a slice, in reading order, and the slices are stacked: no reshape to think about.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    _, height, width = images.shape
    if height % patch_size or width % patch_size:
        raise ValueError(f"patches of {patch_size} pixels do not fit into {height} × {width}")
    corners = [(top, left) for top in range(0, height, patch_size) for left in range(0, width, patch_size)]
    cut = [images[:, y : y + patch_size, x : x + patch_size].flatten(1) for y, x in corners]
    return torch.stack(cut, dim=1)
