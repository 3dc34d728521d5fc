# %% [right] stacked_halves_at_once | right
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = torch.stack(vectors.chunk(2, -1))
    places = torch.stack([rows, columns])
    while places.ndim < halves.ndim - 1:
        places = places.unsqueeze(1)
    places = places.expand(halves.shape[:-1])
    turned = rotate(halves, places, base)
    return torch.cat([turned[0], turned[1]], dim=-1)

# %% [wrong] base_not_handed_on | The base is not handed on to rotate, which takes its default.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(first, rows), rotate(last, columns)], dim=-1)

# %% [wrong] rows_and_columns_swapped | The first half is turned by the column and the last half by the row.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(first, columns, base), rotate(last, rows, base)], dim=-1)

# %% [wrong] interleaved_halves | Even dimensions go with the row and odd ones with the column, not the first and the last half.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    by_row = rotate(vectors[..., 0::2], rows, base)
    by_column = rotate(vectors[..., 1::2], columns, base)
    return torch.stack([by_row, by_column], dim=-1).flatten(-2)

# %% [wrong] turned_by_both | The whole vector is turned by the row and then by the column, so only their sum counts.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    return rotate(rotate(vectors, rows, base), columns, base)

# %% [wrong] speeds_of_full_width | The full vector is turned and then cut in half, so the halves have the speeds of width d and not of width d/2.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    by_row = rotate(vectors, rows, base)[..., :half]
    by_column = rotate(vectors, columns, base)[..., half:]
    return torch.cat([by_row, by_column], dim=-1)

# %% [wrong] stacked_not_joined | The halves are joined with stack and flattened in the wrong order, so their dimensions alternate.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.chunk(2, dim=-1)
    return torch.stack([rotate(first, rows, base), rotate(last, columns, base)], dim=-1).flatten(-2)

# %% [wrong] result_thrown_away | The turned last half is not assigned (rotate returns a new tensor), so the columns do nothing.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    first, last = vectors.split(half, dim=-1)
    first = rotate(first, rows, base)
    rotate(last, columns, base)
    return torch.cat([first, last], dim=-1)

# %% [wrong] place_number | Rows and columns are turned into one number (3 * row + column) that turns both halves.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.chunk(2, dim=-1)
    place = rows * (columns.max() + 1) + columns
    return torch.cat([rotate(first, place, base), rotate(last, place, base)], dim=-1)
