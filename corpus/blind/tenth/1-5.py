# %% [wrong] causal_without_itself | The causal mask compares with < and leaves the diagonal out: position i may attend to 0…i−1 only, and position 0 to nothing. Itself should be included.
def causal_mask(n):
    pos = torch.arange(n)
    return pos[None, :] < pos[:, None]


def padding_mask(lengths, n):
    pos = torch.arange(n, device=lengths.device)
    return pos < lengths[:, None, None]

# %% [wrong] causal_of_ones_and_zeros | The causal mask is a float matrix of 1.0 and 0.0. It has the right pattern but should be bool.
def causal_mask(n):
    return torch.tril(torch.ones(n, n))


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device)[None, None, :] < lengths.view(-1, 1, 1))

# %% [wrong] minus_zero_slice | The padding is hidden with a slice from the end, [-(n − length):]. For a full sentence this is [-0:], which is the whole row, so a sentence of length n may attend to nothing in place of everything.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    mask = torch.ones(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        filling = n - length
        mask[b, :, -filling:] = False
    return mask

# %% [wrong] filling_on_the_left | The padding mask allows the last lengths[b] keys, as with sentences that are padded on the left. It should allow the first lengths[b].
def causal_mask(n):
    return torch.tril(torch.ones((n, n), dtype=torch.bool))


def padding_mask(lengths, n):
    positions = torch.arange(n, device=lengths.device).reshape(1, 1, n)
    return positions >= (n - lengths).reshape(-1, 1, 1)

# %% [wrong] looks_ahead | The comparison of the causal mask is the wrong way round: position i may attend to i…n−1, an upper triangle. It should be 0…i, a lower one.
def causal_mask(n):
    i = torch.arange(n)
    return i.unsqueeze(0) >= i.unsqueeze(1)


def padding_mask(lengths, n):
    i = torch.arange(n).to(lengths.device)
    return (i.unsqueeze(0) < lengths.unsqueeze(1)).unsqueeze(1)

# %% [right] cumulated_one_hots | Both masks come from running sums: of the identity down the columns, and of a one-hot vector at the place where the sentence has ended.
def causal_mask(n):
    return torch.eye(n, dtype=torch.long).cumsum(dim=0).bool()


def padding_mask(lengths, n):
    ended = F.one_hot(lengths.long(), num_classes=n + 1).cumsum(dim=-1)
    return torch.logical_not(ended[:, None, :n])
