# %% [wrong] columns_before_rows | The grid of the convolution is transposed before it is flattened, so tokens come column by column. They have to come row by row, as the positions do; for a picture with more than one row and column each token gets another's position.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    x = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=weight.shape[-2:])
    B, d, rows, columns = x.shape
    tokens = x.transpose(2, 3).flatten(2).transpose(1, 2)
    side = int((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = tokens + grid.flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(B, 1, d)
    return torch.cat([first, tokens], dim=1).reshape(*lead, 1 + rows * columns, d)

# %% [wrong] positions_reshaped_without_transposing | The positions are reshaped to (1, d_model, side, side) straight from (side², d_model). This mixes places and dimensions; the width has to come in front first (positions[1:].T).
def patch_embedding(images, weight, bias, cls, positions):
    d_model, _, P, Q = weight.shape
    single = images.ndim == 3
    if single:
        images = images.unsqueeze(0)
    lead = images.shape[:-3]
    feats = F.conv2d(images.flatten(0, -4), weight, bias, stride=(P, Q))
    rows, columns = feats.shape[-2:]
    side = round((len(positions) - 1) ** 0.5)
    pos = positions[1:].reshape(1, d_model, side, side)
    pos = F.interpolate(pos, size=(rows, columns), mode="bicubic", align_corners=False)
    feats = (feats + pos).flatten(2).mT
    cls_token = (cls + positions[0]).view(1, 1, d_model).repeat(feats.shape[0], 1, 1)
    out = torch.cat((cls_token, feats), 1).unflatten(0, lead)
    return out[0] if single else out

# %% [wrong] cls_gets_no_position | The position of [CLS] is cut off and never added. [CLS] has a position of its own, positions[0]; its token should be cls + positions[0].
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, P = images.shape[:-3], weight.shape[-1]
    flat = images.reshape(-1, *images.shape[-3:])
    rows, columns = flat.shape[-2] // P, flat.shape[-1] // P
    patches = F.unfold(flat, kernel_size=P, stride=P).transpose(1, 2)  # (B, n, 3·P·P)
    tokens = patches @ weight.flatten(1).T + bias
    side = int(round((positions.shape[0] - 1) ** 0.5))
    grid = positions[1:].T.unflatten(1, (side, side)).unsqueeze(0)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = tokens + grid[0].flatten(1).T
    cls_tokens = cls.expand(len(tokens), 1, -1)
    return torch.cat([cls_tokens, tokens], 1).reshape(*lead, rows * columns + 1, -1)

# %% [wrong] one_image_loses_its_shape | A single image (3, height, width) gets a batch of one and keeps it at the end: (1, 1 + n, d_model) comes out. The leading axes should be those that went in, here none.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    if images.dim() == 3:
        images = images[None]
    patch = tuple(weight.shape[2:])
    x = F.conv2d(images, weight, bias, stride=patch)
    n, d, rows, columns = x.shape
    x = x.flatten(2).permute(0, 2, 1)
    old = int((positions.size(0) - 1) ** 0.5 + 0.5)
    if (old, old) != (rows, columns):
        pos = F.interpolate(
            positions[1:].permute(1, 0).reshape(1, d, old, old), size=(rows, columns), mode="bicubic", align_corners=False
        )
        pos = pos.reshape(d, -1).permute(1, 0)
    else:
        pos = positions[1:]
    x = torch.cat([cls.reshape(1, 1, d).expand(n, -1, -1), x], dim=1)
    return x + torch.cat([positions[:1], pos])

# %% [wrong] positions_of_the_upper_left_corner | In place of making the grid of positions smaller, its upper left rows × columns are cut out. The learned grid stands for the whole picture and has to be interpolated; where the grid is smaller than the picture's, it crashes.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    def grid_positions(rows, columns):
        side = int((len(positions) - 1) ** 0.5)
        return positions[1:].reshape(side, side, -1)[:rows, :columns].flatten(0, 1)

    *lead, channels, height, width = images.shape
    maps = F.conv2d(images.reshape(-1, channels, height, width), weight, bias, stride=weight.shape[-1])
    tokens = maps.flatten(2).transpose(1, 2) + grid_positions(*maps.shape[-2:])
    first = (cls + positions[0]).expand(tokens.shape[0], 1, -1)
    return torch.cat([first, tokens], 1).reshape(*lead, -1, len(cls))

# %% [right] einsum_over_cut_patches | No convolution: the picture is cut by unflatten, and each patch meets the small images by einsum; positions and tokens are put together at the end.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    d_model, _, high, wide = weight.shape
    cut = images.unflatten(-1, (-1, wide)).unflatten(-3, (-1, high))  # (..., 3, rows, high, columns, wide)
    tokens = torch.einsum("...crhkw,dchw->...rkd", cut, weight) + bias
    rows, columns = tokens.shape[-3], tokens.shape[-2]
    side = round((positions.shape[0] - 1) ** 0.5)
    places = positions[1:].unflatten(0, (side, side)).movedim(-1, 0)
    places = F.interpolate(places[None], (rows, columns), mode="bicubic", align_corners=False)[0].movedim(0, -1)
    everything = torch.cat([cls.expand(*images.shape[:-3], 1, d_model), tokens.flatten(-3, -2)], dim=-2)
    return everything + torch.cat([positions[:1], places.flatten(0, 1)])
