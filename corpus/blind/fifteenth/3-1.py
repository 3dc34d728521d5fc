# %% [wrong] pixels_column_by_column | The patches come in the right order, but the pixels within a patch are read column by column: unfolding the width first puts the patch's columns before its rows. The two axes of a patch must be swapped, so that its pixels are read row by row.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if images.shape[1] % patch_size or images.shape[2] % patch_size:
        raise ValueError(f"{patch_size} does not divide {tuple(images.shape[1:])}")
    squares = images.unfold(2, patch_size, patch_size).unfold(1, patch_size, patch_size)
    return squares.flatten(3).flatten(1, 2)


# %% [wrong] error_only_if_both_fail | The ValueError is raised only where neither side is divisible; if just one of them is not, the remaining pixels are silently cut off. It has to be raised where H or W is no multiple of patch_size.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size != 0 and W % patch_size != 0:
        raise ValueError("patch_size must divide height and width")
    patches = []
    for row in range(H // patch_size):
        for column in range(W // patch_size):
            top, left = row * patch_size, column * patch_size
            square = images[:, top : top + patch_size, left : left + patch_size]
            patches.append(square.reshape(B, patch_size * patch_size))
    return torch.stack(patches, dim=1)
