# %% [wrong] column_by_column | permute(0, 3, 1, 2, 4) puts the columns of patches before the rows, so the patches are listed column by column; it should be permute(0, 1, 3, 2, 4).
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if H % p or W % p:
        raise ValueError("patch_size must divide H and W")
    grid = images.reshape(B, H // p, p, W // p, p)
    return grid.permute(0, 3, 1, 2, 4).reshape(B, -1, p * p)

# %% [wrong] patches_mirrored_at_the_diagonal | The width is unfolded before the height, so within a patch the column stands before the row and its pixels are read column by column.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    _, height, width = images.shape
    if height % patch_size != 0 or width % patch_size != 0:
        raise ValueError(f"{patch_size} does not divide {height} x {width}")
    cut = images.unfold(2, patch_size, patch_size).unfold(1, patch_size, patch_size)
    return cut.flatten(3).flatten(1, 2)

# %% [wrong] only_the_area_is_checked | The check asks whether patch_size² divides H·W; an image of 2 × 8 with patches of 4 passes it and ends in a RuntimeError of reshape instead of a ValueError.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if (H * W) % patch_size**2:
        raise ValueError("image cannot be cut into whole patches")
    x = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    return x.transpose(2, 3).flatten(3).flatten(1, 2)

# %% [wrong] square_images_only | The number of columns is taken from H as well, so an image whose H and W differ cannot be reshaped; it should be W // patch_size.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size does not fit")
    n = H // patch_size  # patches along a side
    x = images.reshape(B, n, patch_size, n, patch_size)
    return x.transpose(2, 3).reshape(B, n * n, patch_size**2)

# %% [wrong] rest_cut_off | Rows and columns that do not fill a patch are cut off silently; the task asks for a ValueError there.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    p = patch_size
    rows, columns = images.shape[1] // p, images.shape[2] // p
    images = images[:, : rows * p, : columns * p]
    patches = []
    for r in range(rows):
        for c in range(columns):
            square = images[:, r * p : (r + 1) * p, c * p : (c + 1) * p]
            patches.append(square.flatten(1))
    return torch.stack(patches, dim=1)

# %% [wrong] both_sides_must_fail | The condition has "and" instead of "or", so the ValueError only comes where neither side fits; with one bad side reshape fails with a RuntimeError.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size != 0 and W % patch_size != 0:
        raise ValueError("patch_size must divide H and W")
    x = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    x = x.permute(0, 1, 3, 2, 4)
    return x.reshape(B, -1, patch_size * patch_size)

# %% [right] two_unfolds | sliding windows over rows, then over columns, each moved by a whole patch
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if any(side % patch_size for side in images.shape[1:]):
        raise ValueError(f"patches of {patch_size} pixels do not fill images of {tuple(images.shape[1:])}")
    squares = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    return squares.flatten(3).flatten(1, 2)
