# %% [wrong] speeds_of_the_whole_width | The whole vector is turned by the row and by the column, and a half is taken of each; the speeds are then those of width d and, in the second half, the slow ones. Each half must be turned as a vector of width d/2.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    by_row = rotate(vectors, rows, base)
    by_column = rotate(vectors, columns, base)
    return torch.cat([by_row[..., :half], by_column[..., half:]], dim=-1)

# %% [wrong] every_second_dimension | The even dimensions are turned by the row and the odd ones by the column; the first half belongs to the row and the last half to the column.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    out = torch.empty_like(vectors)
    out[..., 0::2] = rotate(vectors[..., 0::2], rows, base)
    out[..., 1::2] = rotate(vectors[..., 1::2], columns, base)
    return out

# %% [wrong] base_left_behind | base is not handed on to rotate, so it always turns with 10000; with another base the result does not change.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    top, bottom = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(top, rows), rotate(bottom, columns)], dim=-1)

# %% [wrong] chunks_of_the_first_axis | chunk(2) without dim cuts the first axis, the patches or the batch, and not the features; shapes then do not fit the positions, dim=-1 is missing.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.chunk(2)
    return torch.cat([rotate(first, rows, base), rotate(last, columns, base)], dim=-1)

# %% [wrong] row_plus_column | The whole vector is turned by row + column, so all patches of a diagonal look alike; each half needs its own place.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    # rotating by one angle and then by another adds the angles
    return rotate(vectors, rows + columns, base)

# %% [wrong] halves_interleaved | The two turned halves are joined with stack and flatten, so their numbers alternate; here they must stand one behind the other, torch.cat.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    a, b = vectors.chunk(2, dim=-1)
    a = rotate(a, rows, base)
    b = rotate(b, columns, base)
    return torch.stack([a, b], dim=-1).flatten(-2)

# %% [right] places_stacked | both halves become an axis of their own, and one call of rotate gets rows and columns as positions
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, -1)).movedim(-2, -3)  # (..., 2, n, d/2)
    turned = rotate(halves, torch.stack([rows, columns]), base)
    return turned.movedim(-3, -2).flatten(-2)
