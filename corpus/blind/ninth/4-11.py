# %% [wrong] base_left_behind | The base is not handed on to rotate, which takes its own 10,000. It should be handed on. Every other base is ignored.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    upper, lower = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(upper, rows), rotate(lower, columns)], dim=-1)

# %% [wrong] turned_twice_as_a_whole | The whole vector is turned by the row, and then by the column. Each half should be turned by one of them. The angles add up, and a place is known by row + column alone.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    for places in (rows, columns):
        vectors = rotate(vectors, places, base)
    return vectors

# %% [wrong] turned_whole_then_cut | The whole vector is turned by row and by column, and half of each is taken. Each half should be turned as a vector of width d/2. The halves have the speeds of the full width: the second one only turns slowly.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    by_row, by_column = rotate(vectors, rows, base), rotate(vectors, columns, base)
    return torch.cat((by_row[..., :half], by_column[..., half:]), -1)

# %% [wrong] pieces_of_two | split(2) makes pieces of two numbers. Two pieces were wanted, which is chunk(2). For d = 4 it is the same; for wider vectors there are too many values to unpack.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    first, last = vectors.split(2, dim=-1)
    return torch.concat([rotate(first, rows, base=base), rotate(last, columns, base=base)], dim=-1)

# %% [wrong] writes_over_the_vectors | The turned halves are written into the vectors that were handed in. New ones should come back. The result is right, but the caller's queries are turned, and turned again at the next call.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    middle = vectors.shape[-1] // 2
    vectors[..., :middle] = rotate(vectors[..., :middle], rows, base)
    vectors[..., middle:] = rotate(vectors[..., middle:], columns, base)
    return vectors

# %% [wrong] every_other_pair_for_the_row | Pairs are dealt out in turn: even pairs are turned by the row, odd ones by the column. The first d/2 dimensions belong to the row, the last d/2 to the column. For d = 4 it is the same; for wider vectors other numbers are turned.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    pairs = vectors.unflatten(-1, (-1, 2))
    by_row = rotate(pairs[..., 0::2, :].flatten(-2), rows, base).unflatten(-1, (-1, 2))
    by_column = rotate(pairs[..., 1::2, :].flatten(-2), columns, base).unflatten(-1, (-1, 2))
    return torch.stack([by_row, by_column], dim=-2).flatten(-3)

# %% [right] halves_as_an_axis | Makes the two halves an axis of their own, and turns both in one call with places (2, n).
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, -1)).movedim(-2, -3)
    places = torch.stack([torch.as_tensor(rows), torch.as_tensor(columns)])
    return rotate(halves, places, base).movedim(-3, -2).flatten(-2)
