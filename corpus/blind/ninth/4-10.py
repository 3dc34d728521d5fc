# %% [wrong] far_partners | Dimension i is paired with i + d/2. Here neighbours make a pair, 2i and 2i + 1. Lengths and distances behave as they should, but the numbers are those of the other convention.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = (positions[..., None] * speeds).to(vectors.dtype)
    x, y = vectors.chunk(2, dim=-1)
    return torch.cat([x * angles.cos() - y * angles.sin(), x * angles.sin() + y * angles.cos()], dim=-1)

# %% [wrong] outer_product_of_places | The angles are made with torch.outer, which takes plain vectors alone. Positions may be (..., n), one for each vector. With a batch of positions an error comes out.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 != 0:
        raise ValueError("the width must be even")
    inverse = 1.0 / base ** (torch.arange(0, d, 2, device=vectors.device).float() / d)
    angles = torch.outer(positions.float(), inverse)
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    even, odd = vectors[..., ::2], vectors[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

# %% [wrong] whole_numbers_for_speeds | The speeds are brought to the dtype of the positions. With whole positions all speeds below 1 become 0. Only the first pair turns.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d & 1:
        raise ValueError(f"an odd width: {d}")
    speeds = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)]).to(positions)
    angles = positions.unsqueeze(-1) * speeds
    c, s = torch.cos(angles), torch.sin(angles)
    pairs = vectors.unflatten(-1, (d // 2, 2))
    first, second = pairs.unbind(-1)
    turned = torch.stack((first * c - second * s, first * s + second * c), -1)
    return turned.flatten(-2).to(vectors.dtype)

# %% [wrong] second_made_from_the_turned_first | The first of each pair is turned and written back, and the second is made from it. Both should be made from the old numbers. The first is right, the second wrong, and lengths change.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 == 1:
        raise ValueError("d must be even")
    out = vectors.clone()
    theta = torch.pow(base, -torch.arange(0, d, 2, device=vectors.device) / d)
    angle = (positions[..., None] * theta).to(vectors.dtype)
    out[..., 0::2] = out[..., 0::2] * angle.cos() - out[..., 1::2] * angle.sin()
    out[..., 1::2] = out[..., 0::2] * angle.sin() + out[..., 1::2] * angle.cos()
    return out

# %% [wrong] speeds_to_the_very_end | The exponents go evenly from 0 to −1, both ends included, by linspace. The last pair should have −(d − 2)/d. All pairs but the first turn too slowly.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    *_, d = vectors.shape
    if d % 2:
        raise ValueError(f"width {d} cannot be paired")
    speeds = base ** torch.linspace(0, -1, d // 2, device=vectors.device)
    angles = positions[..., None] * speeds
    rotation = torch.stack(
        [torch.stack([angles.cos(), -angles.sin()], -1), torch.stack([angles.sin(), angles.cos()], -1)], -2
    ).to(vectors.dtype)
    return (rotation @ vectors.unflatten(-1, (-1, 2)).unsqueeze(-1)).squeeze(-1).flatten(-2)

# %% [wrong] odd_one_left_alone | With an odd width the last number is left as it is. A ValueError should be raised. An odd width goes through without a word.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    result = [None] * d
    for i in range(d // 2):
        angle = (positions * base ** (-2 * i / d)).to(vectors.dtype)
        x, y = vectors[..., 2 * i], vectors[..., 2 * i + 1]
        result[2 * i] = x * torch.cos(angle) - y * torch.sin(angle)
        result[2 * i + 1] = x * torch.sin(angle) + y * torch.cos(angle)
    if d % 2:
        result[-1] = vectors[..., -1]
    return torch.stack(result, dim=-1)

# %% [right] vector_plus_its_quarter_turn | x·cos + turned(x)·sin, with the quarter turn made by flipping each pair and changing a sign, and exponents from exp and log.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    import math

    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd, and numbers turn in pairs")
    steps = torch.arange(d // 2, device=vectors.device, dtype=torch.float64).repeat_interleave(2)
    angles = positions.to(torch.float64).unsqueeze(-1) * torch.exp(steps * (-2 * math.log(base) / d))
    quarter = vectors.unflatten(-1, (-1, 2)).flip(-1) * vectors.new_tensor([-1.0, 1.0])
    return vectors * angles.cos().to(vectors.dtype) + quarter.flatten(-2) * angles.sin().to(vectors.dtype)
