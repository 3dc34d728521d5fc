# %% [wrong] every_second_pair_of_numbers | Even dimensions are turned by the row and odd ones by the column; it should be the first half and the last half.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    turned = torch.empty_like(vectors)
    turned[..., 0::2] = rotate(vectors[..., 0::2], rows, base)
    turned[..., 1::2] = rotate(vectors[..., 1::2], columns, base)
    return turned

# %% [wrong] turned_twice | All dimensions are turned by the row and then by the column, which is a turn by row + column; each half should be turned by one of them. Patches on a diagonal are not told apart.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    by_row = rotate(vectors, rows, base)
    return rotate(by_row, columns, base)

# %% [wrong] speeds_of_the_whole_width | The whole vector is turned by the row and by the column, and a half of each is kept; each half should be turned as a vector of width d/2. The column half gets the slow speeds alone, and the row half the fast ones.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    first_half = torch.arange(vectors.shape[-1], device=vectors.device) < half
    return torch.where(first_half, rotate(vectors, rows, base), rotate(vectors, columns, base))

# %% [wrong] base_not_handed_on | The base is not handed to rotate, which takes its default; it should be handed on. Another base changes nothing.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    of_rows, of_columns = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(of_rows, rows), rotate(of_columns, columns)], dim=-1)

# %% [wrong] halves_on_axis_one | The vectors are cut and joined along axis 1; it should be the last. Right for (n, d); with a batch, axis 1 is the patches, and the shapes do not fit.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    one, other = vectors.chunk(2, dim=1)
    return torch.cat((rotate(one, rows, base), rotate(other, columns, base)), dim=1)

# %% [wrong] woven_together | The turned halves are stacked on a last axis and flattened, so their numbers alternate; they should be joined one behind the other, with cat.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.chunk(2, dim=-1)
    turned = [rotate(half, place, base) for half, place in zip(halves, (rows, columns))]
    return torch.stack(turned, dim=-1).flatten(-2)

# %% [right] both_halves_in_one_turn | Both halves get an axis of their own, so that one call of rotate turns them with two rows of positions.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, -1)).transpose(-3, -2)  # (..., 2, n, d/2)
    places = torch.stack([rows, columns])  # (2, n)
    return rotate(halves, places, base).transpose(-3, -2).flatten(-2)
