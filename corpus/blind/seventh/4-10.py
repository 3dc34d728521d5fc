# %% [wrong] first_is_already_turned | The slices are views into the copy: after the first line x shows the turned numbers, and the second line computes with these. Both results must be made before anything is written.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("d must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angle = (positions[..., None] * speeds).to(vectors.dtype)
    out = vectors.clone()
    x, y = out[..., 0::2], out[..., 1::2]
    out[..., 0::2] = x * angle.cos() - y * angle.sin()
    out[..., 1::2] = x * angle.sin() + y * angle.cos()
    return out

# %% [wrong] half_the_exponent | The exponent is −i/d with i = 0, 1, …, d/2 − 1 in place of −2i/d, so all pairs but the first turn too fast; for [1, 0, 0, 2] the second speed is 0.1 instead of 0.01.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2 == 1:
        raise ValueError(f"width {d} is odd")
    i = torch.arange(d // 2, device=vectors.device)
    theta = base ** (-i / d)
    angle = positions[..., None] * theta
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    turned = torch.stack([x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()], dim=-1)
    return turned.flatten(-2).to(vectors.dtype)

# %% [wrong] dtype_of_the_angles | The result is not brought back to the dtype of the vectors: the angles are float32, so float16 or bfloat16 vectors come back as float32. A final .to(vectors.dtype) is missing.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angle = positions[..., None] * speeds
    c, s = torch.cos(angle), torch.sin(angle)
    first = vectors[..., 0::2] * c - vectors[..., 1::2] * s
    second = vectors[..., 0::2] * s + vectors[..., 1::2] * c
    return torch.stack([first, second], dim=-1).flatten(-2)

# %% [wrong] one_row_of_positions | positions[:, None] puts the new axis behind the first one; for positions (..., n), one for each vector, the angles have the wrong shape. It should be positions[..., None].
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError("the width must be even")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angles = positions[:, None] * speeds
    cos, sin = angles.cos(), angles.sin()
    x, y = vectors[..., ::2], vectors[..., 1::2]
    out = torch.stack((x * cos - y * sin, x * sin + y * cos), dim=-1).flatten(-2)
    return out.to(vectors.dtype)

# %% [wrong] turned_backwards | The signs of the sines are exchanged, so the pairs turn clockwise, by −p·θ; scores of two such vectors agree, but the vector at place 3 is not the expected one.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    width = vectors.shape[-1]
    if width % 2 != 0:
        raise ValueError("pairs need an even width")
    exponents = -torch.arange(0, width, 2, device=vectors.device) / width
    phi = positions.unsqueeze(-1) * base**exponents
    x, y = vectors.unflatten(-1, (-1, 2)).unbind(-1)
    turned = torch.stack([x * phi.cos() + y * phi.sin(), y * phi.cos() - x * phi.sin()], dim=-1)
    return turned.flatten(-2).to(vectors.dtype)

# %% [wrong] all_firsts_then_all_seconds | The turned partners are joined with torch.cat, all firsts before all seconds; they must stand beside each other again, as stack and flatten do.
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)
    angle = positions[..., None] * speeds
    even, odd = vectors[..., 0::2], vectors[..., 1::2]
    real = even * angle.cos() - odd * angle.sin()
    imag = even * angle.sin() + odd * angle.cos()
    return torch.cat([real, imag], dim=-1).to(vectors.dtype)

# %% [right] a_matrix_for_each_pair | a 2 × 2 rotation matrix for each place and pair, applied by one einsum, in float32 at least
def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"a vector of {d} numbers cannot be cut into pairs")
    wide = torch.promote_types(vectors.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, dtype=wide, device=vectors.device) / d)
    angle = positions.to(device=vectors.device, dtype=wide).unsqueeze(-1) * speeds
    cos, sin = angle.cos(), angle.sin()
    turn = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)  # (..., n, d/2, 2, 2)
    pairs = vectors.to(wide).unflatten(-1, (-1, 2))
    return torch.einsum("...ij,...j->...i", turn, pairs).flatten(-2).to(vectors.dtype)
