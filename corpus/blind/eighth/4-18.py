# %% [wrong] cls_without_its_place | [CLS] comes in front without positions[0]; its own position should be added. By hand it is 100 in place of 100.5.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    cut = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=weight.shape[-1])
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    grid = F.interpolate(grid, size=cut.shape[-2:], mode="bicubic", align_corners=False)
    tokens = (cut + grid).flatten(2).transpose(1, 2)
    tokens = torch.cat([cls.expand(len(tokens), 1, -1), tokens], dim=1)
    return tokens.reshape(*lead, *tokens.shape[1:])

# %% [wrong] reshaped_without_a_transpose | positions[1:] (side², d_model) is reshaped to (1, d_model, side, side) as it is; it should be transposed first. The numbers of different places and dimensions are mixed up.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    d_model, _, P, _ = weight.shape
    batch = images.reshape(-1, *images.shape[-3:])
    maps = F.conv2d(batch, weight, bias, stride=P)
    side = int((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].reshape(1, d_model, side, side)
    grid = F.interpolate(grid, size=maps.shape[-2:], mode="bicubic", align_corners=False)
    patches = (maps + grid).flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(len(batch), 1, d_model)
    return torch.cat([first, patches], 1).reshape(*images.shape[:-3], -1, d_model)

# %% [wrong] a_batch_is_taken_for_granted | The images go into the convolution as they come, and the tokens are made with flatten(2) and transpose(1, 2), which holds for one batch axis; one image, or two leading axes, should work, too. A single image (3, h, w) raises an error.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    cut = F.conv2d(images, weight, bias, stride=weight.shape[-1])
    B, d_model, rows, columns = cut.shape
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d_model, side, side)
    if (side, side) != (rows, columns):
        grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    tokens = cut.flatten(2).transpose(1, 2) + grid.flatten(2).transpose(1, 2)
    return torch.cat([(cls + positions[0]).expand(B, 1, -1), tokens], dim=1)

# %% [wrong] positions_cut_off | The first rows · columns positions of the grid are taken as they are; they should be interpolated from side × side to rows × columns. Right where the grid is the same; a smaller one gets the places of the upper rows, a larger one raises an error.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    cut = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=weight.shape[-2:])
    tokens = cut.flatten(2).transpose(1, 2)
    tokens = torch.cat([cls.reshape(1, 1, -1).expand(len(tokens), -1, -1), tokens], dim=1)
    tokens = tokens + positions[: tokens.shape[1]]
    return tokens.reshape(*lead, *tokens.shape[-2:])

# %% [wrong] columns_by_rows | The positions are interpolated to size=(columns, rows); it should be (rows, columns). Right for square pictures; for others their number fits, and each patch gets the place of another one.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    P, d_model = weight.shape[-1], weight.shape[0]
    *lead, colours, height, width = images.shape
    columns, rows = width // P, height // P
    cut = F.conv2d(images.reshape(-1, colours, height, width), weight, bias, stride=P)
    patches = cut.flatten(2).transpose(1, 2)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d_model, side, side)
    grid = F.interpolate(grid, size=(columns, rows), mode="bicubic", align_corners=False)
    patches = patches + grid.flatten(2).transpose(1, 2)
    start = (cls + positions[0]).expand(len(patches), 1, d_model)
    return torch.cat([start, patches], dim=1).reshape(*lead, 1 + rows * columns, d_model)

# %% [wrong] corners_aligned | The positions are interpolated with align_corners=True; it should be False. Where the grid is another one, the places are stretched out to its edges, so that all but the middle are shifted, most of all in the corners.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    cut = F.conv2d(images.flatten(0, -4) if len(lead) else images[None], weight, bias, stride=weight.shape[-1])
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.unflatten(-1, (side, side)).unsqueeze(0)
    grid = F.interpolate(grid, size=tuple(cut.shape[-2:]), mode="bicubic", align_corners=True)
    tokens = (cut + grid).flatten(2).transpose(1, 2)
    first = (cls + positions[0]).expand(len(tokens), 1, -1)
    tokens = torch.cat([first, tokens], dim=1)
    return tokens.reshape(*lead, *tokens.shape[1:])

# %% [right] unfold_and_a_linear | The patches are cut with F.unfold and go through F.linear, which is what the convolution is; everything is added as tokens.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    *lead, colours, height, width = images.shape
    d_model, high, wide = weight.shape[0], weight.shape[-2], weight.shape[-1]
    rows, columns = height // high, width // wide
    pixels = F.unfold(images.reshape(-1, colours, height, width), (high, wide), stride=(high, wide)).transpose(1, 2)
    patches = F.linear(pixels, weight.flatten(1), bias)  # (B, rows · columns, d_model)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d_model, side, side)
    if (rows, columns) != (side, side):
        grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    places = torch.cat([positions[:1], grid.reshape(d_model, rows * columns).T])
    tokens = torch.cat([cls.expand(len(patches), 1, d_model), patches], dim=1) + places
    return tokens.reshape(*lead, 1 + rows * columns, d_model)
