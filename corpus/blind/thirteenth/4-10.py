# %% [wrong] halves_paired | Pairs dimension i with i + d/2, the convention of other programs. The text pairs neighbours; weights trained with one do not fit the other.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"the width {d} is odd")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = (positions[..., None] * speeds).to(vectors.dtype)
    x, y = vectors.chunk(2, dim=-1)
    return torch.cat([x * angles.cos() - y * angles.sin(), x * angles.sin() + y * angles.cos()], dim=-1)


# %% [wrong] cat_instead_of_stack | The turned firsts and seconds of the neighbours are put behind each other with cat: all firsts stand before all seconds, the pairs are torn apart.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    if vectors.shape[-1] % 2 != 0:
        raise ValueError("odd width")
    d = vectors.shape[-1]
    i = torch.arange(d // 2, device=vectors.device)
    theta = positions.unsqueeze(-1) * base ** (-2 * i / d)
    cos, sin = theta.cos().to(vectors.dtype), theta.sin().to(vectors.dtype)
    first, second = vectors[..., ::2], vectors[..., 1::2]
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)


# %% [wrong] second_uses_turned_first | Writes the new first coordinate into the copy and computes the second from it: the y of each pair is made with the x that has been turned already, so lengths are not kept.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d & 1:
        raise ValueError("d must be even")
    out = vectors.clone()
    for i in range(d // 2):
        angle = positions * base ** (-2 * i / d)
        c, s = torch.cos(angle).to(vectors.dtype), torch.sin(angle).to(vectors.dtype)
        out[..., 2 * i] = out[..., 2 * i] * c - out[..., 2 * i + 1] * s
        out[..., 2 * i + 1] = out[..., 2 * i] * s + out[..., 2 * i + 1] * c
    return out


# %% [wrong] speed_exponent_half | The exponent is −i/d with i = 0, 1, 2, … instead of −2i/d: the speeds fall half as fast as they should. With one pair it does not show.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    n, d = vectors.shape[-2:]
    if d % 2 == 1:
        raise ValueError(f"{d} is odd")
    exponents = torch.arange(d // 2, device=vectors.device, dtype=torch.float64) / d
    angles = positions.to(torch.float64)[..., None] / base**exponents
    turns = torch.polar(torch.ones_like(angles), angles)
    arrows = torch.view_as_complex(vectors.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(arrows * turns).flatten(-2).to(vectors.dtype)


# %% [wrong] odd_width_padded | An odd width is filled up with a zero and cut off again at the end, instead of raising the ValueError that the text asks for.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        return rotate(F.pad(vectors, (0, 1)), positions, base)[..., :d]
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    c, s = angles.cos(), angles.sin()
    matrix = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2).to(vectors.dtype)
    return (matrix @ vectors.unflatten(-1, (-1, 2)).unsqueeze(-1)).squeeze(-1).flatten(-2)


# %% [right] cosine_plus_quarter_turn | x·cos + (x turned by 90°)·sin, where the quarter turn is a flip of each pair with a sign; angles are made in double precision and repeated for both partners.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"pairs need an even width, and this one is {d}")
    exponent = torch.arange(d // 2, device=vectors.device, dtype=torch.float64).repeat_interleave(2) * (-2 / d)
    angle = positions.to(vectors.device, torch.float64).unsqueeze(-1) * torch.pow(float(base), exponent)
    sign = torch.tensor([-1.0, 1.0], device=vectors.device, dtype=torch.float64)
    exact = vectors.double()
    quarter = (exact.unflatten(-1, (d // 2, 2)).flip(-1) * sign).flatten(-2)
    return (exact * angle.cos() + quarter * angle.sin()).to(vectors.dtype)
