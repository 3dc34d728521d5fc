# %% [wrong] halves_paired | Pairs dimension i with i + d/2, the other convention, where neighbours are asked for.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("d is odd")
    speeds = base ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([x * cos - y * sin, x * sin + y * cos], dim=-1).to(vectors.dtype)
# %% [wrong] cat_not_stack | The turned pairs are put together with cat: all firsts stand before all seconds, not beside their partners.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"the width {d} is odd")
    speeds = base ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * torch.cos(angles) - y * torch.sin(angles)
    second = x * torch.sin(angles) + y * torch.cos(angles)
    return torch.cat([first, second], dim=-1).to(vectors.dtype)
# %% [wrong] other_direction | The signs of the sines are exchanged: the pairs turn the other way round.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"the width {d} is odd")
    speeds = base ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * angles.cos() + y * angles.sin()
    second = y * angles.cos() - x * angles.sin()
    return torch.stack([first, second], dim=-1).flatten(-2).to(vectors.dtype)
# %% [wrong] both_signs_minus | Both lines have a minus: the second one must add, so this is no rotation.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"the width {d} is odd")
    speeds = base ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * angles.cos() - y * angles.sin()
    second = x * angles.sin() - y * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(vectors.dtype)
# %% [wrong] overwritten_x | x is overwritten with its turned value before y is computed from it.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"the width {d} is odd")
    speeds = base ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    x = x * angles.cos() - y * angles.sin()
    y = x * angles.sin() + y * angles.cos()
    return torch.stack([x, y], dim=-1).flatten(-2).to(vectors.dtype)
# %% [wrong] exponent_without_2 | The exponent is −i/d, the factor 2 is missing, so the pairs turn too fast.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"the width {d} is odd")
    i = torch.arange(d // 2, device=vectors.device)
    speeds = base ** (-i / d)
    angles = positions[..., None] * speeds
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * angles.cos() - y * angles.sin()
    second = x * angles.sin() + y * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(vectors.dtype)
# %% [wrong] exponent_positive | The minus of the exponent is missing: later pairs turn faster and not slower.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"the width {d} is odd")
    speeds = base ** (2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * angles.cos() - y * angles.sin()
    second = x * angles.sin() + y * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(vectors.dtype)
# %% [wrong] base_ignored | The base is written as 10000 and the argument is not used.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"the width {d} is odd")
    speeds = 10000.0 ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * angles.cos() - y * angles.sin()
    second = x * angles.sin() + y * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(vectors.dtype)
# %% [wrong] no_error | An odd width raises no ValueError of its own.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    speeds = base ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * angles.cos() - y * angles.sin()
    second = x * angles.sin() + y * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(vectors.dtype)
# %% [wrong] positions_not_unsqueezed | The positions have no axis for the pairs, so they are multiplied with the speeds one by one.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"the width {d} is odd")
    speeds = base ** (-2 * torch.arange(d // 2, device=vectors.device) / d)
    angles = positions * speeds
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * angles.cos() - y * angles.sin()
    second = x * angles.sin() + y * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(vectors.dtype)
# %% [wrong] one_speed | All pairs turn by the position itself: the speeds are left out.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    if vectors.shape[-1] % 2 != 0:
        raise ValueError("odd width")
    angles = positions[..., None].to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    first = x * angles.cos() - y * angles.sin()
    second = x * angles.sin() + y * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2)
# %% [right] complex_numbers | Takes each pair as a complex number and multiplies it by e to the i times the angle, in float64.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    *_, width = vectors.shape
    if width & 1:
        raise ValueError(f"cannot pair {width} dimensions")
    exponent = torch.arange(0, width, 2, dtype=torch.float64, device=vectors.device) / width
    angle = positions.double().unsqueeze(-1) / base**exponent
    pairs = torch.view_as_complex(vectors.double().unflatten(-1, (-1, 2)).contiguous())
    turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle))
    return turned.flatten(-2).to(vectors.dtype)
# %% [right] whole_width | Repeats the angles for both partners and adds the partner with its sign, without cutting the vector up.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) by position · base^(−2i/d)."""
    d = vectors.size(-1)
    if d % 2 == 1:
        raise ValueError("The width must be even.")
    index = torch.arange(d, device=vectors.device)
    speed = torch.pow(torch.tensor(base, dtype=torch.float64, device=vectors.device), -(index - index % 2) / d)
    angle = positions.to(torch.float64)[..., None] * speed
    sign = torch.where(index % 2 == 0, -1.0, 1.0)
    partner = vectors[..., index ^ 1] * sign
    return (vectors * angle.cos() + partner * angle.sin()).to(vectors.dtype)
