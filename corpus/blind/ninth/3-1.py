# %% [wrong] plain_reshape | The code reshapes the images straight into rows of patch_size² numbers. It should give rows of patches and rows within a patch their own axes and swap the middle ones. Each "patch" comes out as a run of consecutive pixels of the page, not a square.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError(f"patch_size {patch_size} does not divide {H}x{W}")
    n = (H // patch_size) * (W // patch_size)
    return images.reshape(B, n, patch_size * patch_size)

# %% [wrong] raises_only_when_both_fail | The check uses `and`, so the ValueError comes only when neither height nor width is divisible. It should come when either one is not. An image of 4x6 with patch_size 4 is quietly cropped instead.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[1:]
    if height % patch_size and width % patch_size:
        raise ValueError("the image cannot be cut into such patches")
    patches = []
    for top in range(0, height - patch_size + 1, patch_size):
        for left in range(0, width - patch_size + 1, patch_size):
            square = images[:, top : top + patch_size, left : left + patch_size]
            patches.append(square.flatten(1))
    return torch.stack(patches, dim=1)

# %% [wrong] takes_the_image_for_square | The number of patch columns is taken from the height. H and W may differ, so it should come from the width. Images that are not square end in a shape error.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if any(side % patch_size for side in images.shape[-2:]):
        raise ValueError("H and W must be multiples of patch_size")
    k = images.shape[1] // patch_size
    grid = images.view(images.shape[0], k, patch_size, k, patch_size)
    return torch.einsum("brpcq->brcpq", grid).reshape(images.shape[0], k * k, -1)

# %% [wrong] reads_the_page_downwards | The patches are collected column by column: the outer loop runs over the columns. They should be read like a page, left to right and then top to bottom. Patches come out in the wrong order wherever there is more than one row and column.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    p = patch_size
    B, H, W = images.shape
    if H % p or W % p:
        raise ValueError(f"{p} does not divide {H} and {W}")
    return torch.stack(
        [
            images[:, r * p : (r + 1) * p, c * p : (c + 1) * p].reshape(B, -1)
            for c in range(W // p)
            for r in range(H // p)
        ],
        1,
    )

# %% [wrong] checks_the_area | The check asks whether the area of a patch divides the area of the image. It should ask of each side on its own. An image of 8x6 with patch_size 4 passes the check and dies with a RuntimeError of reshape instead of the ValueError.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.shape
    area = patch_size**2
    if (H * W) % area:
        raise ValueError("patches do not fill the image")
    return (
        images.reshape(B, H // patch_size, patch_size, W // patch_size, patch_size)
        .permute(0, 1, 3, 2, 4)
        .reshape(B, -1, area)
    )

# %% [wrong] squeeze_eats_the_batch | A bare squeeze() at the end throws away every axis of length 1. Only shapes (B, n, patch_size²) were asked for. A batch of one image, or an image of one patch, comes out with an axis missing.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if images.shape[-1] % patch_size or images.shape[-2] % patch_size:
        raise ValueError("patch_size must divide the image")
    windows = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    return windows.flatten(3).flatten(1, 2).squeeze()

# %% [right] split_into_strips_then_tiles | Cuts the image into strips and each strip into tiles with torch.split in a comprehension, instead of reshaping.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[-2:]
    if not height % patch_size == width % patch_size == 0:
        raise ValueError(f"patch_size = {patch_size} does not divide {height} and {width}")
    return torch.stack(
        [tile.flatten(1) for strip in images.split(patch_size, 1) for tile in strip.split(patch_size, 2)], 1
    )
