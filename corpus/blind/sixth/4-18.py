# %% [wrong] cls_without_position | [CLS] is put in front after the positions have been added to the patches, so it never gets its own position, positions[0]: 100 instead of 100.5
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    x = F.conv2d(images.flatten(0, -4) if lead else images[None], weight, bias, stride=weight.shape[-2:])
    rows, columns = x.shape[-2:]
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = (x + grid).flatten(2).transpose(1, 2)
    tokens = torch.cat([cls.expand(len(tokens), 1, -1), tokens], dim=1)
    return tokens.reshape(*lead, *tokens.shape[1:])

# %% [wrong] corners_aligned | The grid of positions is interpolated with align_corners=True instead of False, so all positions between the corners are shifted
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    p = weight.shape[-1]
    flat = images.reshape(-1, *images.shape[-3:])
    maps = F.conv2d(flat, weight, bias, stride=p)
    side = int((positions.shape[0] - 1) ** 0.5)
    pos = positions[1:].T.reshape(1, -1, side, side)
    pos = F.interpolate(pos, size=maps.shape[-2:], mode="bicubic", align_corners=True)
    patches = (maps + pos).flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(len(patches), 1, -1)
    out = torch.cat([first, patches], 1)
    return out.reshape(*images.shape[:-3], *out.shape[-2:])

# %% [wrong] width_and_places_mixed | positions[1:] is reshaped to (1, d_model, side, side) without .T: the rows are places and the columns numbers, so numbers of different places are mixed
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, P = images.shape[:-3], weight.shape[-1]
    h = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=P)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=h.shape[-2:], mode="bicubic", align_corners=False)
    body = (h + grid).flatten(2).mT
    head = (cls + positions[0])[None, None].expand(body.shape[0], -1, -1)
    both = torch.cat((head, body), dim=1)
    return both.reshape(*lead, *both.shape[1:])

# %% [wrong] column_by_column | The result of the convolution is flattened column by column (rows and columns swapped), while the positions are laid out row by row
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    flat = images.reshape(-1, *images.shape[-3:])
    feature = F.conv2d(flat, weight, bias, stride=weight.shape[-1])     # (B, d, rows, columns)
    rows, columns = feature.shape[-2:]
    side = round((len(positions) - 1) ** 0.5)
    pos = F.interpolate(positions[1:].T.reshape(1, -1, side, side), size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = feature.permute(0, 3, 2, 1).flatten(1, 2) + pos.flatten(2).transpose(1, 2)
    tokens = torch.cat([(cls + positions[0]).expand(len(flat), 1, -1), tokens], dim=1)
    return tokens.reshape(*images.shape[:-3], *tokens.shape[1:])

# %% [wrong] bias_forgotten | The convolution is called without the bias, so every patch token lacks it: 7 and 16 instead of 17 and 26
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    flat = images.reshape(-1, *images.shape[-3:])
    P = weight.shape[-1]
    pixels = F.unfold(flat, P, stride=P).transpose(1, 2)
    tokens = pixels @ weight.flatten(1).T
    size = (images.shape[-2] // P, images.shape[-1] // P)
    side = round((len(positions) - 1) ** 0.5)
    pos = F.interpolate(positions[1:].T.reshape(1, -1, side, side), size=size, mode="bicubic", align_corners=False)
    tokens = tokens + pos.flatten(2).transpose(1, 2)
    tokens = torch.cat([(cls + positions[0]).expand(len(flat), 1, -1), tokens], dim=1)
    return tokens.reshape(*images.shape[:-3], *tokens.shape[1:])

# %% [wrong] batch_expected | The shape is unpacked as (B, 3, height, width), so a single image (3, height, width), which the task allows, raises an error
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    B, _, height, width = images.shape
    P = weight.shape[-1]
    tokens = F.conv2d(images, weight, bias, stride=P).flatten(2).transpose(1, 2)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=(height // P, width // P), mode="bicubic", align_corners=False)
    tokens = tokens + grid.flatten(2).transpose(1, 2)
    return torch.cat([(cls + positions[0]).expand(B, 1, -1), tokens], dim=1)

# %% [right] linear_on_unfolded | the patches by unfold and a Linear, as the text says that a convolution is; positions of all tokens are joined before they are added
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, (height, width), P = images.shape[:-3], images.shape[-2:], weight.shape[-1]
    pixels = F.unfold(images.reshape(-1, *images.shape[-3:]), P, stride=P).transpose(1, 2)
    patches = F.linear(pixels, weight.flatten(1), bias)  # (B, rows · columns, d_model)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=(height // P, width // P), mode="bicubic", align_corners=False)
    places = torch.cat([positions[:1], grid[0].flatten(1).T])
    tokens = torch.cat([cls.expand(len(patches), 1, -1), patches], dim=1) + places
    return tokens.reshape(*lead, *tokens.shape[1:])
