# %% [wrong] half_pairs | dimension i is paired with i + d/2 (the other convention), where neighbours 2i and 2i + 1 are asked
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("d must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors[..., : d // 2], vectors[..., d // 2 :]
    c, s = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    return torch.cat([x * c - y * s, x * s + y * c], dim=-1)

# %% [wrong] not_woven | the turned firsts and seconds are put together with cat, all firsts before all seconds, in place of being woven into neighbours again
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 == 1:
        raise ValueError(f"width {d} is odd")
    theta = base ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angle = positions.unsqueeze(-1) * theta
    cos, sin = angle.cos().to(vectors), angle.sin().to(vectors)
    even, odd = vectors[..., 0::2], vectors[..., 1::2]
    return torch.cat([even * cos - odd * sin, even * sin + odd * cos], -1)

# %% [wrong] speeds_too_slow | the exponent is −2·(2i)/d: arange already counts in steps of 2 and is doubled again, so from the second pair on the speeds are too small
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    width = vectors.shape[-1]
    if width % 2:
        raise ValueError("odd width")
    i = torch.arange(0, width, 2, device=vectors.device)
    speeds = base ** (-2 * i / width)
    turn = positions[..., None] * speeds
    c, s = turn.cos().to(vectors.dtype), turn.sin().to(vectors.dtype)
    a, b = vectors[..., ::2], vectors[..., 1::2]
    return torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2)

# %% [wrong] turned_backwards | the signs of the sines are exchanged, so every pair turns by −angle: [1, 0] at place 3 becomes [−0.990, −0.141]
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("d is odd")
    frequency = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    phi = positions[..., None] * frequency
    cos, sin = torch.cos(phi).to(vectors.dtype), torch.sin(phi).to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * cos + y * sin
    second = y * cos - x * sin
    return torch.stack((first, second), -1).flatten(-2)

# %% [wrong] overwritten_first | x is overwritten before y is computed from it, so the second of each pair uses the turned first: lengths are not kept
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError("need an even width")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    c, s = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    out = vectors.clone()
    out[..., 0::2] = out[..., 0::2] * c - out[..., 1::2] * s
    out[..., 1::2] = out[..., 0::2] * s + out[..., 1::2] * c
    return out

# %% [wrong] own_numbering | the positions argument is ignored: places are numbered 0…n−1 by the order in the tensor, so a vector handed in alone at place 3 is not turned
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    n, d = vectors.shape[-2:]
    if d % 2:
        raise ValueError("odd")
    pos = torch.arange(n, device=vectors.device)
    angles = pos[:, None] * base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)

# %% [right] quarter_turn_partner | each vector is mixed with its own quarter turn (−y, x), with cosines and sines repeated for both partners; the angles are made in float64
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    width = vectors.shape[-1]
    if width % 2:
        raise ValueError(f"{width} numbers cannot be put into pairs")
    pair = torch.arange(width, device=vectors.device).div(2, rounding_mode="floor").double()
    angles = positions.double().unsqueeze(-1) * base ** (-2 * pair / width)
    x, y = vectors.unflatten(-1, (-1, 2)).unbind(-1)
    quarter = torch.stack([-y, x], dim=-1).flatten(-2)
    return vectors * angles.cos().to(vectors.dtype) + quarter * angles.sin().to(vectors.dtype)
