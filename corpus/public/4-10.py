# %% [right] complex_polar | view_as_complex, torch.polar, view_as_real, after facebookresearch/llama (apply_rotary_emb) (unsure: vectors that are not contiguous, precision of float64 input)
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    dim = vectors.shape[-1]
    if dim % 2 != 0:
        raise ValueError(f"the width must be even, not {dim}")
    freqs = 1.0 / (base ** (torch.arange(0, dim, 2, device=vectors.device)[: (dim // 2)].float() / dim))
    freqs = positions.unsqueeze(-1).float() * freqs
    freqs_cis = torch.polar(torch.ones_like(freqs), freqs)  # complex64
    x_ = torch.view_as_complex(vectors.float().reshape(*vectors.shape[:-1], -1, 2))
    x_out = torch.view_as_real(x_ * freqs_cis).flatten(-2)
    return x_out.type_as(vectors)


# %% [right] rotate_every_two_repeat_interleave | cos and sin by repeat_interleave(2), x * cos + rotate_every_two(x) * sin, after GPT-J style code (rotate_every_two, repeat_interleave)
def _rotate_every_two(x):
    x1 = x[..., ::2]
    x2 = x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2, dtype=torch.float32, device=vectors.device) / d))
    sinusoid = positions.to(torch.float32)[..., None] * inv_freq
    cos = torch.repeat_interleave(sinusoid.cos(), 2, dim=-1).to(vectors.dtype)
    sin = torch.repeat_interleave(sinusoid.sin(), 2, dim=-1).to(vectors.dtype)
    return (vectors * cos) + (_rotate_every_two(vectors) * sin)


# %% [right] even_odd_stack_flatten | even and odd parts, cos_part and sin_part stacked, flattened, after comfyanonymous/ComfyUI (apply_rotary_emb_qk_real)
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    width = vectors.size(-1)
    if width % 2 == 1:
        raise ValueError(f"cannot pair {width} dimensions")
    theta = base ** (-torch.arange(0, width, 2, device=vectors.device, dtype=torch.float64) / width)
    angle = positions.to(torch.float64).unsqueeze(-1) * theta
    cos, sin = angle.cos().to(vectors.dtype), angle.sin().to(vectors.dtype)
    even, odd = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


# %% [right] empty_like_filled_by_strides | an empty result whose even and odd columns are written, after hand written RoPE in blog posts (labmlai/annotated_deep_learning_paper_implementations context)
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError("d must be even")
    speeds = torch.exp(torch.arange(0, d, 2, device=vectors.device).to(vectors.dtype) * (-np.log(base) / d))
    angles = positions[..., None].to(vectors.dtype) * speeds
    out = torch.empty_like(vectors)
    out[..., 0::2] = vectors[..., 0::2] * torch.cos(angles) - vectors[..., 1::2] * torch.sin(angles)
    out[..., 1::2] = vectors[..., 0::2] * torch.sin(angles) + vectors[..., 1::2] * torch.cos(angles)
    return out


# %% [right] two_by_two_matrices_einsum | a 2 x 2 rotation matrix for each pair, einsum, after black-forest-labs/flux (rope in math.py)
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    dim = vectors.shape[-1]
    if dim % 2 != 0:
        raise ValueError(f"dim = {dim} is odd")
    scale = torch.arange(0, dim, 2, dtype=torch.float64, device=vectors.device) / dim
    omega = 1.0 / (base**scale)
    out = torch.einsum("...n,d->...nd", positions.to(torch.float64), omega)
    out = torch.stack([torch.cos(out), -torch.sin(out), torch.sin(out), torch.cos(out)], dim=-1)
    matrices = out.unflatten(-1, (2, 2)).to(vectors.dtype)  # (..., n, d/2, 2, 2)
    pairs = vectors.unflatten(-1, (-1, 2))
    return torch.einsum("...ij,...j->...i", matrices, pairs).flatten(-2)


# %% [right] half_convention_with_reordering | dimensions reordered to halves, rotate_half, reordered back, after the permute in huggingface's llama weight conversion
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(d)
    half = d // 2
    x = vectors.unflatten(-1, (half, 2)).transpose(-1, -2).flatten(-2)  # all firsts, then all seconds
    inv_freq = base ** (-torch.arange(half, device=vectors.device, dtype=torch.float32) * 2 / d)
    freqs = positions.to(torch.float32).unsqueeze(-1) * inv_freq
    emb = torch.cat((freqs, freqs), dim=-1)
    rotated = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    x = x * emb.cos().to(x.dtype) + rotated * emb.sin().to(x.dtype)
    return x.unflatten(-1, (2, half)).transpose(-1, -2).flatten(-2)


# %% [right] unbind_pairs_and_addcmul | pairs by unbind, addcmul for the two sums, float32 inside, after facebookresearch/esm style rotary code with torch.outer (unsure: precision of float64 input)
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    dim = vectors.shape[-1]
    if dim & 1:
        raise ValueError("rotary positions need an even width")
    inv_freq = torch.pow(base, -torch.arange(0, dim, 2, device=vectors.device).float() / dim)
    if positions.ndim == 1:
        t = torch.outer(positions.float(), inv_freq)
    else:
        t = positions.float()[..., None] * inv_freq
    x, y = vectors.float().unflatten(-1, (dim // 2, 2)).unbind(-1)
    new_x = torch.addcmul(x * t.cos(), y, t.sin(), value=-1)
    new_y = torch.addcmul(x * t.sin(), y, t.cos())
    return torch.stack((new_x, new_y), dim=-1).flatten(start_dim=-2).to(vectors.dtype)


# %% [right] complex_in_own_precision_contiguous | complex numbers in the precision of the vectors, made contiguous first, after google/gemma_pytorch and junjinyong/Qwen3-MoE rope helpers
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"odd head dimension {d}")
    real = vectors.dtype if vectors.dtype in (torch.float32, torch.float64) else torch.float32
    theta = base ** (-torch.arange(0, d, 2, dtype=real, device=vectors.device) / d)
    angle = positions.to(real).unsqueeze(-1) * theta
    x = torch.view_as_complex(vectors.to(real).contiguous().view(*vectors.shape[:-1], d // 2, 2))
    rotated = x * torch.complex(angle.cos(), angle.sin())
    return torch.view_as_real(rotated).reshape(vectors.shape).to(vectors.dtype)


# %% [right] stacked_cos_sin_cache | cos and sin stacked behind, x[..., 0] and x[..., 1] used, after meta-pytorch/torchtune (RotaryPositionalEmbeddings)
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    dim = vectors.shape[-1]
    if dim % 2 != 0:
        raise ValueError("dim has to be even")
    theta = 1.0 / (base ** (torch.arange(0, dim, 2, device=vectors.device)[: (dim // 2)].double() / dim))
    idx_theta = torch.einsum("...i,j->...ij", positions.double(), theta)
    rope_cache = torch.stack([torch.cos(idx_theta), torch.sin(idx_theta)], dim=-1).to(vectors.dtype)
    xshaped = vectors.reshape(*vectors.shape[:-1], -1, 2)
    x_out = torch.stack(
        [
            xshaped[..., 0] * rope_cache[..., 0] - xshaped[..., 1] * rope_cache[..., 1],
            xshaped[..., 1] * rope_cache[..., 0] + xshaped[..., 0] * rope_cache[..., 1],
        ],
        -1,
    )
    return x_out.flatten(-2)


# %% [right] sinusoidal_embedding_split | sin and cos from a sinusoidal position table, repeated pairwise, stack of -x2 and x1, after ZhuiyiTechnology/roformer ports (JunnYu/RoFormer_pytorch)
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    output_dim = vectors.size(-1)
    if output_dim % 2 == 1:
        raise ValueError(output_dim)
    indices = torch.arange(output_dim // 2, dtype=torch.float, device=vectors.device)
    indices = torch.pow(torch.tensor(base, dtype=torch.float, device=vectors.device), -2 * indices / output_dim)
    angles = positions.float()[..., None] * indices
    sinusoidal = torch.stack([torch.sin(angles), torch.cos(angles)], dim=-1).to(vectors.dtype)
    sin_pos = sinusoidal[..., 0].unsqueeze(-1).expand(*angles.shape, 2).flatten(-2)
    cos_pos = sinusoidal[..., 1].unsqueeze(-1).expand(*angles.shape, 2).flatten(-2)
    swapped = torch.stack([-vectors[..., 1::2], vectors[..., ::2]], -1).reshape(vectors.shape)
    return vectors * cos_pos + swapped * sin_pos


# %% [right] roll_based_partner | the partner of each number by flip within pairs, signed sine, after fused RoPE kernels (x[d ^ 1] with sin_exp)
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("pairs need an even width")
    pair = torch.arange(d, device=vectors.device) // 2
    sign = torch.where(torch.arange(d, device=vectors.device) % 2 == 0, -1.0, 1.0).to(vectors.dtype)
    freq = torch.exp(-2.0 * pair.double() / d * np.log(base))
    angle = positions.double().unsqueeze(-1) * freq
    partner = vectors[..., torch.arange(d, device=vectors.device) ^ 1]
    return vectors * angle.cos().to(vectors.dtype) + partner * (sign * angle.sin().to(vectors.dtype))
