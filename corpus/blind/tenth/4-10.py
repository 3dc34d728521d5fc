# %% [wrong] halves_paired | Dimension i is paired with i + d/2, as LLaMA's code does. Here neighbours, 2i and 2i + 1, form a pair; for width 2 it is the same, for wider vectors it is not.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"the width {d} is odd")
    inv_freq = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * inv_freq
    cos = torch.cat([angles.cos(), angles.cos()], dim=-1)
    sin = torch.cat([angles.sin(), angles.sin()], dim=-1)
    x1, x2 = vectors.chunk(2, dim=-1)
    rotated = torch.cat([-x2, x1], dim=-1)
    return (vectors * cos + rotated * sin).to(vectors.dtype)

# %% [wrong] turned_the_other_way | The sines have the opposite signs, so each pair turns by −p · θ. Distances come out alike, but the vectors are not those of the formula.
def rotate(vectors, positions, base=10000.0):
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError("d must be even")
    theta = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], device=vectors.device)
    angle = positions.unsqueeze(-1) * theta
    x, y = vectors[..., ::2], vectors[..., 1::2]
    first = x * angle.cos() + y * angle.sin()
    second = -x * angle.sin() + y * angle.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(vectors.dtype)

# %% [wrong] first_overwritten_before_the_second | The turned x is written into the copy first, and the second line reads x from the same copy. So y is made of the new x; both have to be made of the old ones.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.size(-1)
    if d % 2 == 1:
        raise ValueError("odd width")
    i = torch.arange(d // 2, device=vectors.device)
    angles = positions[..., None] * torch.pow(torch.tensor(base, device=vectors.device), -2 * i / d)
    c, s = torch.cos(angles), torch.sin(angles)
    out = vectors.clone()
    out[..., 0::2] = out[..., 0::2] * c - out[..., 1::2] * s
    out[..., 1::2] = out[..., 0::2] * s + out[..., 1::2] * c
    return out

# %% [wrong] exponent_without_the_two | The speed of pair i is base^(−i/d); the 2 is missing. The first pair is right, and all others turn too fast.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d & 1:
        raise ValueError("The width of the vectors has to be even.")
    speeds = base ** (-torch.arange(d // 2, device=vectors.device).float() / d)
    angles = (positions[..., None] * speeds).float()
    turned = torch.view_as_complex(vectors.float().unflatten(-1, (-1, 2)).contiguous()) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).to(vectors.dtype)

# %% [wrong] assert_for_an_odd_width | An odd width is met by an assert, which raises an AssertionError. The text asks for a ValueError.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    assert d % 2 == 0, "d must be even"
    pairs = vectors.unflatten(-1, (d // 2, 2))
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    phi = positions[..., None] * speeds
    x, y = pairs.unbind(-1)
    turned = torch.stack((x * phi.cos() - y * phi.sin(), x * phi.sin() + y * phi.cos()), -1)
    return turned.flatten(-2).type_as(vectors)

# %% [right] small_matrices_of_rotation | A 2 × 2 matrix of rotation is made for each place and pair, in double precision, and multiplied onto the pairs by einsum.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    pairs, rest = divmod(vectors.shape[-1], 2)
    if rest:
        raise ValueError(f"vectors of odd width {vectors.shape[-1]} have no pairs")
    exponents = torch.arange(pairs, dtype=torch.float64, device=vectors.device) / max(pairs, 1)
    angles = positions.to(torch.float64).unsqueeze(-1) / float(base) ** exponents
    cos, sin = angles.cos(), angles.sin()
    matrices = torch.stack([cos, -sin, sin, cos], dim=-1).unflatten(-1, (2, 2))
    turned = torch.einsum("...ab,...b->...a", matrices, vectors.double().unflatten(-1, (pairs, 2)))
    return turned.flatten(-2).to(vectors.dtype)
