# %% [wrong] row_and_column_exchanged | The first half is turned by the column and the last one by the row.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.chunk(2, dim=-1)
    turned = [rotate(half, place, base) for half, place in zip(halves, (columns, rows))]
    return torch.cat(turned, dim=-1)

# %% [wrong] base_forgotten | The base is not handed on to rotate, which takes 10000 whatever is asked for.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    return torch.cat([rotate(vectors[..., :half], rows), rotate(vectors[..., half:], columns)], dim=-1)

# %% [wrong] speeds_of_the_whole_width | Turns the whole vector by the row and by the column and takes a half of each: the speeds are those of width d, and those of the last half the slow ones.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    by_row = rotate(vectors, rows, base)
    by_column = rotate(vectors, columns, base)
    return torch.cat([by_row[..., : d // 2], by_column[..., d // 2 :]], dim=-1)

# %% [wrong] both_turns_on_everything | Turns all dimensions by the row and then by the column, which is a turn by their sum.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    return rotate(rotate(vectors, rows, base), columns, base)

# %% [wrong] chunks_of_the_places | chunk without dim cuts the first axis, the patches (or the batch), in place of the dimensions.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.chunk(2)
    return torch.cat([rotate(first, rows, base), rotate(last, columns, base)], dim=-1)

# %% [wrong] alternating_dimensions | Gives the even dimensions to the row and the odd ones to the column, in place of the first and the last half.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    by_row = rotate(vectors[..., 0::2], rows, base)
    by_column = rotate(vectors[..., 1::2], columns, base)
    return torch.stack([by_row, by_column], dim=-1).flatten(-2)

# %% [right] complex_numbers | Without rotate: both halves as complex numbers, multiplied by a phase that is made of rows and columns.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    speeds = base ** (-torch.arange(0, half, 2, dtype=torch.float64, device=vectors.device) / half)
    angles = torch.cat([rows[:, None] * speeds, columns[:, None] * speeds], dim=-1)  # (n, d/2)
    phase = torch.polar(torch.ones_like(angles), angles)
    arrows = torch.view_as_complex(vectors.double().unflatten(-1, (half, 2)).contiguous())
    return torch.view_as_real(arrows * phase).flatten(-2).to(vectors.dtype)
