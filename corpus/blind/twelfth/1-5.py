# %% [wrong] true_means_hidden | both masks have the polarity of nn.MultiheadAttention: True where the position may NOT attend (the future, the filling)
def causal_mask(n):
    return torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)


def padding_mask(lengths, n):
    positions = torch.arange(n, device=lengths.device)
    return (positions >= lengths[:, None])[:, None, :]


# %% [wrong] without_itself | the causal mask is strict (j < i): a position may not attend to itself, and position 0 may look nowhere
def causal_mask(n):
    rows = [[j < i for j in range(n)] for i in range(n)]
    return torch.tensor(rows, dtype=torch.bool).reshape(n, n)


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)


# %% [wrong] one_key_too_many | ≤ instead of < in the padding mask: a length of 3 lets the positions 0…3 be seen, one key of the filling, and a length of 0 still shows the first
def causal_mask(n):
    position = torch.arange(n)
    return position[None, :] <= position[:, None]


def padding_mask(lengths, n):
    position = torch.arange(n).to(lengths.device)
    return position[None, None, :] <= lengths[:, None, None]


# %% [wrong] no_query_axis | the padding mask has the shape (B, n), without the axis of size 1 for the queries: with the scores (B, Q, K) it lines up B with Q, an error or, if B = Q, a wrong mask
def causal_mask(n):
    return torch.ones((n, n)).tril().bool()


def padding_mask(lengths, n):
    mask = torch.zeros(len(lengths), n, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths):
        mask[b, :length] = True
    return mask


# %% [wrong] float_mask | the causal mask is left as a float tensor of 1 and 0 and never made bool: `~mask` fails later, and as an additive mask it would hide nothing
def causal_mask(n):
    mask = torch.zeros(n, n)
    for i in range(n):
        mask[i, : i + 1] = 1
    return mask


def padding_mask(lengths, n):
    grid = torch.arange(n, device=lengths.device).expand(len(lengths), n)
    return torch.lt(grid, lengths.unsqueeze(1)).unsqueeze(1)


# %% [right] running_sums | no comparison of positions with arange: the triangle is the running sum of an identity matrix, and the positions 1…n are the running sum of ones on the device of the lengths
def causal_mask(n):
    return torch.eye(n, dtype=torch.int64).cumsum(dim=0).bool()


def padding_mask(lengths, n):
    ordinal = torch.ones(n, dtype=torch.int64, device=lengths.device).cumsum(0)  # 1, 2, …, n
    return lengths.view(-1, 1, 1).ge(ordinal)
