# %% [wrong] half_and_half | Dimension i is paired with i + d/2 (the convention of GPT-NeoX and LLaMA's ports) instead of neighbours 2i and 2i + 1
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speed = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angle = (positions[..., None] * speed).to(vectors.dtype)
    cos, sin = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()
    a, b = vectors.chunk(2, dim=-1)
    return vectors * cos + torch.cat([-b, a], dim=-1) * sin

# %% [wrong] half_exponent | The exponent of pair i is −i/d instead of −2i/d: the second pair of four dimensions turns by 0.1 for each place and not by 0.01
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.size(-1)
    if d % 2 == 1:
        raise ValueError(f"odd width {d}")
    i = torch.arange(d // 2, device=vectors.device)
    theta = positions.unsqueeze(-1) * base ** (-i / d)
    c, s = theta.cos().to(vectors.dtype), theta.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * c - y * s, x * s + y * c], dim=-1).flatten(-2)

# %% [wrong] other_way_round | The signs of the sines are exchanged, so everything turns clockwise, by −position · speed: [1, 0] at place 3 gives [−0.990, −0.141]
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("d is odd")
    omega = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    phi = positions[..., None] * omega
    cos, sin = phi.cos().to(vectors), phi.sin().to(vectors)
    even, odd = vectors.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((even * cos + odd * sin, odd * cos - even * sin), -1).flatten(-2)

# %% [wrong] cat_not_stack | The turned firsts and seconds are joined by torch.cat, so all firsts stand before all seconds instead of partners side by side
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("rotate needs an even width")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = (positions[..., None] * speeds).to(vectors.dtype)
    x, y = vectors[..., ::2], vectors[..., 1::2]
    return torch.cat([x * angles.cos() - y * angles.sin(), x * angles.sin() + y * angles.cos()], dim=-1)

# %% [wrong] whole_places_only | The positions are cast to long, so fractions are cut off: place 1.5 turns like place 1
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("d must be even")
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2, device=vectors.device).float() / d)
    freqs = positions.long().unsqueeze(-1) * inv_freq
    c, s = freqs.cos().to(vectors.dtype), freqs.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    out = torch.empty_like(vectors)
    out[..., 0::2], out[..., 1::2] = x * c - y * s, x * s + y * c
    return out

# %% [wrong] base_written_in_and_float32_back | 10000.0 stands in the formula and the argument base has no effect; AND vectors.float() makes float32 of whatever comes in, where the dtype of the vectors is to be kept
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError("odd")
    freq = 10000.0 ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    ang = positions[..., None].float() * freq
    x, y = vectors.float().unflatten(-1, (d // 2, 2)).unbind(-1)
    turned = (x * ang.cos() - y * ang.sin(), x * ang.sin() + y * ang.cos())
    return torch.stack(turned, dim=-1).flatten(-2)

# %% [right] quarter_turn | each vector times the cosine plus its quarter turn times the sine, with the angles repeated for both partners
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"{d} dimensions cannot be paired")
    exact = torch.promote_types(vectors.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, dtype=exact, device=vectors.device) / d)
    angles = (positions.to(exact).unsqueeze(-1) * speeds).repeat_interleave(2, dim=-1)
    first, second = vectors.to(exact).unflatten(-1, (-1, 2)).unbind(-1)
    quarter = torch.stack([-second, first], dim=-1).flatten(-2)
    return (vectors.to(exact) * angles.cos() + quarter * angles.sin()).to(vectors.dtype)
