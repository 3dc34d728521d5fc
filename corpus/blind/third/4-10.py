# %% [wrong] halves_as_pairs | Pairs dimension i with i + d/2, the other convention; here neighbours form a pair.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors.chunk(2, dim=-1)
    turned = torch.cat([x * angles.cos() - y * angles.sin(), x * angles.sin() + y * angles.cos()], dim=-1)
    return turned.to(vectors.dtype)

# %% [wrong] firsts_before_seconds | Takes neighbours as pairs, but joins with cat: all firsts stand before all seconds in the result.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    width = vectors.shape[-1]
    if width % 2 == 1:
        raise ValueError(f"odd width {width}")
    i = torch.arange(width // 2, device=vectors.device)
    angle = positions.unsqueeze(-1) * base ** (-2 * i / width)
    sin, cos = angle.sin().to(vectors.dtype), angle.cos().to(vectors.dtype)
    even, odd = vectors[..., 0::2], vectors[..., 1::2]
    return torch.cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)

# %% [wrong] other_direction | The two signs of the sine are exchanged, so every arrow turns backwards.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError("d is odd")
    pairs = vectors.unflatten(-1, (d // 2, 2))
    theta = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], device=vectors.device)
    angle = positions[..., None] * theta
    c, s = torch.cos(angle), torch.sin(angle)
    x, y = pairs[..., 0], pairs[..., 1]
    return torch.stack([x * c + y * s, y * c - x * s], dim=-1).flatten(-2).to(vectors.dtype)

# %% [wrong] half_the_exponent | The speeds are base^(−i/d) in place of base^(−2i/d): arange counts pairs, and the 2 is missing.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    speeds = base ** (-torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    turn = torch.stack([angles.cos(), -angles.sin(), angles.sin(), angles.cos()], -1).unflatten(-1, (2, 2)).to(vectors.dtype)
    pairs = vectors.unflatten(-1, (-1, 2)).unsqueeze(-1)
    return (turn @ pairs).squeeze(-1).flatten(-2)

# %% [wrong] counts_places_itself | Numbers the vectors 0 … n − 1 itself and ignores the positions that are handed in.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    n, d = vectors.shape[-2:]
    if d % 2:
        raise ValueError("the width is odd")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = torch.outer(torch.arange(n, device=vectors.device).float(), speeds).to(vectors.dtype)
    first, second = vectors[..., ::2], vectors[..., 1::2]
    pairs = [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()]
    return torch.stack(pairs, dim=-1).flatten(-2)

# %% [wrong] sine_of_changed_value | Works in place on a copy and overwrites the first of each pair before the second is computed from it.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    if vectors.shape[-1] % 2:
        raise ValueError("vectors of an odd width have no pairs")
    d, out = vectors.shape[-1], vectors.clone()
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    cos, sin = angle.cos().to(out.dtype), angle.sin().to(out.dtype)
    out[..., 0::2] = out[..., 0::2] * cos - out[..., 1::2] * sin
    out[..., 1::2] = out[..., 0::2] * sin + out[..., 1::2] * cos
    return out

# %% [right] every_number_with_its_partner | cos times the vector plus sin times its partner: partners by flipping pairs, angles repeated for both of a pair, in double precision.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"a vector of width {d} cannot be cut into pairs")
    speeds = torch.tensor([float(base) ** (-2 * (k // 2) / d) for k in range(d)], dtype=torch.float64, device=vectors.device)
    angles = positions.to(torch.float64).unsqueeze(-1) * speeds  # each angle twice
    signs = torch.tensor([-1.0, 1.0], dtype=torch.float64, device=vectors.device).repeat(d // 2)
    exact = vectors.to(torch.float64)
    partners = exact.unflatten(-1, (d // 2, 2)).flip(-1).flatten(-2) * signs
    return (exact * torch.cos(angles) + partners * torch.sin(angles)).to(vectors.dtype)
