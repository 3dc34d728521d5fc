# %% [wrong] all_firsts_before_all_seconds | The neighbours are turned rightly, but then all first numbers are put before all second ones. Each pair has to go back to the places it came from, 2i and 2i + 1: stack and flatten instead of cat.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[..., None] * speeds
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    return torch.cat([x * cos - y * sin, x * sin + y * cos], dim=-1)


# %% [wrong] exponent_lacks_the_factor_two | The exponent is -i/d in place of -2i/d for pair i, so all pairs but the first turn too fast. Pair i has the speed base to the power of -2i/d.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    if vectors.shape[-1] % 2 != 0:
        raise ValueError(f"width {vectors.shape[-1]} is odd")
    d = vectors.shape[-1]
    turned = torch.empty_like(vectors)
    for pair in range(d // 2):
        angle = positions * base ** (-pair / d)
        cosine, sine = torch.cos(angle).to(vectors.dtype), torch.sin(angle).to(vectors.dtype)
        x, y = vectors[..., 2 * pair], vectors[..., 2 * pair + 1]
        turned[..., 2 * pair] = x * cosine - y * sine
        turned[..., 2 * pair + 1] = x * sine + y * cosine
    return turned
