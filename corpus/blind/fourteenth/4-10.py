# %% [wrong] half_of_the_exponent | The speed of pair i is base^(−i/d) and not base^(−2i/d): the 2 is missing, and all pairs but the first turn too fast.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"an odd width, {d}, has no pairs")
    pair = torch.arange(d // 2, device=vectors.device, dtype=torch.float64)
    speeds = base ** (-pair / d)
    angles = positions[..., None].to(torch.float64) * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)
