# %% [wrong] true_means_hidden | the causal mask marks the keys that may NOT be seen (upper triangle): True has the opposite meaning there
def causal_mask(n):
    return torch.triu(torch.ones(n, n), diagonal=1).bool()


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths[:, None]).unsqueeze(1)


# %% [wrong] minus_zero | blanks the filling from the end with a negative index; for a full sentence (length = n) the index is -0 = 0, and the whole row is hidden
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    mask = torch.ones(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        filling = n - length
        mask[b, 0, -filling:] = False
    return mask


# %% [wrong] not_itself | position i may look at positions before i only: the diagonal is missing, and position 0 may look nowhere
def causal_mask(n):
    rows = [[key < query for key in range(n)] for query in range(n)]
    return torch.tensor(rows, dtype=torch.bool).reshape(n, n)


def padding_mask(lengths, n):
    keys = torch.arange(n, device=lengths.device)
    return keys.view(1, 1, -1) < lengths.view(-1, 1, 1)


# %% [wrong] longest_sentence | makes the padding mask as wide as the longest length instead of n: where no sentence is full, the shape is wrong
def causal_mask(n):
    position = torch.arange(n)
    return position[None, :] <= position[:, None]


def padding_mask(lengths, n):
    n = int(lengths.max())
    return (torch.arange(n, device=lengths.device)[None, :] < lengths[:, None])[:, None, :]


# %% [wrong] two_axes | the padding mask is (B, n) without the axis of size 1 for the queries: over (B, Q, K) it broadcasts the batch against the queries
def causal_mask(n):
    return torch.tril(torch.full((n, n), True))


def padding_mask(lengths, n):
    rows = []
    for length in lengths:
        rows.append(torch.arange(n, device=lengths.device) < length)
    return torch.stack(rows)


# %% [right] counting_up | both masks by cumulative sums: an identity summed down its columns, and ones counted along the keys
def causal_mask(n):
    return torch.eye(n).cumsum(dim=0) > 0.5


def padding_mask(lengths, n):
    ones = torch.ones((lengths.shape[0], 1, n), dtype=torch.long, device=lengths.device)
    return ones.cumsum(dim=-1).le(lengths[:, None, None])
