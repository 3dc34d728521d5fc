# %% [wrong] pairs_half_a_width_apart | Dimension i is paired with i + d/2, as LLaMA's programs do. The text pairs neighbours, 2i with 2i + 1; scores have the same properties, but each vector comes out other than expected.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"the width must be even, not {d}")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    cos = torch.cat([angles.cos(), angles.cos()], dim=-1)
    sin = torch.cat([angles.sin(), angles.sin()], dim=-1)
    x1, x2 = vectors[..., : d // 2], vectors[..., d // 2 :]
    rotated = torch.cat([-x2, x1], dim=-1)
    return (vectors * cos + rotated * sin).to(vectors.dtype)

# %% [wrong] speeds_without_the_two | The speeds are base^(−i/d) for pair i, and the factor 2 in the exponent is missing. The first pair turns as it should, every later one too fast: in the example the second by 3 · 0.1 in place of 3 · 0.01.
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError("d is odd")
    i = torch.arange(d // 2, device=vectors.device)
    theta = base ** (-i / d)
    angles = positions.unsqueeze(-1) * theta
    c, s = torch.cos(angles), torch.sin(angles)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * c - y * s, x * s + y * c], dim=-1).flatten(-2).to(vectors.dtype)

# %% [wrong] firsts_before_seconds | The turned numbers are put together by torch.cat: all firsts, and then all seconds. The pairs are turned rightly, but the partners no longer stand beside each other.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours."""
    d = vectors.shape[-1]
    if d % 2 == 1:
        raise ValueError(f"odd width: {d}")
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device).float() / d)
    angles = positions[..., None] * speeds
    turned_first = first * angles.cos() - second * angles.sin()
    turned_second = first * angles.sin() + second * angles.cos()
    return torch.cat([turned_first, turned_second], dim=-1).to(vectors.dtype)

# %% [wrong] positions_as_one_list | torch.outer makes the angles, which takes positions (n,) only. With positions (..., n), one for each vector of a batch, it stops with an error.
def rotate(vectors, positions, base=10000.0):
    d = vectors.size(-1)
    if d % 2:
        raise ValueError("the width must be even")
    freqs = 1.0 / (base ** (torch.arange(0, d, 2, device=vectors.device).float() / d))
    angles = torch.outer(positions.float(), freqs)              # (n, d/2)
    cis = torch.polar(torch.ones_like(angles), angles)
    as_complex = torch.view_as_complex(vectors.float().reshape(*vectors.shape[:-1], -1, 2))
    return torch.view_as_real(as_complex * cis).flatten(-2).to(vectors.dtype)

# %% [wrong] looked_up_in_a_table | Sines and cosines are made for the places 0, 1, 2 … once and looked up by positions.long(). That is right for whole numbers; fractions are cut off, so a vector at place 2.5 is turned as at place 2.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"{d} is odd")
    places = positions.long()
    speeds = torch.pow(base, -torch.arange(0, d, 2, device=vectors.device) / d)
    table = torch.arange(int(places.max()) + 1, device=vectors.device)[:, None] * speeds   # (longest, d/2)
    cos, sin = table.cos()[places], table.sin()[places]
    even, odd = vectors[..., ::2], vectors[..., 1::2]
    out = torch.empty_like(vectors)
    out[..., ::2] = even * cos - odd * sin
    out[..., 1::2] = even * sin + odd * cos
    return out

# %% [right] small_rotation_matrices | A 2 × 2 matrix for each vector and pair, built from sines and cosines, and a matrix product that applies it; computed in float32 at least and cast back.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    *_, d = vectors.shape
    if d & 1:
        raise ValueError(f"pairs need an even width, and this one is {d}")
    exact = torch.promote_types(vectors.dtype, torch.float32)
    speeds = torch.logspace(0, -2 * (d // 2 - 1) / d, d // 2, base=base, dtype=torch.float64, device=vectors.device)
    angle = (positions.double().unsqueeze(-1) * speeds).to(exact)
    cos, sin = angle.cos(), angle.sin()
    matrix = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)  # (..., n, d/2, 2, 2)
    arrows = vectors.to(exact).unflatten(-1, (d // 2, 2))
    return (matrix @ arrows.unsqueeze(-1)).squeeze(-1).flatten(-2).to(vectors.dtype)
