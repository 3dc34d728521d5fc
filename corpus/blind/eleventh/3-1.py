# %% [wrong] only_the_area_is_checked | Checks the number of pixels and not height and width. A 2×8 or 6×8 image with patch_size 4 has pixels for whole patches and passes; reshape then stops with a RuntimeError where a ValueError is due.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if (H * W) % (p * p) != 0:
        raise ValueError(f"{H}x{W} pixels cannot be cut into {p}x{p} patches")
    n = (H * W) // (p * p)
    cut = images.reshape(B, H // p, p, W // p, p).swapaxes(2, 3)
    return cut.reshape(B, n, p * p)


# %% [wrong] patches_column_by_column | Reads the patches column by column: top to bottom first, then to the right. The pixels within a patch are right, but the second patch of the example is [8, 9, 12, 13] and not [2, 3, 6, 7].
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size must divide height and width")
    rows, cols = H // patch_size, W // patch_size
    x = images.reshape(B, rows, patch_size, cols, patch_size)
    x = x.permute(0, 3, 1, 2, 4)
    return x.reshape(B, rows * cols, patch_size**2)


# %% [wrong] pixels_column_by_column | Reads the pixels within a patch column by column. The patches are in the right order, but the first of the example is [0, 4, 1, 5] and not [0, 1, 4, 5].
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if H % p != 0 or W % p != 0:
        raise ValueError(f"{p} does not divide {H} and {W}")
    x = torch.einsum("bhiwj->bhwji", images.reshape(B, H // p, p, W // p, p))
    return x.flatten(3).flatten(1, 2)


# %% [wrong] unfold_as_it_comes | Returns what F.unfold gives, (B, patch_size², n), and does not swap the last two axes. Asked for is (B, n, patch_size²).
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[1:]
    if height % patch_size or width % patch_size:
        raise ValueError(f"{height}×{width} is not a multiple of {patch_size}")
    return F.unfold(images[:, None], kernel_size=patch_size, stride=patch_size)


# %% [wrong] height_and_width_exchanged | Exchanges the number of rows and of columns in the reshape. For square images nothing is seen of it; where H and W differ the patches hold pixels from elsewhere, without an error.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    b, h, w = images.shape
    if h % patch_size != 0 or w % patch_size != 0:
        raise ValueError("image size is no multiple of patch_size")
    nh, nw = h // patch_size, w // patch_size
    grid = images.reshape(b, nw, patch_size, nh, patch_size)
    grid = grid.transpose(2, 3)
    return grid.reshape(b, nw * nh, patch_size * patch_size)


# %% [right] strips_then_squares | Cuts the image into strips and each strip into squares with split, and stacks the flattened squares.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    left_over = [side % patch_size for side in images.shape[-2:]]
    if any(left_over):
        raise ValueError(f"squares of {patch_size} do not fill an image of {tuple(images.shape[-2:])}")
    squares = [
        square.flatten(1)
        for strip in images.split(patch_size, dim=1)
        for square in strip.split(patch_size, dim=2)
    ]
    return torch.stack(squares, dim=1)
