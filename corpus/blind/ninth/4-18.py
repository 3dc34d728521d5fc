# %% [wrong] patches_overlap | The convolution moves by one pixel, since no stride is given. It should move by a whole patch. Many overlapping patches come out in place of the grid.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    grid = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias)
    B, d, rows, columns = grid.shape
    tokens = grid.flatten(2).transpose(1, 2)
    side = round((len(positions) - 1) ** 0.5)
    places = positions[1:].T.reshape(1, d, side, side)
    places = F.interpolate(places, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = tokens + places.flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(B, 1, d)
    return torch.cat([first, tokens], 1).reshape(*lead, 1 + rows * columns, d)

# %% [wrong] cls_without_its_position | [CLS] goes in front as it is. It has a position of its own, the first row of `positions`, which should be added. The first token is off by that vector.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    single = images.ndim == 3
    batch = images[None] if single else images.flatten(0, -4)
    P = weight.shape[-1]
    features = F.conv2d(batch, weight, bias, stride=P)
    n, d, h, w = features.shape
    side = int(round((positions.shape[0] - 1) ** 0.5))
    table = positions[1:].T.reshape(1, d, side, side)
    features = features + F.interpolate(table, size=(h, w), mode="bicubic", align_corners=False)
    out = torch.cat([cls.reshape(1, 1, d).expand(n, -1, -1), features.flatten(2).mT], dim=1)
    return out.reshape(*images.shape[:-3], 1 + h * w, d)

# %% [wrong] grid_reshaped_without_transposing | The rows of `positions` are reshaped to (1, d_model, side, side) at once. The width should come before the places first, by .T. Each place gets numbers of many places; where the grid is the same, the positions are scrambled as well.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    d, _, P, _ = weight.shape
    x = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=(P, P))
    rows, columns = x.shape[-2:]
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].reshape(1, d, side, side)
    if (rows, columns) != (side, side):
        grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    x = (x + grid).flatten(2).permute(0, 2, 1)
    start = (cls + positions[0]).repeat(x.shape[0], 1, 1)
    return torch.cat((start, x), dim=1).unflatten(0, images.shape[:-3]) if images.ndim > 3 else torch.cat((start, x), 1)[0]

# %% [wrong] same_number_taken_for_same_grid | The positions are used as they are where there are as many places as patches. It should be asked whether the grid is the same: 2 × 8 patches are as many as 4 × 4. Then patches get positions from other rows and columns.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P = weight.shape[-1]
    rows, columns = images.shape[-2] // P, images.shape[-1] // P
    flat = images.reshape(-1, *images.shape[-3:])
    tokens = F.linear(F.unfold(flat, P, stride=P).transpose(1, 2), weight.flatten(1), bias)
    own, places = positions[:1], positions[1:]
    if len(places) != rows * columns:
        side = round(len(places) ** 0.5)
        square = places.T.unflatten(1, (side, side)).unsqueeze(0)
        square = F.interpolate(square, size=(rows, columns), mode="bicubic", align_corners=False)
        places = square[0].flatten(1).T
    tokens = torch.cat([cls.expand(len(tokens), 1, -1), tokens], dim=1) + torch.cat([own, places])
    return tokens.reshape(*images.shape[:-3], *tokens.shape[1:])

# %% [wrong] a_tenth_too_much | The grid is interpolated by a scale factor with 0.1 added, as in a published program, against rounding down. It should be interpolated to size=(rows, columns). The size is right, but the positions are sampled at slightly other places.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P = weight.shape[-1]
    lead = images.shape[:-3]
    out = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=P)
    B, d, rows, columns = out.shape
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d, side, side)
    if rows != side or columns != side:
        factor = ((rows + 0.1) / side, (columns + 0.1) / side)
        grid = F.interpolate(grid, scale_factor=factor, mode="bicubic", align_corners=False)
    tokens = (out + grid).flatten(2).transpose(1, 2)
    tokens = torch.cat([(cls + positions[0]).expand(B, 1, d), tokens], dim=1)
    return tokens.reshape(*lead, 1 + rows * columns, d)

# %% [wrong] width_before_height | The grid is interpolated to size (columns, rows), as pictures are often named width × height. F.interpolate wants rows first. In pictures that are not square the positions are laid out for the picture turned on its side.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    patch = weight.shape[-1]
    conv = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=patch)
    tokens = torch.einsum("bdrc->brcd", conv).flatten(1, 2)
    width, height = images.shape[-1] // patch, images.shape[-2] // patch
    side = round((len(positions) - 1) ** 0.5)
    grid = F.interpolate(
        positions[1:].T.reshape(1, -1, side, side), size=(width, height), mode="bicubic", align_corners=False
    )
    tokens = tokens + grid.flatten(2).transpose(1, 2)
    front = (cls + positions[0])[None, None].expand(len(tokens), -1, -1)
    return torch.cat([front, tokens], 1).reshape(*images.shape[:-3], -1, len(cls))

# %% [right] board_filled_in | Unfolds and multiplies by hand with einsum, and writes [CLS] and the patches into an empty board.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P, d = weight.shape[-1], weight.shape[0]
    squares = images.unfold(-2, P, P).unfold(-2, P, P)
    rows, columns = squares.shape[-4:-2]
    patches = torch.einsum("...krcij,dkij->...rcd", squares, weight) + bias
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].unflatten(0, (side, side)).permute(2, 0, 1)[None]
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)[0].permute(1, 2, 0)
    tokens = patches.new_empty(*images.shape[:-3], 1 + rows * columns, d)
    tokens[..., 0, :] = cls + positions[0]
    tokens[..., 1:, :] = (patches + grid).flatten(-3, -2)
    return tokens
