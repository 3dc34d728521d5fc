# %% [wrong] row_and_column_exchanged | The first half is turned by the column and the last half by the row
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(first, columns, base), rotate(last, rows, base)], dim=-1)

# %% [wrong] base_not_handed_on | rotate is called without the base, so another base than 10000 has no effect
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    by_row = rotate(vectors[..., :half], rows)
    by_column = rotate(vectors[..., half:], columns)
    return torch.cat((by_row, by_column), -1)

# %% [wrong] speeds_of_full_width | The whole vector is rotated twice and halves are cut out of the results, so the speeds are those of width d instead of d/2, and the last half begins with slow ones
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    return torch.cat([rotate(vectors, rows, base)[..., :d // 2], rotate(vectors, columns, base)[..., d // 2:]], dim=-1)

# %% [wrong] every_second_dimension | Even dimensions go to the row and odd ones to the column, instead of the first half and the last half
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    out = torch.empty_like(vectors)
    out[..., 0::2] = rotate(vectors[..., 0::2], rows, base)
    out[..., 1::2] = rotate(vectors[..., 1::2], columns, base)
    return out

# %% [wrong] one_after_the_other | All dimensions are turned by the row and then by the column, so only row + column counts: the patches (0, 1) and (1, 0) stand at the same place
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    return rotate(rotate(vectors, rows, base), columns, base)

# %% [wrong] pieces_of_two | split(2) cuts pieces of two dimensions and not two pieces, so for every width but 4 the two names do not fit and Python raises a ValueError
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    upper, lower = vectors.split(2, dim=-1)
    return torch.cat([rotate(upper, rows, base), rotate(lower, columns, base)], dim=-1)

# %% [right] unflatten_halves | halves by unflatten and unbind, put together by stack and flatten
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, -1)).unbind(-2)
    turned = [rotate(half, place, base) for half, place in zip(halves, (rows, columns))]
    return torch.stack(turned, dim=-2).flatten(-2)
