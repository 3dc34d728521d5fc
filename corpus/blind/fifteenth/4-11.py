# %% [wrong] base_not_handed_on | The base is not handed on to rotate, so that any other base than 10000 has no effect. Call rotate(half, places, base).
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    upper, lower = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(upper, rows), rotate(lower, columns)], dim=-1)


# %% [wrong] speeds_of_the_full_width | The whole vector is turned by the row and once more by the column, and a half is cut out of each, so the speeds are those of width d. Each half has to be turned as a vector of width d/2, and its speeds begin at 1 again.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    by_row = rotate(vectors, rows, base=base)
    by_column = rotate(vectors, columns, base=base)
    result = by_row.clone()
    result[..., half:] = by_column[..., half:]
    return result
