# %% [wrong] partners_half_a_width_apart | Dimension i is paired with i + d/2 (chunk), as other programs do; it should be neighbours, 2i with 2i + 1. Scores have the same properties, the numbers are others.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"the width {d} is odd")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors.chunk(2, dim=-1)
    return torch.cat([x * cos - y * sin, x * sin + y * cos], dim=-1)

# %% [wrong] overwritten_halfway | The first numbers of the pairs are overwritten before the second ones are computed from them; both lines should read the numbers from before. The second number of each pair is wrong, and lengths change.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 == 1:
        raise ValueError("d must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = (wave.to(vectors.dtype) for wave in (angles.cos(), angles.sin()))
    shape = torch.broadcast_shapes(vectors.shape, (*angles.shape[:-1], d))
    turned = vectors.expand(shape).clone()
    x, y = turned[..., 0::2], turned[..., 1::2]
    turned[..., 0::2] = x * cos - y * sin
    turned[..., 1::2] = x * sin + y * cos
    return turned

# %% [wrong] one_row_of_positions | The angles are made with torch.outer, which takes (n,) alone; positions may be (..., n), too. A position for each vector of a batch raises an error.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = torch.outer(positions.to(speeds.dtype), speeds)
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)

# %% [wrong] whole_places_only | The positions are turned into whole numbers (long) first; fractions are allowed. A place 1.5 is taken for 1.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"pairs need an even width, not {d}")
    pair = torch.arange(d // 2, device=vectors.device)
    angles = positions.long()[..., None] * base ** (-2 * pair / d)
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    first, second = vectors.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([first * cos - second * sin, first * sin + second * cos], -1).flatten(-2)

# %% [wrong] always_float32 | The vectors are cast to float32 for the turn, and not cast back; the result should have the dtype of the vectors. float16 and float64 come back as float32.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device).float() / d)
    angles = positions.float().unsqueeze(-1) * speeds
    x, y = vectors.float().unflatten(-1, (-1, 2)).unbind(-1)
    turned = x * angles.cos() - y * angles.sin(), x * angles.sin() + y * angles.cos()
    return torch.stack(turned, dim=-1).flatten(-2)

# %% [wrong] half_the_exponent | The exponent is −i/d for pair i; it should be −2i/d. The last pairs turn far too fast: with d = 4 the second speed is 0.1 in place of 0.01.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("d is odd")
    i = torch.arange(d // 2, device=vectors.device)
    theta = base ** (-i / d)
    angle = positions[..., None] * theta
    cos, sin = angle.cos().to(vectors.dtype), angle.sin().to(vectors.dtype)
    even, odd = vectors[..., ::2], vectors[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

# %% [right] small_matrices | Each pair is multiplied by its own 2×2 rotation matrix; computed in float32 at least, and cast back at the end.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"neighbours form pairs, and {d} numbers leave one alone")
    wide = torch.promote_types(vectors.dtype, torch.float32)
    pair = torch.arange(d // 2, device=vectors.device, dtype=wide)
    angle = positions.to(device=vectors.device, dtype=wide).unsqueeze(-1) * base ** (-2 * pair / d)
    cos, sin = angle.cos(), angle.sin()
    turn = torch.stack([torch.stack([cos, -sin], dim=-1), torch.stack([sin, cos], dim=-1)], dim=-2)  # (..., 2, 2)
    arrows = vectors.to(wide).unflatten(-1, (d // 2, 2)).unsqueeze(-1)
    return (turn * arrows.transpose(-2, -1)).sum(-1).flatten(-2).to(vectors.dtype)
