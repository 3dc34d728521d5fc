# %% [wrong] columns_first | The first half is turned by the column and the last half by the row. The text has the row first; in the middle of the diagonal nothing shows.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(first, columns, base), rotate(last, rows, base)], dim=-1)

# %% [wrong] base_not_handed_on | The base is taken and never handed on to rotate, which uses 10000 always. With the default all is right; with another base the slower pairs turn at wrong speeds.
def rotate_2d(vectors, rows, columns, base=10000.0):
    half = vectors.shape[-1] // 2
    by_row = rotate(vectors[..., :half], rows)
    by_column = rotate(vectors[..., half:], columns)
    return torch.cat((by_row, by_column), -1)

# %% [wrong] every_second_number | The even dimensions are turned by the row and the odd ones by the column, and put back where they were. The halves should be the first d/2 and the last d/2 dimensions.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn half of the dimensions by the row, half by the column."""
    out = torch.empty_like(vectors)
    out[..., 0::2] = rotate(vectors[..., 0::2], rows, base)
    out[..., 1::2] = rotate(vectors[..., 1::2], columns, base)
    return out

# %% [wrong] turned_twice_as_a_whole | The whole vector is turned by the row and then once more by the column. Two turns add up, so only row + column is left: the patch to the right cannot be told from the patch below.
def rotate_2d(vectors, rows, columns, base=10000.0):
    return rotate(rotate(vectors, rows, base), columns, base)

# %% [wrong] speeds_of_the_whole_width | The speeds are those of a vector of width d, and the first half of them is used for rows, the second half for columns. Each half should turn as a vector of width d/2 does; here rows turn too fast and columns hardly at all.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    speeds = base ** (-torch.arange(0, d, 2, device=vectors.device) / d)     # d/2 of them
    fast, slow = speeds.chunk(2)
    angles = torch.cat([rows[:, None] * fast, columns[:, None] * slow], dim=-1)
    cos, sin = angles.cos(), angles.sin()
    x, y = vectors[..., 0::2], vectors[..., 1::2]
    turned = torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)
    return turned.to(vectors.dtype)

# %% [right] both_halves_as_complex_numbers | Does without rotate: one table of angles for both halves, and each pair is a complex number that is multiplied by its turn.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    quarter = vectors.shape[-1] // 4
    exact = torch.promote_types(vectors.dtype, torch.float32)
    speeds = base ** -(torch.arange(quarter, device=vectors.device, dtype=exact) / quarter)
    places = torch.stack([rows, columns], dim=-1).to(exact)  # (n, 2)
    angles = (places.unsqueeze(-1) * speeds).flatten(-2)  # (n, d/2): the row's, then the column's
    arrows = torch.complex(vectors[..., 0::2].to(exact), vectors[..., 1::2].to(exact))
    turned = arrows * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).reshape(vectors.shape).to(vectors.dtype)
