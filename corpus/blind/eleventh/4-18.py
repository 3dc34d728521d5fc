# %% [wrong] rows_and_columns_swapped | The positions are interpolated to size=(columns, rows). On a square grid nothing shows, but in a wider or higher picture the positions are those of the grid turned over, and stand at the wrong patches.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    lead = images.shape[:-3]
    P = weight.shape[-1]
    grid = F.conv2d(images.reshape(-1, *images.shape[-3:]), weight, bias, stride=P)   # (B, d, rows, columns)
    rows, columns = grid.shape[-2:]
    tokens = grid.flatten(2).transpose(1, 2)
    side = round((len(positions) - 1) ** 0.5)
    learned = positions[1:].T.reshape(1, -1, side, side)
    learned = F.interpolate(learned, size=(columns, rows), mode="bicubic", align_corners=False)
    learned = learned.flatten(2).transpose(1, 2)
    tokens = tokens + learned
    first = (cls + positions[0]).expand(len(tokens), 1, -1)
    return torch.cat([first, tokens], dim=1).reshape(*lead, 1 + rows * columns, -1)

# %% [wrong] positions_not_transposed | The rows of the positions (side², d_model) are reshaped to (1, d_model, side, side) without .T, so the numbers of different places land in one another's channels. What is interpolated is no longer a vector for each place.
def patch_embedding(images, weight, bias, cls, positions):
    d_model, _, P, _ = weight.shape
    flat = images.flatten(0, -4) if images.dim() > 3 else images.unsqueeze(0)
    x = F.conv2d(flat, weight, bias, stride=P)
    h, w = x.shape[-2], x.shape[-1]
    x = x.flatten(2).transpose(1, 2)
    side = int((positions.shape[0] - 1) ** 0.5)
    pos = positions[1:].reshape(1, d_model, side, side)
    pos = F.interpolate(pos, size=(h, w), mode="bicubic", align_corners=False)
    pos = pos.flatten(2).transpose(1, 2)
    pos = torch.cat([positions[:1].unsqueeze(0), pos], dim=1)
    x = torch.cat([cls.reshape(1, 1, -1).expand(x.shape[0], -1, -1), x], dim=1) + pos
    return x.reshape(*images.shape[:-3], *x.shape[1:])

# %% [wrong] scale_factor_with_a_tenth | The interpolation is that of DINO's published program: a scale factor of (rows + 0.1) / side in place of size=(rows, columns). The shape is right, but the places are read a little beside where they should be, and where the grid is the same the positions change all the same.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    """Patches become tokens, [CLS] comes in front, positions are added."""
    P = weight.shape[-1]
    lead, size = images.shape[:-3], images.shape[-3:]
    patches = F.conv2d(images.reshape(-1, *size), weight, bias, stride=P)
    rows, columns = patches.shape[-2:]
    side = int(round((positions.shape[0] - 1) ** 0.5))
    # we add a small number to avoid floating point error in the interpolation
    h0, w0 = rows + 0.1, columns + 0.1
    grid = F.interpolate(
        positions[1:].reshape(1, side, side, -1).permute(0, 3, 1, 2),
        scale_factor=(h0 / side, w0 / side),
        mode="bicubic",
        align_corners=False,
    )
    tokens = (patches + grid).flatten(2).transpose(1, 2)
    start = (cls + positions[0]).expand(tokens.shape[0], 1, -1)
    return torch.cat([start, tokens], 1).reshape(*lead, -1, tokens.shape[-1])

# %% [wrong] needs_a_batch | The number of images is read from images.shape[0]. That is right for a batch; a single image (3, height, width) has its colours there, so cls is repeated three times and torch.cat stops with an error.
def patch_embedding(images, weight, bias, cls, positions):
    B = images.shape[0]
    P = weight.shape[-1]
    patches = F.conv2d(images, weight, bias, stride=P)
    rows, columns = patches.shape[-2:]
    tokens = patches.flatten(-2).transpose(-2, -1)
    side = int((positions.shape[0] - 1) ** 0.5)
    grid = F.interpolate(
        positions[1:].T.reshape(1, -1, side, side), size=(rows, columns), mode="bicubic", align_corners=False
    )
    tokens = tokens + grid.flatten(2).transpose(1, 2)
    cls_tokens = (cls + positions[0]).expand(B, 1, -1)
    return torch.cat([cls_tokens, tokens], dim=1)

# %% [wrong] cls_without_its_position | Positions are added to the patches, and then [CLS] is put in front as it is. Its own position, the first row of `positions`, is left out; by hand the first token should be 100.5 and is 100.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    batch = images.reshape(-1, *images.shape[-3:])
    grid = F.conv2d(batch, weight, bias, stride=weight.shape[-2:])
    side = int((positions.size(0) - 1) ** 0.5 + 0.5)
    places = positions[1:].T.reshape(1, -1, side, side)
    places = F.interpolate(places, size=grid.shape[-2:], mode="bicubic", align_corners=False)
    tokens = (grid + places).flatten(2).mT
    tokens = torch.cat([cls.view(1, 1, -1).repeat(len(tokens), 1, 1), tokens], dim=1)
    return tokens.unflatten(0, images.shape[:-3]) if images.dim() > 3 else tokens[0]

# %% [right] unfold_and_a_linear | No convolution: F.unfold cuts the patches and F.linear makes the tokens, as the text's cell shows; cls and positions are joined before they are added.
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    *lead, colours, height, width = images.shape
    P, Q = weight.shape[-2:]
    cut = F.unfold(images.reshape(-1, colours, height, width), (P, Q), stride=(P, Q)).mT  # (N, n, 3·P²)
    tokens = F.linear(cut, weight.flatten(1), bias)
    side = round((positions.shape[0] - 1) ** 0.5)
    learned = positions[1:].unflatten(0, (side, side)).movedim(-1, 0).unsqueeze(0)
    fitted = F.interpolate(learned, size=(height // P, width // Q), mode="bicubic", align_corners=False)
    places = torch.cat([positions[:1], fitted[0].flatten(1).T])
    with_cls = torch.cat([cls.expand(tokens.shape[0], 1, -1), tokens], dim=1)
    return (with_cls + places).reshape(*lead, places.shape[0], places.shape[1])
