# %% [right] complex_numbers | right
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 == 1:
        raise ValueError(f"the width {d} is odd")
    speeds = torch.tensor(base, dtype=torch.float64) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = positions.to(torch.float64).unsqueeze(-1) * speeds.to(positions.device)
    arrows = torch.view_as_complex(vectors.double().reshape(*vectors.shape[:-1], d // 2, 2).contiguous())
    turned = arrows * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).to(vectors.dtype)

# %% [wrong] cat_instead_of_stack | All first partners are put before all second ones (cat), so the pairs are not interleaved again.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.cat([x * cos - y * sin, x * sin + y * cos], dim=-1)

# %% [wrong] halves_as_pairs | Dimension i is paired with i + d/2 instead of its neighbour.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., : d // 2], vectors[..., d // 2 :]
    return torch.cat([x * cos - y * sin, x * sin + y * cos], dim=-1)

# %% [wrong] turned_backwards | The sign of the sine is the wrong way round: the pairs turn backwards.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * cos + y * sin, y * cos - x * sin], dim=-1).flatten(-2)

# %% [wrong] exponent_without_two | The exponent is -i/d instead of -2i/d: arange(d/2) is divided by d.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(d // 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)

# %% [wrong] speeds_grow | The minus of the exponent is missing, so later pairs turn faster and faster.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)

# %% [wrong] no_error_for_odd | There is no check of the width: an odd width fails with another error or none.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)

# %% [wrong] base_ignored | 10000 is written into the code, so the argument base does nothing.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = 10000.0 ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)

# %% [wrong] overwritten_x | x is overwritten before y is computed, so the second component uses the turned x.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    x = x * cos - y * sin
    y = x * sin + y * cos
    return torch.stack([x, y], dim=-1).flatten(-2)

# %% [wrong] written_into_vectors | The turned pairs are written into the vectors that were handed in.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first, second = x * cos - y * sin, x * sin + y * cos
    vectors[..., 0::2] = first
    vectors[..., 1::2] = second
    return vectors

# %% [wrong] dtype_not_kept | The result is computed in float64 and not brought back to the dtype of the vectors.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions.unsqueeze(-1) * speeds
    cos, sin = angles.double().cos(), angles.double().sin()
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)

# %% [wrong] positions_from_arange | The positions argument is ignored: the vectors are numbered 0 to n - 1.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = torch.arange(vectors.shape[-2], device=vectors.device).unsqueeze(-1) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)
