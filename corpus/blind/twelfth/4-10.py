# %% [wrong] halves_paired | pairs dimension i with i + d/2 (the other convention, found in many programs) instead of neighbours 2i and 2i + 1: scores have the same properties, but the vectors are others
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"the width {d} is odd")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    cos, sin = torch.cat([angles, angles], -1).cos(), torch.cat([angles, angles], -1).sin()
    x1, x2 = vectors.chunk(2, dim=-1)
    turned = torch.cat([-x2, x1], dim=-1)
    return (vectors * cos + turned * sin).to(vectors.dtype)


# %% [wrong] first_overwritten | writes the new first numbers into the buffer that the old ones are a view of, so the second numbers are computed from the turned first: lengths are not kept any more
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.size(-1)
    if d % 2 == 1:
        raise ValueError("d must be even")
    pair = torch.arange(d // 2, device=vectors.device)
    theta = positions.unsqueeze(-1) * base ** (-2 * pair / d)
    cos, sin = theta.cos().to(vectors.dtype), theta.sin().to(vectors.dtype)
    out = vectors.clone()
    x, y = out[..., 0::2], out[..., 1::2]
    out[..., 0::2] = x * cos - y * sin
    out[..., 1::2] = x * sin + y * cos
    return out


# %% [wrong] outer_product | torch.outer takes vectors only: positions (n,) are fine, but positions (..., n), one for each vector, which the text allows, raise a RuntimeError
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    if vectors.shape[-1] % 2 != 0:
        raise ValueError("odd width")
    half = vectors.shape[-1] // 2
    speeds = torch.tensor([base ** (-i / half) for i in range(half)], device=vectors.device)
    angles = torch.outer(positions.float(), speeds)
    rotation = torch.stack([angles.cos(), -angles.sin(), angles.sin(), angles.cos()], -1).unflatten(-1, (2, 2))
    pairs = vectors.unflatten(-1, (half, 2)).unsqueeze(-1)
    return (rotation.to(vectors.dtype) @ pairs).flatten(-3)


# %% [wrong] speeds_counted_twice | arange(0, d, 2) already holds 2i, and the exponent multiplies by 2 again: pair i turns at base^(-4i/d), so all pairs but the first are too slow
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width has to be even")
    exponents = -2 * torch.arange(0, d, 2, device=vectors.device, dtype=torch.float32) / d
    angle = positions[..., None] * torch.pow(base, exponents)
    x, y = vectors[..., ::2], vectors[..., 1::2]
    first = x * angle.cos() - y * angle.sin()
    second = x * angle.sin() + y * angle.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(vectors.dtype)


# %% [wrong] odd_width_unchecked | the ValueError for an odd width is missing: the complex view fails with a RuntimeError of PyTorch's instead
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = (positions[..., None] * speeds).float()
    turn = torch.polar(torch.ones_like(angles), angles)
    arrows = torch.view_as_complex(vectors.float().reshape(*vectors.shape[:-1], -1, 2))
    return torch.view_as_real(arrows * turn).flatten(-2).to(vectors.dtype)


# %% [right] complex_exponential | pairs as complex numbers in double precision, turned by exp(i angle), and back to the dtype of the vectors
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    half, odd = divmod(vectors.shape[-1], 2)
    if odd:
        raise ValueError(f"rotary positions need an even width, not {vectors.shape[-1]}")
    speeds = torch.tensor([base ** (-i / half) for i in range(half)], dtype=torch.float64, device=vectors.device)
    angles = positions.to(vectors.device).double().unsqueeze(-1) * speeds
    arrows = torch.complex(vectors[..., 0::2].double(), vectors[..., 1::2].double()) * torch.exp(1j * angles)
    return torch.stack((arrows.real, arrows.imag), dim=-1).flatten(-2).to(vectors.dtype)
