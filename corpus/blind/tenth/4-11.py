# %% [wrong] column_first | The first half is turned by the column and the last half by the row. The text says it the other way round.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    x, y = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(x, columns, base), rotate(y, rows, base)], dim=-1)

# %% [wrong] base_not_handed_on | The base is not handed on to rotate, which then always takes 10,000. For another base the result is that of 10,000.
def rotate_2d(vectors, rows, columns, base=10000.0):
    half = vectors.shape[-1] // 2
    return torch.cat((rotate(vectors[..., :half], rows), rotate(vectors[..., half:], columns)), -1)

# %% [wrong] speeds_of_the_whole_width | The whole vector is turned by rows and by columns, and the halves are cut out of the results. Each half then has the speeds of the width d, and the last half begins with slow ones; each half should be turned as a vector of width d/2.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    by_row = rotate(vectors, rows, base)
    by_column = rotate(vectors, columns, base)
    first_half = torch.arange(d, device=vectors.device) < d // 2
    return torch.where(first_half, by_row, by_column)

# %% [wrong] turned_twice | All dimensions are turned by the row and then by the column. That is a turn by row + column, and patches on one diagonal cannot be told apart; each half should be turned by one of the two.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    return rotate(rotate(vectors, rows, base), columns, base)

# %% [wrong] even_and_odd_dimensions | The "halves" are the even and the odd dimensions, and they are put together interleaved. The first d/2 and the last d/2 dimensions are meant.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    out = torch.empty_like(vectors)
    out[..., 0::2] = rotate(vectors[..., 0::2], rows, base)
    out[..., 1::2] = rotate(vectors[..., 1::2], columns, base)
    return out

# %% [right] complex_numbers_without_rotate | rotate is not called: the angles of both halves are put beside each other, and complex numbers do all the turns at once.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    quarter = vectors.shape[-1] // 4
    speeds = torch.tensor([base ** (-i / quarter) for i in range(quarter)], dtype=torch.float64, device=vectors.device)
    angles = torch.cat([torch.outer(place.to(torch.float64), speeds) for place in (rows, columns)], dim=1)
    arrows = torch.view_as_complex(vectors.double().unflatten(-1, (-1, 2)).contiguous())
    turned = arrows * torch.complex(angles.cos(), angles.sin())
    return torch.view_as_real(turned).flatten(-2).to(vectors.dtype)
