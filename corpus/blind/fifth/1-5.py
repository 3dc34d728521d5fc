# %% [wrong] strictly_before | causal_mask compares with <, so a position may not attend to itself, and the first one nowhere; it should be ≤
def causal_mask(n):
    place = torch.arange(n)
    return place[None, :] < place[:, None]


def padding_mask(lengths, n):
    keys = torch.arange(n, device=lengths.device)
    return keys < lengths[:, None, None]

# %% [wrong] future | torch.triu keeps the upper triangle: position i may attend to i…n−1, the future, in place of 0…i
def causal_mask(n):
    return torch.triu(torch.ones(n, n)).bool()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device).expand(len(lengths), 1, n) < lengths.reshape(-1, 1, 1)

# %% [wrong] one_key_too_many | padding_mask compares with ≤, so a length of 3 allows the positions 0 to 3, four keys; it should be <
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    position = torch.arange(n, device=lengths.device)
    return position <= lengths.reshape(-1, 1, 1)

# %% [wrong] zeros_and_ones | causal_mask returns float numbers 0 and 1; the task wants bool, and ~mask does not work on floats
def causal_mask(n):
    return torch.tril(torch.ones(n, n))


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device)[None, None] < lengths[:, None, None]

# %% [wrong] no_query_axis | padding_mask has the shape (B, n) and not (B, 1, n); the axis of size 1 for the queries is missing, so batches meet queries
def causal_mask(n):
    i, j = torch.arange(n).unsqueeze(1), torch.arange(n).unsqueeze(0)
    return j <= i


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device).unsqueeze(0) < lengths.unsqueeze(1)

# %% [wrong] padding_at_the_front | padding_mask lets each query see the last lengths[b] keys, as if sentences were filled up at the front; it should be the first ones
def causal_mask(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for row in range(n):
        mask[row, : row + 1] = True
    return mask


def padding_mask(lengths, n):
    out = torch.zeros(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        out[b, 0, n - length :] = True
    return out

# %% [right] running_sums | both masks come from counting: the ones of a flipped diagonal summed along the rows, and a cumulative count of the keys against the length
def causal_mask(n):
    ones = torch.eye(n, dtype=torch.long).flip(1).cumsum(dim=1)
    return ones.flip(1).bool()


def padding_mask(lengths, n):
    count = torch.ones(n, dtype=torch.long, device=lengths.device).cumsum(0)
    return lengths.reshape(-1, 1, 1).ge(count)
