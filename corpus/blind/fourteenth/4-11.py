# %% [wrong] speeds_of_the_whole_width | The whole vector is turned twice and half of each result is kept, so the speeds are those of width d and not d/2; the second half gets the slow ones.
def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    half = vectors.shape[-1] // 2
    by_row = rotate(vectors, rows, base)
    by_column = rotate(vectors, columns, base)
    return torch.cat([by_row[..., :half], by_column[..., half:]], dim=-1)
