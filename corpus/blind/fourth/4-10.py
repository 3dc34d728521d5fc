# %% [wrong] halves_are_pairs | Pairs dimension i with i + d/2, as other programs do; here neighbours form a pair.
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angle = positions[..., None] * speeds
    x, y = vectors.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([x * cos - y * sin, x * sin + y * cos], dim=-1).to(vectors.dtype)


# %% [wrong] firsts_before_seconds | The turned pairs are joined with `cat`: all firsts stand before all seconds, and partners are no longer neighbours.
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"d = {d} is odd")
    i = torch.arange(d // 2, device=vectors.device)
    angles = positions.unsqueeze(-1) * base ** (-2 * i / d)
    a, b = vectors[..., 0::2], vectors[..., 1::2]
    first = a * torch.cos(angles) - b * torch.sin(angles)
    second = a * torch.sin(angles) + b * torch.cos(angles)
    return torch.cat([first, second], dim=-1).to(vectors.dtype)


# %% [wrong] slower_by_half | The exponent is −i/d and not −2i/d: all pairs but the first turn too fast.
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("d must be even")
    speeds = base ** -(torch.arange(d // 2, device=vectors.device) / d)
    theta = positions[..., None] * speeds
    x, y = vectors[..., ::2], vectors[..., 1::2]
    out = torch.stack([x * theta.cos() - y * theta.sin(), x * theta.sin() + y * theta.cos()], -1)
    return out.flatten(-2).to(vectors.dtype)


# %% [wrong] partner_already_turned | Turns in place: the second of a pair is computed from the first one that has been overwritten.
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(d)
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angle = (positions[..., None] * speeds).to(vectors.dtype)
    out = vectors.clone()
    out[..., 0::2] = out[..., 0::2] * angle.cos() - out[..., 1::2] * angle.sin()
    out[..., 1::2] = out[..., 0::2] * angle.sin() + out[..., 1::2] * angle.cos()
    return out


# %% [wrong] odd_width_unchecked | An odd width raises no ValueError, but an error about shapes from somewhere inside.
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    even, odd = vectors[..., 0::2], vectors[..., 1::2]
    turned = torch.stack(
        [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(vectors.dtype)


# %% [wrong] turned_backwards | The signs of the sine are exchanged: every arrow turns the other way.
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2 == 1:
        raise ValueError("need pairs")
    theta = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    a = positions[..., None] * theta
    c, s = a.cos(), a.sin()
    x, y = vectors.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((x * c + y * s, y * c - x * s), -1).flatten(-2).to(vectors.dtype)


# %% [right] matrix_per_pair | Builds the 2 × 2 matrix of every turn and multiplies each pair with it by einsum.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"a vector of width {d} does not fall into pairs")
    pair = torch.arange(d // 2, device=vectors.device, dtype=torch.float64)
    angle = positions.to(torch.float64).unsqueeze(-1) * float(base) ** (-2 * pair / d)
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], dim=-1).unflatten(-1, (2, 2))
    pairs = vectors.unflatten(-1, (d // 2, 2)).to(torch.float64)
    return torch.einsum("...ij,...j->...i", turn, pairs).flatten(-2).to(vectors.dtype)
