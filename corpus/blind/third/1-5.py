# %% [wrong] never_itself | The causal mask compares with <, so a position may not attend to itself, and the first one to nothing.
def causal_mask(n):
    i = torch.arange(n)
    return i[None, :] < i[:, None]


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)

# %% [wrong] upper_triangle | Compares the wrong way round: position i may attend to i…n−1, the future.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).triu()


def padding_mask(lengths, n):
    positions = torch.arange(n, device=lengths.device)
    return positions[None, None, :] < lengths[:, None, None]

# %% [wrong] length_included | The padding mask compares with ≤: one key too many is open, and a length of 0 still opens the first key.
def causal_mask(n):
    return torch.tril(torch.ones(n, n)).bool()


def padding_mask(lengths, n):
    keys = torch.arange(n, device=lengths.device).view(1, 1, n)
    return keys <= lengths.view(-1, 1, 1)

# %% [wrong] from_the_back | Closes the last n − length keys with a negative slice; for a full length this is [-0:], which closes all keys.
def causal_mask(n):
    positions = torch.arange(n)
    return positions.unsqueeze(-1) >= positions


def padding_mask(lengths, n):
    mask = torch.ones(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        mask[b, 0, -(n - length):] = False
    return mask

# %% [wrong] missing_query_axis | The padding mask is (B, n); the axis of size 1 for the queries is missing.
def causal_mask(n):
    return torch.tensor([[j <= i for j in range(n)] for i in range(n)])


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device)[None] < lengths[:, None]

# %% [wrong] float_masks | The causal mask is a float tensor of zeros and ones; a bool mask is asked for.
def causal_mask(n):
    return torch.tril(torch.ones(n, n))


def padding_mask(lengths, n):
    return torch.stack([torch.arange(n, device=lengths.device) < l for l in lengths]).unsqueeze(1)

# %% [right] cumulated_ones | Counts ones with cumsum and compares the count with the length; the triangle comes from tril of a full table.
def causal_mask(n):
    return torch.full((n, n), True).tril()


def padding_mask(lengths, n):
    counted = torch.ones(len(lengths), 1, n, dtype=torch.long, device=lengths.device).cumsum(-1)
    return counted <= lengths[:, None, None]
