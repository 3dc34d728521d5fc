# %% [right] chunk_rotate_cat | both halves by chunk, rotate on each, cat, after naver-ai/rope-vit (axial)
def rotate_2d(vectors, rows, columns, base=10000.0):
    by_row, by_column = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(by_row, rows, base), rotate(by_column, columns, base)], dim=-1)


# %% [right] joined_complex_frequencies | frequencies of rows and columns joined as complex numbers, one multiplication, after naver-ai/rope-vit (compute_axial_cis) (unsure: vectors that are not contiguous, precision of float64 input)
def rotate_2d(vectors, rows, columns, base=10000.0):
    dim = vectors.shape[-1]
    freqs = 1.0 / (base ** (torch.arange(0, dim, 4, device=vectors.device)[: (dim // 4)].float() / dim))
    freqs_row = torch.outer(rows.float(), freqs)
    freqs_col = torch.outer(columns.float(), freqs)
    freqs_cis = torch.cat(
        [torch.polar(torch.ones_like(freqs_row), freqs_row), torch.polar(torch.ones_like(freqs_col), freqs_col)], dim=-1
    )
    x = torch.view_as_complex(vectors.float().reshape(*vectors.shape[:-1], -1, 2))
    return torch.view_as_real(x * freqs_cis).flatten(-2).type_as(vectors)


# %% [right] joined_angles_rotate_half_pairs | angles of both axes joined, repeat_interleave, one rotation of the whole width, after facebookresearch/vjepa2 and Qwen2-VL style vision rope
def rotate_2d(vectors, rows, columns, base=10000.0):
    half = vectors.shape[-1] // 2
    inv_freq = 1.0 / base ** (torch.arange(0, half, 2, device=vectors.device, dtype=torch.float32) / half)
    angles = torch.cat([rows[:, None].float() * inv_freq, columns[:, None].float() * inv_freq], dim=-1)
    cos = angles.cos().repeat_interleave(2, -1).to(vectors.dtype)
    sin = angles.sin().repeat_interleave(2, -1).to(vectors.dtype)
    turned = torch.stack((-vectors[..., 1::2], vectors[..., 0::2]), -1).flatten(-2)
    return vectors * cos + turned * sin


# %% [right] stacked_halves_one_call | halves stacked in front, positions stacked as well, a single call of rotate, after batch style code
def rotate_2d(vectors, rows, columns, base=10000.0):
    halves = torch.stack(vectors.split(vectors.shape[-1] // 2, dim=-1))  # (2, ..., n, d/2)
    places = torch.stack((rows, columns))
    places = places.reshape(2, *[1] * (vectors.ndim - 2), -1).expand(halves.shape[:-1])
    turned = rotate(halves, places, base=base)
    return torch.cat((turned[0], turned[1]), dim=-1)


# %% [right] unbind_of_two_halves | halves by unflatten and unbind, rotate with keywords, stacked again, after Dao-like 2d rope in vision encoders (facebookresearch/segment-anything-2)
def rotate_2d(vectors, rows, columns, base=10000.0):
    top, bottom = vectors.unflatten(-1, (2, -1)).unbind(dim=-2)
    turned = [rotate(half, positions=place, base=base) for half, place in ((top, rows), (bottom, columns))]
    return torch.stack(turned, dim=-2).flatten(-2)
