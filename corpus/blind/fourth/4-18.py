# %% [wrong] positions_cut_wrongly | The grid's positions, (side², d_model), are reshaped to (1, d_model, side, side) without turning them first: the numbers of places and dimensions are mixed up.
def patch_embedding(images, weight, bias, cls, positions):
    P = weight.shape[-1]
    d_model = weight.shape[0]
    lead = images.shape[:-3]
    x = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=P)
    rows, columns = x.shape[-2:]
    tokens = x.flatten(2).transpose(1, 2)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].reshape(1, d_model, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = tokens + grid.flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(len(tokens), 1, -1)
    return torch.cat([first, tokens], dim=1).reshape(*lead, 1 + rows * columns, d_model)


# %% [wrong] cls_without_its_position | [CLS] is put in front after the positions were added: its own position is missing.
def patch_embedding(images, weight, bias, cls, positions):
    lead = images.shape[:-3]
    flat = images.reshape(-1, *images.shape[-3:])
    maps = F.conv2d(flat, weight, bias, stride=weight.shape[-1])
    B, d, rows, columns = maps.shape
    side = int((positions.shape[0] - 1) ** 0.5)
    places = positions[1:].T.reshape(1, d, side, side)
    places = F.interpolate(places, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = (maps + places).flatten(2).transpose(1, 2)
    tokens = torch.cat([cls.expand(B, 1, d), tokens], dim=1)
    return tokens.reshape(*lead, -1, d)


# %% [wrong] single_image_forgotten | Written for a batch only: one image without a batch gives (d_model, rows, columns), and flattening from axis 2 takes the wrong axes.
def patch_embedding(images, weight, bias, cls, positions):
    patches = F.conv2d(images, weight, bias, stride=weight.shape[-1])
    rows, columns = patches.shape[-2:]
    tokens = patches.flatten(2).transpose(1, 2)
    side = int(round((positions.shape[0] - 1) ** 0.5))
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    pos = torch.cat([positions[:1], grid.flatten(2)[0].T])
    tokens = torch.cat([cls.expand(tokens.shape[0], 1, -1), tokens], dim=1)
    return tokens + pos


# %% [wrong] corners_aligned | Interpolates with `align_corners=True`: on another grid the places in between get other vectors.
def patch_embedding(images, weight, bias, cls, positions):
    one = images.ndim == 3
    if one:
        images = images.unsqueeze(0)
    x = F.conv2d(images, weight, bias, stride=weight.shape[-2:])
    size = x.shape[-2:]
    side = int((len(positions) - 1) ** 0.5 + 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    x = x + F.interpolate(grid, size=size, mode="bicubic", align_corners=True)
    x = x.flatten(2).transpose(1, 2)
    x = torch.cat([(cls + positions[0]).expand(len(x), 1, -1), x], 1)
    return x[0] if one else x


# %% [wrong] patches_overlap | The convolution has no `stride` and moves by one pixel: the patches overlap, and there are far too many tokens.
def patch_embedding(images, weight, bias, cls, positions):
    lead = images.shape[:-3]
    batch = images.reshape(-1, *images.shape[-3:])
    features = F.conv2d(batch, weight, bias)
    rows, columns = features.shape[-2:]
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = (features + grid).flatten(2).transpose(1, 2)
    start = (cls + positions[0]).expand(tokens.shape[0], 1, -1)
    return torch.cat([start, tokens], 1).unflatten(0, lead) if lead else torch.cat([start, tokens], 1)[0]


# %% [wrong] reshaped_into_tokens | The convolution's (d_model, rows, columns) is reshaped to tokens without a swap: a token holds numbers of neighbouring places in place of its own.
def patch_embedding(images, weight, bias, cls, positions):
    P, d_model = weight.shape[-1], weight.shape[0]
    lead = images.shape[:-3]
    out = F.conv2d(images.reshape(-1, 3, *images.shape[-2:]), weight, bias, stride=P)
    B, _, rows, columns = out.shape
    tokens = out.reshape(B, rows * columns, d_model)
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = F.interpolate(
        positions[1:].T.reshape(1, d_model, side, side), size=(rows, columns), mode="bicubic", align_corners=False
    )
    tokens = torch.cat([cls.expand(B, 1, d_model), tokens], dim=1)
    tokens = tokens + torch.cat([positions[:1], grid.reshape(d_model, -1).T], dim=0)
    return tokens.reshape(*lead, 1 + rows * columns, d_model)


# %% [right] unfold_and_linear | No convolution: `F.unfold` cuts the patches and `F.linear` makes the tokens, as the text says that it is the same.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, (height, width) = images.shape[:-3], images.shape[-2:]
    P = weight.shape[-1]
    size = (height // P, width // P)
    flat = images.reshape(-1, 3, height, width)
    tokens = F.linear(F.unfold(flat, P, stride=P).mT, weight.flatten(1), bias)
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].unflatten(0, (side, side)).permute(2, 0, 1).unsqueeze(0)
    if size != (side, side):
        grid = F.interpolate(grid, size=size, mode="bicubic", align_corners=False)
    places = torch.cat([positions[:1], grid[0].flatten(1).T])
    whole = torch.cat([cls.expand(tokens.shape[0], 1, -1), tokens], dim=1) + places
    return whole.reshape(*lead, *whole.shape[1:])
