# %% [wrong] base_not_handed_on | the base is not given to rotate, which then takes 10,000 whatever was asked for
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(first, rows), rotate(last, columns)], dim=-1)

# %% [wrong] columns_first | the first half is turned by the column and the last half by the row; it should be the other way round
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    a = rotate(vectors[..., :half], columns, base)
    b = rotate(vectors[..., half:], rows, base)
    return torch.cat((a, b), -1)

# %% [wrong] turned_twice | the whole vector is turned by the row and then by the column, which is one turn by row + column; each half should get its own
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    return rotate(rotate(vectors, rows, base), columns, base)

# %% [wrong] speeds_of_the_whole | the whole vector is turned by row and by column and half of each is kept, so the speeds are those of width d: the last half goes on with the slow ones (0.01 in the example, not 1)
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    by_row = rotate(vectors, rows, base)[..., :half]
    by_column = rotate(vectors, columns, base)[..., half:]
    return torch.cat([by_row, by_column], dim=-1)

# %% [wrong] alternating_halves | even dimensions are taken for the row and odd ones for the column, in place of the first and the last half
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    out = torch.empty_like(vectors)
    out[..., 0::2] = rotate(vectors[..., 0::2], rows, base)
    out[..., 1::2] = rotate(vectors[..., 1::2], columns, base)
    return out

# %% [wrong] chunked_on_patches | chunk without dim cuts axis 0 (the patches, or the batch) into halves and not the dimensions; the halves no longer fit the places
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    upper, lower = vectors.chunk(2)
    return torch.cat([rotate(upper, rows, base), rotate(lower, columns, base)])

# %% [right] halves_as_an_axis | the halves get an axis of their own in front of the patches, and one call of rotate turns both with places (2, n)
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, -1)).movedim(-2, -3)
    turned = rotate(halves, torch.stack([rows, columns]), base)
    return turned.movedim(-3, -2).flatten(-2)
