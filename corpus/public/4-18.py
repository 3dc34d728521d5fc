# %% [right] conv_flatten_transpose_interpolate | F.conv2d, flatten(2).transpose(1, 2), cls expanded, bicubic interpolation of the grid, after facebookresearch/dinov2 (prepare_tokens_with_masks)
def patch_embedding(images, weight, bias, cls, positions):
    lead = images.shape[:-3]
    x = images.reshape(-1, *images.shape[-3:])
    B = x.shape[0]
    x = F.conv2d(x, weight, bias, stride=weight.shape[-2:])
    rows, columns = x.shape[-2:]
    x = x.flatten(2).transpose(1, 2)
    x = torch.cat((cls.expand(B, 1, -1), x), dim=1)
    dim = x.shape[-1]
    N = positions.shape[0] - 1
    side = int(N**0.5 + 0.5)
    class_pos_embed, patch_pos_embed = positions[:1], positions[1:]
    if (side, side) != (rows, columns):
        patch_pos_embed = F.interpolate(
            patch_pos_embed.reshape(1, side, side, dim).permute(0, 3, 1, 2),
            size=(rows, columns),
            mode="bicubic",
            align_corners=False,
        )
        patch_pos_embed = patch_pos_embed.permute(0, 2, 3, 1).view(rows * columns, dim)
    x = x + torch.cat((class_pos_embed, patch_pos_embed), dim=0)
    return x.reshape(*lead, *x.shape[-2:])


# %% [right] unfold_and_linear | F.unfold and a matrix product in place of the convolution, cls given its position apart, after timm style PatchEmbed without conv
def patch_embedding(images, weight, bias, cls, positions):
    d_model, _, ph, pw = weight.shape
    flat = images.reshape(-1, *images.shape[-3:])
    rows, columns = images.shape[-2] // ph, images.shape[-1] // pw
    patches = F.unfold(flat, kernel_size=(ph, pw), stride=(ph, pw)).mT  # (B, n, 3 · P · P)
    tokens = F.linear(patches, weight.reshape(d_model, -1), bias)
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, d_model, side, side)
    grid = F.interpolate(grid, size=(rows, columns), mode="bicubic", align_corners=False).flatten(2).mT
    tokens = tokens + grid
    first = (cls + positions[0]).expand(len(tokens), 1, d_model)
    out = torch.cat([first, tokens], dim=1)
    return out.reshape(*images.shape[:-3], 1 + rows * columns, d_model)


# %% [right] axes_by_hand_and_einsum | the image reshaped to patches by hand, einsum with the weight, after lucidrains/vit-pytorch (rearrange then Linear)
def patch_embedding(images, weight, bias, cls, positions):
    P, Q = weight.shape[-2:]
    *lead, c, H, W = images.shape
    r, w = H // P, W // Q
    x = images.reshape(*lead, c, r, P, w, Q)
    x = torch.einsum("...cipjq,dcpq->...ijd", x, weight) + bias
    x = x.flatten(-3, -2)
    side = int(np.sqrt(positions.shape[0] - 1).round())
    pos = positions[1:].view(side, side, -1).permute(2, 0, 1).unsqueeze(0)
    pos = F.interpolate(pos, size=(r, w), mode="bicubic", align_corners=False)
    pos = pos.squeeze(0).flatten(1).transpose(0, 1)
    cls_token = (cls + positions[0]).expand(*lead, 1, -1)
    return torch.cat([cls_token, x + pos], dim=-2)


# %% [right] functional_with_hf_names | class_embeds, patch_embeds, resized positions, view of the batch restored at the end, after zycl2001/Retina4IRD (interpolate_pos_embed_vit)
def patch_embedding(images, weight, bias, cls, positions):
    import math

    def interpolate_pos_encoding(height, width):
        dim = positions.shape[-1]
        class_pos_embed = positions[None, :1]
        patch_pos_embed = positions[None, 1:]
        sqrt_num_positions = int(math.sqrt(positions.shape[0] - 1))
        if height == sqrt_num_positions and width == sqrt_num_positions:
            return positions[None]
        patch_pos_embed = patch_pos_embed.reshape(1, sqrt_num_positions, sqrt_num_positions, dim)
        patch_pos_embed = patch_pos_embed.permute(0, 3, 1, 2)
        patch_pos_embed = nn.functional.interpolate(
            patch_pos_embed, size=(height, width), mode="bicubic", align_corners=False
        )
        patch_pos_embed = patch_pos_embed.permute(0, 2, 3, 1).view(1, -1, dim)
        return torch.cat((class_pos_embed, patch_pos_embed), dim=1)

    pixel_values = images.flatten(0, -4) if images.ndim > 3 else images[None]
    target_dtype = weight.dtype
    patch_embeds = F.conv2d(pixel_values.to(dtype=target_dtype), weight, bias=bias, stride=weight.shape[-1])
    height, width = patch_embeds.shape[-2:]
    patch_embeds = patch_embeds.flatten(2).transpose(1, 2)
    class_embeds = cls.reshape(1, 1, -1).expand(pixel_values.shape[0], 1, -1)
    embeddings = torch.cat([class_embeds, patch_embeds], dim=1) + interpolate_pos_encoding(height, width)
    return embeddings.view(*images.shape[:-3], *embeddings.shape[1:])


# %% [right] two_unfolds_and_tensordot | two Tensor.unfold calls, matrix product, positions resized only when the grid differs, after isl-org/MiDaS (_resize_pos_embed)
def _resize_pos_embed(posemb, gs_h, gs_w):
    posemb_tok, posemb_grid = posemb[:1], posemb[1:]
    gs_old = int(len(posemb_grid) ** 0.5)
    if gs_old == gs_h and gs_old == gs_w:
        return posemb
    posemb_grid = posemb_grid.reshape(1, gs_old, gs_old, -1).permute(0, 3, 1, 2)
    posemb_grid = F.interpolate(posemb_grid, size=(gs_h, gs_w), mode="bicubic", align_corners=False)
    posemb_grid = posemb_grid.permute(0, 2, 3, 1).reshape(gs_h * gs_w, -1)
    return torch.cat([posemb_tok, posemb_grid], dim=0)


def patch_embedding(images, weight, bias, cls, positions):
    p1, p2 = weight.shape[2], weight.shape[3]
    squares = images.unfold(-2, p1, p1).unfold(-2, p2, p2)  # (..., 3, rows, columns, P, P)
    gs_h, gs_w = squares.shape[-4], squares.shape[-3]
    tokens = torch.tensordot(squares.movedim(-5, -3), weight, dims=([-3, -2, -1], [1, 2, 3])) + bias
    tokens = tokens.flatten(-3, -2)
    cls_tokens = cls.view(1, -1).expand(*tokens.shape[:-2], 1, -1)
    return torch.cat((cls_tokens, tokens), dim=-2) + _resize_pos_embed(positions, gs_h, gs_w)
