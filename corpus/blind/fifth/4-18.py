# %% [wrong] tokens_not_transposed | after flatten(2) the transpose is missing and a reshape takes its place: (B, d_model, n) is re-cut to (B, n, d_model), which mixes places and features
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, P = images.shape[:-3], weight.shape[-1]
    x = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=P)
    B, d, rows, columns = x.shape
    tokens = x.flatten(2).reshape(B, rows * columns, d)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False).flatten(2).transpose(1, 2)
    tokens = torch.cat([(cls + positions[0]).expand(B, 1, d), tokens + grid], dim=1)
    return tokens.reshape(*lead, *tokens.shape[1:])

# %% [wrong] positions_recut | positions[1:] is reshaped straight to (1, d_model, side, side) without .T, so the learned vectors are cut into pieces; the width has to come before the places
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, P = images.shape[:-3], weight.shape[-1]
    x = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=P)
    B, d, rows, columns = x.shape
    side = int((positions.shape[0] - 1) ** 0.5 + 0.5)
    grid = positions[1:].reshape(1, d, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = (x + grid).flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(B, 1, d)
    out = torch.cat([first, tokens], 1)
    return out.reshape(*lead, *out.shape[1:])

# %% [wrong] cls_without_its_place | [CLS] is put in front after the positions were added and gets none of its own: positions[0] is never used (100 in the example and not 100.5)
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P = weight.shape[-1]
    batch = images.reshape(-1, *images.shape[-3:])
    x = F.conv2d(batch, weight, bias, stride=P)
    rows, columns = x.shape[-2:]
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    x = x + F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    x = x.flatten(2).transpose(1, 2)
    x = torch.cat([cls.expand(len(x), 1, -1), x], dim=1)
    return x.reshape(*images.shape[:-3], *x.shape[1:])

# %% [wrong] cls_at_the_end | [CLS] is put behind the patches and not in front of them
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    maps = F.conv2d(images.flatten(0, -4) if images.ndim > 4 else images.reshape(-1, *images.shape[-3:]), weight, bias, stride=weight.shape[-2:])
    n, d, rows, columns = maps.shape
    side = round((len(positions) - 1) ** 0.5)
    places = F.interpolate(
        positions[1:].T.reshape(1, d, side, side), size=(rows, columns), mode="bicubic", align_corners=False
    )
    patches = (maps + places).flatten(2).transpose(1, 2)
    last = (cls + positions[0]).expand(n, 1, d)
    tokens = torch.cat([patches, last], dim=1)
    return tokens.reshape(*lead, *tokens.shape[1:])

# %% [wrong] first_places_cut_out | for another grid the first rows · columns positions are taken as they stand, in place of interpolating the grid; right only where the grid is the same
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    x = images.reshape(-1, *images.shape[-3:])
    x = F.conv2d(x, weight, bias, stride=weight.shape[-1]).flatten(2).transpose(1, 2)
    B, n, d = x.shape
    tokens = torch.cat([cls.expand(B, 1, d), x], dim=1)
    tokens = tokens + positions[: n + 1]
    return tokens.reshape(*images.shape[:-3], n + 1, d)

# %% [wrong] batch_always_kept | a single image without a batch gets an axis of its own and keeps it: (1, 1 + n, d_model) comes back where (1 + n, d_model) is asked
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    if images.ndim == 3:
        images = images.unsqueeze(0)
    x = F.conv2d(images, weight, bias, stride=weight.shape[-1])
    B, d, rows, columns = x.shape
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    x = (x + grid).flatten(2).transpose(1, 2)
    start = (cls + positions[0]).expand(B, 1, d)
    return torch.cat([start, x], dim=1)

# %% [right] linear_on_unfolded_patches | the convolution is written as the Linear that it is: unfold cuts the patches, and the small images are the rows of its matrix
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead, (height, width), (d, _, P, _) = images.shape[:-3], images.shape[-2:], weight.shape
    rows, columns = height // P, width // P
    flat = images.reshape(-1, *images.shape[-3:])
    cut = F.unfold(flat, kernel_size=P, stride=P).transpose(1, 2)
    patches = F.linear(cut, weight.flatten(1), bias)
    side = round((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False).flatten(2).squeeze(0).T
    tokens = F.pad(patches, (0, 0, 1, 0)) + torch.cat([(cls + positions[0]).unsqueeze(0), grid])
    return tokens.unflatten(0, lead) if lead else tokens.squeeze(0)
