# %% [wrong] rows_and_columns_swapped | The first half is turned by the column and the last half by the row.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    first, last = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(first, columns, base), rotate(last, rows, base)], dim=-1)
# %% [wrong] base_not_handed_on | The base is not handed on, so rotate uses its own.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    first, last = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(first, rows), rotate(last, columns)], dim=-1)
# %% [wrong] turned_twice | The whole vector is turned by the row and again by the column.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    return rotate(rotate(vectors, rows, base), columns, base)
# %% [wrong] interleaved | The halves are interleaved when they are put together, where they belong behind each other.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    first, last = vectors.chunk(2, dim=-1)
    turned = torch.stack([rotate(first, rows, base), rotate(last, columns, base)], dim=-1)
    return turned.flatten(-2)
# %% [wrong] only_the_rows | Only the first half is turned; the last half is put back as it was.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    first, last = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(first, rows, base), last], dim=-1)
# %% [wrong] halves_added | The two halves are added up, so the width is halved.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    half = vectors.shape[-1] // 2
    return rotate(vectors[..., :half], rows, base) + rotate(vectors[..., half:], columns, base)
# %% [wrong] cut_along_the_patches | The vectors are cut along the axis of the patches, not along the width.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    first, last = vectors.chunk(2, dim=-2)
    n = first.shape[-2]
    return torch.cat([rotate(first, rows[:n], base), rotate(last, columns[n:], base)], dim=-2)
# %% [wrong] speeds_of_the_whole_width | The speeds are those of the whole width: each half has to be turned like a vector of width d/2.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    d = vectors.shape[-1]
    by_row = rotate(vectors, rows, base)
    by_column = rotate(vectors, columns, base)
    return torch.cat([by_row[..., : d // 2], by_column[..., d // 2 :]], dim=-1)
# %% [wrong] every_other_pair | Even dimensions are turned by the row and odd ones by the column, not first and last half.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    out = torch.empty_like(vectors)
    out[..., 0::2] = rotate(vectors[..., 0::2], rows, base)
    out[..., 1::2] = rotate(vectors[..., 1::2], columns, base)
    return out
# %% [right] one_call | Puts both halves on an axis of their own, and rotates them in one call with stacked places.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    halves = torch.stack(vectors.tensor_split(2, dim=-1), dim=-3)
    places = torch.stack([rows, columns])
    return torch.cat(rotate(halves, places, base=base).unbind(-3), dim=-1)
# %% [right] filled_in | Writes the two turned halves into an empty tensor.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first half of the dimensions by the row, the last half by the column."""
    middle = vectors.size(-1) // 2
    turned = torch.zeros_like(vectors)
    for part, place in ((slice(None, middle), rows), (slice(middle, None), columns)):
        turned[..., part] = rotate(vectors[..., part], place, base)
    return turned
