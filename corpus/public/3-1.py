# %% [right] reshape_permute_flatten | five axes, permute, flatten, ValueError first, after plachert/vision-transformer (Patchify)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    b, h, w = images.shape
    if h % patch_size != 0 or w % patch_size != 0:
        raise ValueError(f"patch_size={patch_size} must divide both height={h} and width={w}")
    n_rows, n_columns = h // patch_size, w // patch_size
    patches = images.reshape(b, n_rows, patch_size, n_columns, patch_size)
    return patches.permute(0, 1, 3, 2, 4).flatten(1, 2).flatten(2, 3)


# %% [right] mae_einsum | einsum that renames the axes 'nhpwq->nhwpq', after facebookresearch/mae (patchify)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    p = patch_size
    if images.shape[1] % p or images.shape[2] % p:
        raise ValueError("image height and width must be multiples of the patch size")
    h, w = images.shape[1] // p, images.shape[2] // p
    x = images.reshape(images.shape[0], h, p, w, p)
    x = torch.einsum("nhpwq->nhwpq", x)
    return x.reshape(images.shape[0], h * w, p**2)


# %% [right] two_tensor_unfolds | Tensor.unfold for rows and columns, then reshape, after a KernelBench vision transformer (img.unfold(2, p, p).unfold(3, p, p))
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if any(side % patch_size for side in images.shape[-2:]):
        raise ValueError(f"cannot cut {tuple(images.shape[-2:])} into squares of {patch_size}")
    windows = images.unfold(1, patch_size, patch_size).unfold(2, patch_size, patch_size)
    return windows.reshape(images.size(0), -1, patch_size * patch_size)


# %% [right] f_unfold_with_channel | F.unfold on a channel axis of one, transposed, after jaeheedev/pytorch_practice (ShufflePatches) (unsure: integer images)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    height, width = images.shape[-2], images.shape[-1]
    if height % patch_size or width % patch_size:
        raise ValueError(f"{height}x{width} is not divisible by {patch_size}")
    columns = F.unfold(images.unsqueeze(1), kernel_size=patch_size, stride=patch_size)
    return columns.transpose(1, 2)


# %% [right] pixel_unshuffle | F.pixel_unshuffle moves each square into channels, after super-resolution code (space to depth)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    _, height, width = images.shape
    if height % patch_size != 0 or width % patch_size != 0:
        raise ValueError("the patch size must divide both sides")
    squares = F.pixel_unshuffle(images[:, None], patch_size)  # (B, p², rows, columns)
    return squares.flatten(start_dim=2).permute(0, 2, 1)


# %% [right] loops_with_slices | double loop over rows and columns, flattened slices stacked, after brianpulfer's ViT blog (vit pytorch from scratch, patchify loop)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    n, h, w = images.shape
    if h % patch_size or w % patch_size:
        raise ValueError("H and W have to be multiples of patch_size")
    patches = []
    for i in range(0, h, patch_size):
        for j in range(0, w, patch_size):
            patches.append(images[:, i : i + patch_size, j : j + patch_size].flatten(1))
    return torch.stack(patches, dim=1)


# %% [right] identity_convolution | conv2d with an identity kernel of p² output channels, after XLA longformer code (_unfold_conv with torch.eye) (unsure: integer images)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if images.shape[1] % patch_size or images.shape[2] % patch_size:
        raise ValueError(f"patch_size {patch_size} does not divide {tuple(images.shape[1:])}")
    area = patch_size * patch_size
    kernel = torch.eye(area, dtype=images.dtype, device=images.device).view(area, 1, patch_size, patch_size)
    out = F.conv2d(images.unsqueeze(1), kernel, stride=patch_size)
    return out.flatten(2).transpose(1, 2)


# %% [right] split_and_cat | torch.split along both sides, reshape of each piece, cat, after chunk-wise codes
def patchify(images: Tensor, patch_size: int) -> Tensor:
    if images.size(1) % patch_size + images.size(2) % patch_size > 0:
        raise ValueError("not divisible")
    pieces = [
        square.reshape(len(images), 1, patch_size**2)
        for band in images.split(patch_size, dim=1)
        for square in band.split(patch_size, dim=2)
    ]
    return torch.cat(pieces, dim=1)


# %% [right] unflatten_transpose | unflatten both sides, transpose the middle axes, after compact modern code (torchtune vision)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    rows, rest_h = divmod(images.shape[-2], patch_size)
    columns, rest_w = divmod(images.shape[-1], patch_size)
    if rest_h or rest_w:
        raise ValueError(f"{rest_h} rows and {rest_w} columns would be left over")
    grid = images.unflatten(2, (columns, patch_size)).unflatten(1, (rows, patch_size))
    return grid.transpose(2, 3).reshape(len(images), rows * columns, -1)


# %% [right] as_strided_squares | a strided view of the contiguous images, then reshape, after numpy sliding window tricks (view_as_blocks in scikit-image)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    p = patch_size
    b, h, w = images.shape
    if h % p != 0 or w % p != 0:
        raise ValueError(f"{h} x {w} cannot be tiled by {p}")
    images = images.contiguous()
    sb, sh, sw = images.stride()
    blocks = images.as_strided((b, h // p, w // p, p, p), (sb, sh * p, sw * p, sh, sw))
    return blocks.reshape(b, -1, p * p)


# %% [right] index_of_every_pixel | an index of pixel numbers cut once with arange arithmetic, gathered from the flat image, after causal-earth style index maps
def patchify(images: Tensor, patch_size: int) -> Tensor:
    b, h, w = images.shape
    if h % patch_size or w % patch_size:
        raise ValueError("image size must be divisible by patch size")
    per_row = w // patch_size
    n = (h // patch_size) * per_row
    patch = torch.arange(n, device=images.device)
    inner = torch.arange(patch_size**2, device=images.device)
    row = (patch // per_row * patch_size).unsqueeze(1) + (inner // patch_size).unsqueeze(0)
    column = (patch % per_row * patch_size).unsqueeze(1) + (inner % patch_size).unsqueeze(0)
    return images.reshape(b, -1)[:, row * w + column]


# %% [right] vmap_over_images | torch.vmap of a function for one image, after al-jshen/gpt (gpt/utils.py patchify)
def _patchify(x, ps):
    h, w = x.shape
    return x.view(h // ps, ps, w // ps, ps).transpose(1, 2).reshape(-1, ps * ps)


def patchify(images: Tensor, patch_size: int) -> Tensor:
    if images.shape[-2] % patch_size != 0 or images.shape[-1] % patch_size != 0:
        raise ValueError(f"patch size {patch_size} does not fit {tuple(images.shape[-2:])}")
    return torch.vmap(lambda image: _patchify(image, patch_size))(images.contiguous())


# %% [right] view_and_permute_contiguous_view | images.view without a copy, permute, contiguous, view, after facebookresearch/ConvNeXt style reshapes (unsure: images that view refuses)
def patchify(images: Tensor, patch_size: int) -> Tensor:
    B, H, W = images.size()
    if H % patch_size != 0 or W % patch_size != 0:
        raise ValueError(f"Input image size ({H}*{W}) is not a multiple of {patch_size}.")
    x = images.view(B, H // patch_size, patch_size, W // patch_size, patch_size)
    x = x.permute(0, 1, 3, 2, 4).contiguous()
    return x.view(B, -1, patch_size * patch_size)
