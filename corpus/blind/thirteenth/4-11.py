# %% [wrong] base_not_handed_on | The two calls of rotate leave the base out, so they always use 10000, whatever base was given.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    by_row, by_column = vectors.chunk(2, dim=-1)
    return torch.cat([rotate(by_row, rows), rotate(by_column, columns)], dim=-1)


# %% [wrong] columns_first | The first half is turned by the column and the last by the row; the text has it the other way round.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    out = torch.empty_like(vectors)
    for start, place in ((0, columns), (half, rows)):
        out[..., start : start + half] = rotate(vectors[..., start : start + half], place, base)
    return out


# %% [wrong] full_width_speeds | Turns whole vectors and cuts out the halves afterwards. The speeds are then those of width d, and the last half gets only the slow ones; each half should turn as a vector of width d/2.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    d = vectors.shape[-1]
    first = torch.arange(d, device=vectors.device) < d // 2
    return torch.where(first, rotate(vectors, rows, base), rotate(vectors, columns, base))


# %% [wrong] even_and_odd_dimensions | Gives the even dimensions to the row and the odd ones to the column, instead of the first and the last half.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    turned = [rotate(vectors[..., axis::2], place, base) for axis, place in enumerate((rows, columns))]
    return torch.stack(turned, dim=-1).flatten(-2)


# %% [wrong] stacked_halves | Puts the halves together with torch.stack: the result has an axis more, (2, ..., n, d/2), and is not (..., n, d).
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, -1)).unbind(-2)
    places = (rows, columns)
    return torch.stack([rotate(h, p, base) for h, p in zip(halves, places)])


# %% [right] one_call_on_a_stack | Puts the two halves on an axis of their own in front of n, the places likewise, and calls rotate once for both.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    halves = vectors.unflatten(-1, (2, vectors.shape[-1] // 2)).movedim(-2, -3)  # (..., 2, n, d/2)
    places = torch.stack(torch.broadcast_tensors(rows, columns), dim=-2)  # (2, n)
    places = places.expand(halves.shape[:-1])
    return rotate(halves, places, base).movedim(-3, -2).flatten(-2)
