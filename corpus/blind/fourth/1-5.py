# %% [wrong] strictly_before | The causal mask leaves out the diagonal: a position may not attend to itself.
def causal_mask(n):
    pos = torch.arange(n)
    return pos[None, :] < pos[:, None]


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)


# %% [wrong] one_key_too_many | A length of 3 allows the positions 0, 1 and 2; with ≤ it allows position 3 as well.
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    keys = torch.arange(n, device=lengths.device)
    return keys <= lengths[:, None, None]


# %% [wrong] masks_of_floats | The causal mask holds the numbers 0.0 and 1.0: it is not bool.
def causal_mask(n):
    return torch.ones(n, n).tril()


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device).unsqueeze(0) < lengths.unsqueeze(1)).unsqueeze(1)


# %% [wrong] no_axis_for_queries | The padding mask is (B, n); the axis of size 1 for the queries is missing.
def causal_mask(n):
    i = torch.arange(n)
    return i.unsqueeze(1) >= i


def padding_mask(lengths, n):
    j = torch.arange(n, device=lengths.device)
    return j.unsqueeze(0) < lengths.unsqueeze(1)


# %% [wrong] minus_zero_slice | The filling is cut off with a slice from the end, `-(n - length):`; for a full sentence that is `-0:`, the whole row, and everything is hidden.
def causal_mask(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


def padding_mask(lengths, n):
    mask = torch.ones(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        filling = n - length
        mask[b, :, -filling:] = False
    return mask


# %% [wrong] true_means_hidden | Both masks are PyTorch's other kind: True where attending is forbidden.
def causal_mask(n):
    return torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)


def padding_mask(lengths, n):
    pos = torch.arange(n, device=lengths.device)
    return (pos >= lengths.view(-1, 1)).unsqueeze(1)


# %% [right] from_lists | Causal from a nested list comprehension, padding by adding up ones: the number of a key, counted from 1, must not exceed the length.
def causal_mask(n):
    return torch.tensor([[j <= i for j in range(n)] for i in range(n)], dtype=torch.bool).reshape(n, n)


def padding_mask(lengths, n):
    counted = torch.ones(len(lengths), 1, n, dtype=torch.long, device=lengths.device).cumsum(-1)
    return counted.le(lengths[:, None, None])
