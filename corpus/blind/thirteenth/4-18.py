# %% [wrong] cls_position_interpolated_away | The row of [CLS] is not given a position: only the grid's positions are added to the patches, and cls itself is put in front bare. Its own learned position is lost.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    x = images.reshape(-1, *images.shape[-3:])
    feats = F.conv2d(x, weight, bias, stride=weight.shape[-1])
    rows, columns = feats.shape[-2:]
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = (feats + grid).flatten(2).transpose(1, 2)
    tokens = torch.cat([cls.expand(len(tokens), 1, -1), tokens], dim=1)
    return tokens.reshape(*lead, *tokens.shape[1:])


# %% [wrong] grid_reshaped_without_transpose | positions[1:] is (side², d_model) and is reshaped straight to (1, d_model, side, side), without the transpose. Places and dimensions are mixed up; only with d_model = 1 or a single place does it not show.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    d_model, _, P, _ = weight.shape
    *lead, C, height, width = images.shape
    maps = F.conv2d(images.reshape(-1, C, height, width), weight, bias, stride=P)
    side = int((positions.shape[0] - 1) ** 0.5 + 0.5)
    grid = positions[1:].reshape(1, d_model, side, side)
    grid = F.interpolate(grid, size=tuple(maps.shape[-2:]), mode="bicubic", align_corners=False)
    patches = maps.flatten(2).transpose(1, 2) + grid.flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(patches.shape[0], 1, d_model)
    return torch.cat([first, patches], 1).reshape(*lead, -1, d_model)


# %% [wrong] cls_at_the_end | [CLS] and its position are put behind the patches instead of in front of them. All tokens are right, and every later function that takes token 0 for [CLS] reads a patch.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P = weight.shape[-1]
    batched = images if images.ndim == 4 else images.unflatten(0, (1, -1)) if images.ndim == 3 else images.flatten(0, -4)
    out = F.conv2d(batched, weight, bias, stride=P)
    r, c = out.shape[-2], out.shape[-1]
    s = int(round((positions.shape[0] - 1) ** 0.5))
    pos = positions[1:].unflatten(0, (s, s)).permute(2, 0, 1).unsqueeze(0)
    pos = F.interpolate(pos, size=(r, c), mode="bicubic", align_corners=False)[0]
    tokens = (out + pos).flatten(-2).mT
    head = (cls + positions[0]).reshape(1, 1, -1).repeat(tokens.shape[0], 1, 1)
    tokens = torch.cat((tokens, head), dim=1)
    return tokens.reshape(images.shape[:-3] + tokens.shape[1:])


# %% [wrong] columns_before_rows | The size of the interpolation is (columns, rows). On square pictures nothing is seen; on others the flattened positions still have the right number, and lie on the transposed grid.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    def grid_positions(size):
        learned = positions[1:]
        side = int(len(learned) ** 0.5 + 0.5)
        square = learned.T.reshape(1, -1, side, side)
        return F.interpolate(square, size=size, mode="bicubic", align_corners=False).flatten(2).transpose(1, 2)

    P = weight.shape[-1]
    h, w = images.shape[-2:]
    columns, rows = w // P, h // P
    flat = images.reshape(-1, 3, h, w)
    patches = F.unfold(flat, kernel_size=P, stride=P).transpose(1, 2)
    tokens = F.linear(patches, weight.flatten(1), bias) + grid_positions((columns, rows))
    start = (cls + positions[0]).expand(flat.shape[0], 1, -1)
    return torch.cat([start, tokens], dim=1).unflatten(0, images.shape[:-3]) if images.ndim > 3 else torch.cat([start, tokens], dim=1)[0]


# %% [wrong] single_image_keeps_batch_axis | An image without a batch gets an axis for conv2d, which is never taken away: (3, H, W) comes back as (1, 1 + n, d_model) where the text says (..., 1 + n, d_model) with the axes of the images.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    if images.dim() == 3:
        images = images[None]
    x = F.conv2d(images, weight, bias, stride=weight.shape[-2:])
    B, D, R, C = x.shape
    n_side = int(np.sqrt(positions.shape[0] - 1) + 0.5)
    pe = positions[1:].reshape(n_side, n_side, D).permute(2, 0, 1)[None]
    if (n_side, n_side) != (R, C):
        pe = F.interpolate(pe, size=(R, C), mode="bicubic", align_corners=False)
    x = x + pe
    tokens = torch.empty(B, 1 + R * C, D, dtype=x.dtype, device=x.device)
    tokens[:, 0] = cls + positions[0]
    tokens[:, 1:] = x.reshape(B, D, R * C).permute(0, 2, 1)
    return tokens


# %% [right] cut_and_multiply | No convolution: patches are cut with unflatten and multiplied by einsum with the small images; the positions are padded in front together with the [CLS] row.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P = weight.shape[-1]
    squares = images.unflatten(-1, (-1, P)).unflatten(-3, (-1, P))  # (..., 3, rows, P, columns, P)
    rows, columns = squares.shape[-4], squares.shape[-2]
    tokens = torch.einsum("...zrpcq,dzpq->...rcd", squares, weight).flatten(-3, -2) + bias
    side = next(s for s in range(len(positions)) if s * s >= len(positions) - 1)
    learned = positions[1:].unflatten(0, (side, side)).movedim(-1, 0).unsqueeze(0)
    resized = F.interpolate(learned, size=(rows, columns), mode="bicubic", align_corners=False)
    places = torch.cat([positions[:1], resized.squeeze(0).flatten(1).T])
    return torch.cat([cls.expand(*tokens.shape[:-2], 1, -1), tokens], dim=-2) + places
