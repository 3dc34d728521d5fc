# %% [wrong] plain_reshape | The image is only reshaped to (B, n, p²): that takes runs of consecutive pixels of the rows, not squares; the axes for row and column of a patch are never separated and swapped.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size must divide H and W")
    n = (H // patch_size) * (W // patch_size)
    return images.reshape(B, n, patch_size * patch_size)
# %% [wrong] pixels_column_wise | The last permute puts the pixel columns before the pixel rows, so the pixels within a patch are read column by column (each patch is transposed).
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    p = patch_size
    if H % p != 0 or W % p != 0:
        raise ValueError(f"{p} does not divide {H}x{W}")
    x = images.reshape(B, H // p, p, W // p, p)
    x = x.permute(0, 1, 3, 4, 2)  # rows, cols, then the patch
    return x.reshape(B, -1, p * p)
# %% [wrong] patches_column_wise | The patches come in column order (top to bottom first): in the permute the patch columns stand before the patch rows.
def patchify(images, patch_size):
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("bad patch size")
    grid = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    return grid.permute(0, 3, 1, 2, 4).reshape(B, -1, patch_size**2)
# %% [wrong] assert_not_valueerror | A patch size that does not divide gives an AssertionError from `assert`, where a ValueError is asked for.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    assert H % patch_size == 0 and W % patch_size == 0, "patch_size has to divide H and W"
    rows, cols = H // patch_size, W // patch_size
    patches = images.reshape(B, rows, patch_size, cols, patch_size).transpose(2, 3)
    return patches.flatten(1, 2).flatten(2)
# %% [wrong] no_check_crops | Nothing is checked: where patch_size does not divide H or W, the pixels left over are silently dropped and no ValueError is raised.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    p = patch_size
    tiles = images.unfold(1, p, p).unfold(2, p, p)      # (B, rows, cols, p, p)
    return tiles.reshape(images.shape[0], -1, p * p)
# %% [wrong] check_height_only | Only the height is checked: an image whose width is no multiple of patch_size raises no ValueError.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    batch, height, width = images.shape
    if height % patch_size != 0:
        raise ValueError("image size is not divisible by the patch size")
    out = []
    for top in range(0, height, patch_size):
        for left in range(0, width - patch_size + 1, patch_size):
            out.append(images[:, top:top + patch_size, left:left + patch_size].reshape(batch, -1))
    return torch.stack(out, dim=1)
# %% [wrong] check_with_and | The two conditions are joined with `and` in place of `or`: the ValueError comes only where neither side is divisible.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    if H % patch_size != 0 and W % patch_size != 0:
        raise ValueError("patch_size does not divide H and W")
    r, c = H // patch_size, W // patch_size
    images = images[:, : r * patch_size, : c * patch_size]
    return images.reshape(B, r, patch_size, c, patch_size).permute(0, 1, 3, 2, 4).reshape(B, r * c, patch_size**2)
# %% [wrong] grid_not_flattened | The two axes of the grid of patches are not joined: (B, rows, columns, p²) comes back in place of (B, n, p²).
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    if (H % patch_size) + (W % patch_size) > 0:
        raise ValueError
    x = images.view(B, H // patch_size, patch_size, W // patch_size, patch_size)
    x = x.transpose(2, 3)
    return x.flatten(-2)
# %% [wrong] square_only | The number of patch columns is computed from the height: it works only for square images, although H and W may differ.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("not divisible")
    side = H // patch_size
    x = images.reshape(B, side, patch_size, side, patch_size)
    x = x.permute(0, 1, 3, 2, 4)
    return x.reshape(B, side * side, patch_size * patch_size)
# %% [wrong] height_width_swapped | The shape is unpacked as (B, W, H), so the rows and columns of patches change places; only square images come out right.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, W, H = images.shape
    if W % patch_size or H % patch_size:
        raise ValueError("patch_size must divide both sides")
    x = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    return x.transpose(2, 3).reshape(B, -1, patch_size**2)
# %% [wrong] unfold_not_transposed | F.unfold returns (B, p², n); the last two axes are not swapped, so the patches stand in the columns.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    if images.shape[1] % patch_size or images.shape[2] % patch_size:
        raise ValueError("does not fit")
    return F.unfold(images[:, None], kernel_size=patch_size, stride=patch_size)
# %% [wrong] overlapping_stride_one | The stride of unfold is left at 1, so overlapping windows at every pixel come back in place of separate patches.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    _, H, W = images.shape
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError("H and W must be multiples of patch_size")
    patches = F.unfold(images.unsqueeze(1), patch_size)
    return patches.transpose(1, 2)
# %% [wrong] size_taken_as_count | patch_size is taken as the number of patches along each side, not as the side of a patch in pixels; in the 4×4 example the two happen to be the same.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("cannot be divided")
    pieces = []
    for band in images.chunk(patch_size, dim=1):
        for tile in band.chunk(patch_size, dim=2):
            pieces.append(tile.flatten(1))
    return torch.stack(pieces, 1)
# %% [wrong] returns_the_error | The ValueError is returned, not raised.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    if H % patch_size != 0 or W % patch_size != 0:
        return ValueError("patch_size does not divide H and W")
    x = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    return x.swapaxes(2, 3).reshape(B, -1, patch_size * patch_size)
# %% [wrong] list_of_patches | A Python list of the patches comes back; they are not stacked to one tensor (B, n, p²).
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("no fit")
    patches = []
    for i in range(H // patch_size):
        for j in range(W // patch_size):
            rows = slice(i * patch_size, (i + 1) * patch_size)
            cols = slice(j * patch_size, (j + 1) * patch_size)
            patches.append(images[:, rows, cols].reshape(B, patch_size * patch_size))
    return patches
# %% [wrong] hard_coded_eight | The patch size is hard-coded as 8 in the reshape; the argument only serves for the check.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch size must divide the image")
    # our scenes are 24x24 with 8x8 digits
    x = images.reshape(B, H // 8, 8, W // 8, 8)
    return x.permute(0, 1, 3, 2, 4).reshape(B, -1, 64)
# %% [wrong] misspelled_name | A typo: `patchsize` in place of `patch_size` in the reshape, so a NameError comes.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("does not divide")
    x = images.reshape(B, H // patchsize, patchsize, W // patchsize, patchsize)
    return x.permute(0, 1, 3, 2, 4).reshape(B, -1, patch_size**2)
# %% [wrong] transposed_and_unchecked | The pixels within a patch are read column by column (the last two axes are swapped) AND no ValueError is raised where patch_size does not divide.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    tiles = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    tiles = tiles.transpose(-1, -2)
    return tiles.reshape(len(images), -1, patch_size**2)
# %% [right] tensor_unfold | Tensor.unfold twice in place of reshape and transpose.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    _, H, W = images.shape
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError(f"patch_size {patch_size} does not divide {H}×{W}")
    tiles = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    return tiles.flatten(3).flatten(1, 2)
# %% [right] two_loops | Two loops that slice the squares out, then one stack.
def patchify(images, patch_size):
    B, H, W = images.shape
    for side in (H, W):
        if side % patch_size:
            raise ValueError(f"a side of {side} pixels cannot be cut into pieces of {patch_size}")
    found = []
    for y in range(0, H, patch_size):
        for x in range(0, W, patch_size):
            square = images[:, y : y + patch_size, x : x + patch_size]
            found.append(square.reshape(B, patch_size * patch_size))
    return torch.stack(found, dim=1)
# %% [right] pixel_indices | Computes for every patch the flat numbers of its pixels, and gathers them by advanced indexing.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches, row by row; the pixels of a patch are read row by row too.

    Args:
        images: (B, H, W)
        patch_size: side of a patch, in pixels.

    Returns:
        (B, n, patch_size²), n = H / patch_size · W / patch_size.

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    H, W = images.shape[1:]
    rows, rest_h = divmod(H, patch_size)
    cols, rest_w = divmod(W, patch_size)
    if rest_h or rest_w:
        raise ValueError("patch_size does not divide H and W")
    device = images.device
    inside = torch.arange(patch_size, device=device)
    y = torch.arange(rows, device=device).view(-1, 1, 1, 1) * patch_size + inside.view(1, 1, -1, 1)
    x = torch.arange(cols, device=device).view(1, -1, 1, 1) * patch_size + inside.view(1, 1, 1, -1)
    index = (y * W + x).reshape(rows * cols, patch_size**2)
    return images.flatten(1)[:, index]
