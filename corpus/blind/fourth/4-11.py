# %% [wrong] halves_exchanged | The first half is turned by the column and the last one by the row.
def rotate_2d(vectors, rows, columns, base=10000.0):
    first, last = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(first, columns, base), rotate(last, rows, base)], dim=-1)


# %% [wrong] base_not_handed_on | The base is not handed on: `rotate` works with its default.
def rotate_2d(vectors, rows, columns, base=10000.0):
    a, b = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(a, rows), rotate(b, columns)], dim=-1)


# %% [wrong] every_second_number | Takes even and odd dimensions for the two halves, in place of the first and the last d/2.
def rotate_2d(vectors, rows, columns, base=10000.0):
    out = torch.empty_like(vectors)
    out[..., 0::2] = rotate(vectors[..., 0::2], rows, base)
    out[..., 1::2] = rotate(vectors[..., 1::2], columns, base)
    return out


# %% [wrong] whole_vector_twice | The whole vector is turned by the row and then by the column: only the sum of the two counts.
def rotate_2d(vectors, rows, columns, base=10000.0):
    return rotate(rotate(vectors, rows, base), columns, base)


# %% [wrong] speeds_of_the_whole_width | Turns the whole vector by row and by column and takes a half of each: the speeds are those of the width d and not of d/2.
def rotate_2d(vectors, rows, columns, base=10000.0):
    h = vectors.shape[-1] // 2
    by_row = rotate(vectors, rows, base)
    by_column = rotate(vectors, columns, base)
    return torch.cat([by_row[..., :h], by_column[..., h:]], dim=-1)


# %% [wrong] joined_along_the_tokens | The halves are joined along the tokens: twice as many vectors of half the width.
def rotate_2d(vectors, rows, columns, base=10000.0):
    half = vectors.shape[-1] // 2
    top = rotate(vectors[..., :half], rows, base)
    bottom = rotate(vectors[..., half:], columns, base)
    return torch.cat((top, bottom), dim=-2)


# %% [right] halves_as_a_batch | Makes an axis of the two halves and turns both in one call of `rotate`, with a place for each.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, -1)).movedim(-2, -3)  # (..., 2, n, d / 2)
    places = torch.stack(torch.broadcast_tensors(rows, columns), dim=-2)  # (2, n)
    return rotate(halves, places, base).movedim(-3, -2).flatten(-2)
