# %% [wrong] cls_without_position | Adds the grid's positions to the patches and puts [CLS] in front afterwards, without its own position.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, P = images.shape[:-3], weight.shape[-1]
    x = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=P)
    rows, columns = x.shape[-2:]
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    if (rows, columns) != (side, side):
        grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = (x + grid).flatten(2).transpose(1, 2)
    tokens = torch.cat([cls.expand(len(tokens), 1, -1), tokens], dim=1)
    return tokens.reshape(*lead, *tokens.shape[1:])

# %% [wrong] grid_not_transposed | Reshapes positions[1:] straight to (1, d_model, side, side) without bringing the width in front: the numbers are mixed up.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    batch = images.reshape(-1, *images.shape[-3:])
    features = F.conv2d(batch, weight, bias, stride=weight.shape[-2:])
    side = int((positions.shape[0] - 1) ** 0.5 + 0.5)
    grid = positions[1:].reshape(1, positions.shape[1], side, side)
    grid = F.interpolate(grid, size=features.shape[-2:], mode="bicubic", align_corners=False)
    patches = (features + grid).flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(len(patches), 1, -1)
    return torch.cat([first, patches], 1).unflatten(0, lead or (1,)).reshape(*lead, -1, len(bias))

# %% [wrong] grid_turned | Interpolates to size (columns, rows) and takes the tokens column by column: rows and columns are exchanged.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    made = F.conv2d(images.flatten(0, -4) if len(lead) else images[None], weight, bias, stride=weight.shape[-1])
    d_model, rows, columns = made.shape[1:]
    tokens = made.transpose(2, 3).flatten(2).transpose(1, 2)
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d_model, side, side)
    grid = F.interpolate(grid, size=(columns, rows), mode="bicubic", align_corners=False)
    tokens = tokens + grid.flatten(2).transpose(1, 2)
    cls_token = (cls + positions[0]).reshape(1, 1, -1).expand(len(tokens), -1, -1)
    return torch.cat([cls_token, tokens], dim=1).reshape(*lead, 1 + rows * columns, d_model)

# %% [wrong] batches_only | Expects exactly one batch axis: a single image (3, height, width) fails.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    B = images.shape[0]
    x = F.conv2d(images, weight, bias, stride=weight.shape[-1])
    _, d, rows, columns = x.shape
    side = round((len(positions) - 1) ** 0.5)
    grid = F.interpolate(positions[1:].T.reshape(1, d, side, side), size=(rows, columns), mode="bicubic", align_corners=False)
    x = x.flatten(2).transpose(1, 2)
    x = torch.cat([cls.expand(B, 1, d), x], dim=1)
    places = torch.cat([positions[:1], grid.reshape(d, -1).T])
    return x + places

# %% [wrong] cls_behind | Puts [CLS] behind the patches in place of in front of them.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P = weight.shape[-1]
    lead = images.shape[:-3]
    x = F.conv2d(images.reshape((-1,) + images.shape[-3:]), weight, bias, stride=P)
    side = round((positions.size(0) - 1) ** 0.5)
    own, grid = positions[0], positions[1:].T.unflatten(1, (side, side))[None]
    grid = F.interpolate(grid, size=x.shape[-2:], mode="bicubic", align_corners=False)
    x = (x + grid).flatten(2).mT
    x = torch.cat([x, (cls + own).expand(x.shape[0], 1, x.shape[2])], dim=1)
    return x.reshape(lead + x.shape[1:])

# %% [wrong] never_resized | The positions are never interpolated: right only where the picture has the grid that was learned.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    tokens = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=weight.shape[-1])
    tokens = tokens.flatten(2).transpose(1, 2).reshape(*lead, -1, bias.shape[0])
    tokens = torch.cat([cls.expand(*lead, 1, -1), tokens], dim=-2)
    return tokens + positions

# %% [right] unfold_and_linear | Cuts the patches with F.unfold and applies the small images as the rows of a matrix, without a convolution.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, (height, width) = images.shape[:-3], images.shape[-2:]
    P, d_model = weight.shape[-1], weight.shape[0]
    rows, columns = height // P, width // P
    cut = F.unfold(images.reshape(-1, 3, height, width), kernel_size=P, stride=P)  # (B, 3 P², n)
    tokens = F.linear(cut.transpose(1, 2), weight.reshape(d_model, -1), bias).reshape(*lead, rows * columns, d_model)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].unflatten(0, (side, side)).permute(2, 0, 1).unsqueeze(0)
    if (rows, columns) != (side, side):
        grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    everything = tokens.new_empty(*lead, 1 + rows * columns, d_model)
    everything[..., 0, :] = cls + positions[0]
    everything[..., 1:, :] = tokens + grid[0].permute(1, 2, 0).flatten(0, 1)
    return everything
