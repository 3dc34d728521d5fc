# %% [wrong] base_not_handed_on | calls rotate without the base, so it is always 10000: right by default, wrong for every other base
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    by_row, by_column = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(by_row, rows), rotate(by_column, columns)], dim=-1)


# %% [wrong] speeds_of_the_whole_width | turns the whole vector by the row and by the column and takes half of each: the speeds are those of width d and not d/2, and the second half gets the slow ones; the example already shows it
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    rotated_by_row = rotate(vectors, rows, base)
    rotated_by_column = rotate(vectors, columns, base)
    first = torch.arange(vectors.shape[-1], device=vectors.device) < half
    return torch.where(first, rotated_by_row, rotated_by_column)


# %% [wrong] even_and_odd_dimensions | gives every second dimension to the row and the others to the column, instead of the first and the last half
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    result = torch.empty_like(vectors)
    for start, places in enumerate((rows, columns)):
        result[..., start::2] = rotate(vectors[..., start::2], places, base)
    return result


# %% [wrong] stacked_side_by_side | the turned halves are stacked on a new last axis and flattened: that interleaves them, number by number, instead of putting one behind the other
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = zip(vectors.split(vectors.size(-1) // 2, -1), (rows, columns), strict=True)
    turned = [rotate(half, place, base) for half, place in halves]
    return torch.stack(turned, dim=-1).flatten(-2)


# %% [wrong] columns_first | the halves get the wrong places: the first one is turned by the column and the last one by the row
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    grid = torch.stack([columns, rows])  # (2, n)
    half = vectors.shape[-1] // 2
    return torch.cat([rotate(vectors[..., i * half : (i + 1) * half], grid[i], base) for i in range(2)], dim=-1)


# %% [right] halves_as_a_batch | one call of rotate: the halves become an axis in front, each with its own positions
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, -1)).movedim(-2, 0)  # (2, ..., n, d/2)
    both = torch.stack([rows, columns])
    places = both.reshape(2, *[1] * (halves.ndim - 3), -1).expand(halves.shape[:-1])
    return rotate(halves, places, base).movedim(0, -2).flatten(-2)
