# %% [wrong] positions_reshaped_not_transposed | (side^2, d_model) is reshaped to (1, d_model, side, side) without a transpose first: the numbers of one place are spread over several channels, so every position vector is scrambled (and even the same grid changes)
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    single = images.ndim == 3
    x = images.unsqueeze(0) if single else images
    lead = x.shape[:-3]
    x = F.conv2d(x.reshape(-1, *x.shape[-3:]), weight, bias, stride=weight.shape[-2:])
    rows, columns = x.shape[-2:]
    tokens = x.flatten(2).transpose(1, 2)
    d = cls.shape[0]
    side = int((positions.shape[0] - 1) ** 0.5)
    grid = positions[1:].reshape(1, d, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    grid = grid.flatten(2).transpose(1, 2)
    tokens = torch.cat([(cls + positions[0]).expand(len(tokens), 1, d), tokens + grid], dim=1)
    tokens = tokens.reshape(*lead, *tokens.shape[1:])
    return tokens[0] if single else tokens


# %% [wrong] column_by_column | the patches are cut by two unfolds and then flattened with the columns first, so the tokens run down the columns while the positions run along the rows: every patch off the diagonal gets the position of another one
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    d_model, _, height, width = weight.shape
    windows = images.unfold(-2, height, height).unfold(-2, width, width)  # (..., 3, rows, columns, P, P)
    rows, columns = windows.shape[-4:-2]
    tokens = torch.einsum("...crsij,dcij->...srd", windows, weight).flatten(-3, -2) + bias
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d_model, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)[0].flatten(1).T
    first = cls.expand(*tokens.shape[:-2], 1, d_model)
    return torch.cat([first, tokens], dim=-2) + torch.cat([positions[:1], grid])


# %% [wrong] cls_without_position | [CLS] is put in front after the positions were added, and its own position (row 0) is never used: the first token is off by positions[0]
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    def resized(rows, columns):
        side = int(round((positions.shape[0] - 1) ** 0.5))
        grid = positions[1:].T.reshape(1, -1, side, side)
        return F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)

    batch = images.reshape(-1, *images.shape[-3:])
    features = F.conv2d(batch, weight, bias, stride=tuple(weight.shape[2:]))
    features = features + resized(*features.shape[-2:])
    tokens = features.flatten(2).mT
    cls_tokens = cls[None, None].repeat(len(tokens), 1, 1)
    tokens = torch.cat((cls_tokens, tokens), 1)
    return tokens.reshape(*images.shape[:-3], *tokens.shape[-2:])


# %% [wrong] needs_a_batch | assumes (B, 3, height, width) throughout: for one image (3, height, width), which the text names, flatten(2) and transpose(1, 2) work on the wrong axes, and it fails or gives another shape
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    patch = weight.shape[-1]
    feature_map = F.conv2d(images, weight, bias, stride=patch)
    rows, columns = feature_map.shape[-2], feature_map.shape[-1]
    tokens = feature_map.flatten(2).transpose(1, 2)
    B, n, d = tokens.shape
    tokens = torch.cat([cls.reshape(1, 1, d).expand(B, -1, -1), tokens], dim=1)
    side = int((len(positions) - 1) ** 0.5 + 0.5)
    if (rows, columns) != (side, side):
        grid = positions[1:].T.reshape(1, d, side, side)
        grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
        positions = torch.cat([positions[:1], grid.reshape(d, -1).T])
    return tokens + positions


# %% [wrong] corners_aligned | interpolates with align_corners=True, where the text wants False: the same grid is unchanged, but on any other grid the positions are those of slightly shifted places
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    class Embedder:
        def __init__(self):
            self.size = weight.shape[-2:]
            self.side = round((positions.shape[0] - 1) ** 0.5)

        def grid(self, size):
            square = positions[1:].unflatten(0, (self.side, self.side)).permute(2, 0, 1)[None]
            return F.interpolate(square, size=size, mode="bicubic", align_corners=True)[0]

        def __call__(self, x):
            flat = F.conv2d(x.flatten(0, -4) if x.ndim > 3 else x[None], weight, bias, stride=self.size)
            flat = (flat + self.grid(flat.shape[-2:])).flatten(-2).transpose(-2, -1)
            head = (cls + positions[0]).expand(flat.shape[0], 1, -1)
            out = torch.cat([head, flat], 1)
            return out.reshape(x.shape[:-3] + out.shape[1:])

    return Embedder()(images)


# %% [right] unfold_and_linear | no convolution: unfold cuts the patches, a Linear with the flattened small images makes tokens; [CLS] is filled into a pre-made tensor of positions
def patch_embedding(images: Tensor, weight: Tensor, bias: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    *lead, _, height, width = images.shape
    size = tuple(weight.shape[-2:])
    rows, columns = height // size[0], width // size[1]
    cut = F.unfold(images.reshape(-1, *images.shape[-3:]), kernel_size=size, stride=size)  # (N, 3·P², rows·columns)
    tokens = F.linear(cut.mT, weight.flatten(1), bias).reshape(*lead, rows * columns, -1)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].unflatten(0, (side, side)).movedim(-1, 0).unsqueeze(0)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False)
    grid = grid.squeeze(0).flatten(1).T
    first = (cls + positions[0]).expand(*lead, 1, -1)
    return torch.cat([first, tokens + grid], dim=-2)
