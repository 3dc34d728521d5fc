# %% [right] slice_every_square | right
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError(f"{patch_size} does not divide {H} x {W}")
    squares = []
    for top in range(0, H, patch_size):
        for left in range(0, W, patch_size):
            square = images[:, top : top + patch_size, left : left + patch_size]
            squares.append(square.flatten(1))
    return torch.stack(squares, dim=1)

# %% [right] chunks | right
def patchify(images: Tensor, patch_size: int) -> Tensor:
    H, W = images.shape[-2:]
    if any(side % patch_size for side in (H, W)):
        raise ValueError("patch_size must divide height and width")
    rows = images.split(patch_size, dim=1)
    patches = [p.reshape(len(images), 1, -1) for row in rows for p in row.split(patch_size, dim=2)]
    return torch.cat(patches, 1)

# %% [wrong] plain_reshape | The image is reshaped straight to (B, n, p*p) without giving rows and columns their own axes, so a patch is a run of pixels from one image row.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size does not divide the image")
    n = (H // patch_size) * (W // patch_size)
    return images.reshape(B, n, patch_size * patch_size)

# %% [wrong] forgot_swap | The five-axis reshape is right but the two middle axes are never swapped before flattening.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if H % p or W % p:
        raise ValueError("patch_size must divide H and W")
    x = images.reshape(B, H // p, p, W // p, p)
    return x.flatten(3, 4).reshape(B, -1, p * p)

# %% [wrong] columns_first | The patches come out column by column instead of row by row (permute puts the columns axis before the rows axis).
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if H % p != 0 or W % p != 0:
        raise ValueError("patch_size must divide H and W")
    x = images.reshape(B, H // p, p, W // p, p)
    x = x.permute(0, 3, 1, 2, 4)
    return x.reshape(B, -1, p * p)

# %% [wrong] pixels_transposed | Within a patch the pixels are read column by column, because the last two axes are swapped in the permute.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    p = patch_size
    if H % p != 0 or W % p != 0:
        raise ValueError("patch_size must divide H and W")
    x = images.reshape(B, H // p, p, W // p, p)
    return x.permute(0, 1, 3, 4, 2).reshape(B, -1, p * p)

# %% [wrong] square_only | The number of columns is taken from H, so images with H different from W fail.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size must divide H and W")
    side = H // patch_size
    x = images.reshape(B, side, patch_size, side, patch_size)
    return x.transpose(2, 3).reshape(B, side * side, patch_size**2)

# %% [wrong] and_in_check | The check uses `and`, so it only raises ValueError when neither side is divisible; with one bad side there is a RuntimeError from reshape.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size != 0 and W % patch_size != 0:
        raise ValueError("patch_size must divide H and W")
    x = images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
    return x.transpose(2, 3).flatten(3).flatten(1, 2)

# %% [wrong] unfold_crops | There is no check at all: unfold silently drops the rest of the image where patch_size does not divide it, instead of a ValueError.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B = images.shape[0]
    x = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    return x.reshape(B, -1, patch_size**2)
