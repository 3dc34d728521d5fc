# %% [wrong] grid_cut_out | For another grid the first rows · columns positions are taken from the list instead of interpolating; the rows of the learned grid are longer, so places are mixed up, and a larger grid has too few.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    features = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=weight.shape[-2:])
    tokens = features.flatten(2).transpose(1, 2)
    tokens = torch.cat([cls.expand(len(tokens), 1, -1), tokens], dim=1)
    tokens = tokens + positions[: tokens.shape[1]]
    return tokens.reshape(*lead, *tokens.shape[1:])

# %% [wrong] cls_without_a_place | positions[0] is not added to [CLS]; it has a position of its own, so the first token of the example is 100 instead of 100.5.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    features = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=weight.shape[-2:])
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=features.shape[-2:], mode="bicubic", align_corners=False)
    patches = (features + grid).flatten(2).transpose(1, 2)
    tokens = torch.cat([cls.expand(len(patches), 1, -1), patches], dim=1)
    return tokens.reshape(*lead, *tokens.shape[1:])

# %% [wrong] features_reshaped_into_tokens | The convolution's result (B, d_model, rows, columns) is reshaped to (B, rows · columns, d_model) without a transpose, so a token holds one feature of many patches.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, d_model = images.shape[:-3], len(weight)
    x = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=weight.shape[-2:])
    B, _, rows, columns = x.shape
    x = x.reshape(B, rows * columns, d_model)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d_model, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    x = x + grid.flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(B, 1, d_model)
    return torch.cat([first, x], dim=1).reshape(*lead, 1 + rows * columns, d_model)

# %% [wrong] columns_before_rows | The positions are interpolated to (columns, rows) instead of (rows, columns); for a picture that is not square the places no longer lie over their patches.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P = weight.shape[-1]
    lead = images.shape[:-3]
    rows, columns = images.shape[-2] // P, images.shape[-1] // P
    features = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=P)
    tokens = features.flatten(2).transpose(1, 2)
    side = round((positions.shape[0] - 1) ** 0.5)
    learned = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(learned, size=(columns, rows), mode="bicubic", align_corners=False)
    tokens = tokens + grid.flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(len(tokens), 1, -1)
    return torch.cat([first, tokens], dim=1).reshape(*lead, 1 + rows * columns, -1)

# %% [wrong] corners_aligned | align_corners=True puts the outermost learned places exactly onto the outermost patches; the task asks for align_corners=False, and every other grid gets other numbers.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    batch = images.reshape(-1, *images.shape[-3:])
    features = F.conv2d(batch, weight, bias, stride=weight.shape[-2:])
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=features.shape[-2:], mode="bicubic", align_corners=True)
    tokens = (features + grid).flatten(2).transpose(1, 2)
    tokens = torch.cat([(cls + positions[0]).expand(len(tokens), 1, -1), tokens], dim=1)
    return tokens.reshape(*lead, *tokens.shape[1:])

# %% [wrong] always_a_batch | The batch size is read as images.shape[0], and all axes are counted for (B, 3, height, width); one image without a batch, (3, height, width), fails, as does a second batch axis.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    B = images.shape[0]
    features = F.conv2d(images, weight, bias, stride=weight.shape[-2:])  # (B, d, rows, columns)
    _, d, rows, columns = features.shape
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = (features + grid).flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(B, 1, d)
    return torch.cat([first, tokens], dim=1)

# %% [right] unfolded_and_linear | patches by unfold and one linear product instead of the convolution; the batch axes are folded away and brought back
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    *lead, _, height, width = images.shape
    d_model, _, *patch = weight.shape
    rows, columns = height // patch[0], width // patch[1]
    pixels = F.unfold(images.reshape(-1, *images.shape[-3:]), patch, stride=patch).transpose(1, 2)
    tokens = F.linear(pixels, weight.flatten(1), bias)  # (B, rows · columns, d_model)
    side = round((len(positions) - 1) ** 0.5)
    learned = positions[1:].T.reshape(1, d_model, side, side)
    grid = F.interpolate(learned, size=(rows, columns), mode="bicubic", align_corners=False)
    places = torch.cat([positions[:1], grid[0].flatten(1).T])
    first = cls.expand(len(tokens), 1, d_model)
    return (torch.cat([first, tokens], dim=1) + places).reshape(*lead, 1 + rows * columns, d_model)
