# %% [wrong] memory_order | the images are reshaped straight to (B, n, patch_size²): the shape is right, but each "patch" is a run of pixels in memory order and not a square
def patchify(images, patch_size):
    B, H, W = images.shape
    if H % patch_size or W % patch_size:
        raise ValueError("patch_size must divide the image")
    n = (H // patch_size) * (W // patch_size)
    return images.reshape(B, n, patch_size**2)


# %% [wrong] only_height_checked | only H is compared with patch_size; where it does not divide W, unfold drops the last columns in silence and no ValueError is raised
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if images.shape[-2] % patch_size != 0:
        raise ValueError(f"{patch_size} does not divide {images.shape[-2]}")
    patches = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    return patches.flatten(3).flatten(1, 2)


# %% [wrong] columns_first | the outer loop runs over the columns of patches: the patches are read from top to bottom and then left to right
def patchify(images, patch_size):
    _, H, W = images.shape
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError("does not fit")
    patches = []
    for x in range(0, W, patch_size):
        for y in range(0, H, patch_size):
            square = images[:, y : y + patch_size, x : x + patch_size]
            patches.append(square.flatten(1))
    return torch.stack(patches, dim=1)


# %% [wrong] pixels_turned | the two axes within a patch are in the wrong order: the pixels of a square are read column by column, [0, 4, 1, 5] in the example
def patchify(images, patch_size):
    B, H, W = images.shape
    p = patch_size
    if H % p or W % p:
        raise ValueError(f"patch_size {p} does not divide {H} x {W}")
    grid = images.reshape(B, H // p, p, W // p, p)
    return torch.einsum("brycx->brcxy", grid).reshape(B, -1, p * p)


# %% [wrong] height_and_width_mixed_up | the rows of patches are counted from W and the columns from H: right for square images, an error or scrambled patches for others
def patchify(images: Tensor, patch_size: int) -> Tensor:
    b, w, h = images.shape
    rows, rest_h = divmod(h, patch_size)
    columns, rest_w = divmod(w, patch_size)
    if rest_h or rest_w:
        raise ValueError("patch_size must divide H and W")
    cut = images.reshape(b, rows, patch_size, columns, patch_size)
    return cut.transpose(2, 3).reshape(b, rows * columns, patch_size * patch_size)


# %% [right] table_of_pixels | a table (n, patch_size²) of pixel numbers is made by adding the corner of each patch and the offsets within it, and indexes the flat images
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[-2:]
    if height % patch_size or width % patch_size:
        raise ValueError(f"patches of {patch_size} do not fill {height} x {width}")
    number = torch.arange(height * width, device=images.device).reshape(height, width)
    corners = number[::patch_size, ::patch_size].reshape(-1, 1)
    inside = number[:patch_size, :patch_size].reshape(1, -1)
    return images.flatten(1)[:, corners + inside]
