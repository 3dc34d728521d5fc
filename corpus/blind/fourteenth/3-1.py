# %% [wrong] pixels_read_downwards | Within a patch the pixels are read column by column: the patch's two axes are swapped before they are flattened.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    batch, height, width = images.shape
    if height % patch_size or width % patch_size:
        raise ValueError("patch_size does not divide the image")
    squares = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)  # (B, rows, columns, P, P)
    return squares.transpose(-2, -1).reshape(batch, -1, patch_size**2)

# %% [wrong] only_the_area_is_checked | It asks whether the area of a patch divides the area of the image, not each side: some images that do not fit get no ValueError.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    batch, height, width = images.shape
    if (height * width) % (patch_size * patch_size) != 0:
        raise ValueError(f"no whole number of patches in {height} × {width}")
    grid = images.reshape(batch, height // patch_size, patch_size, width // patch_size, patch_size)
    return grid.permute(0, 1, 3, 2, 4).flatten(3).flatten(1, 2)

# %% [wrong] rest_cut_off | Where the patches do not fit, the rest of the image is cut off in silence instead of a ValueError.
def patchify(images: Tensor, patch_size: int) -> Tensor:
    rows, columns = images.shape[1] // patch_size, images.shape[2] // patch_size
    patches = []
    for row in range(rows):
        for column in range(columns):
            top, left = row * patch_size, column * patch_size
            patches.append(images[:, top : top + patch_size, left : left + patch_size].flatten(1))
    return torch.stack(patches, dim=1)
