# %% [wrong] upper_triangle | The causal mask is the upper triangle above the diagonal, the convention in which True means "may not". Here True means may attend, so each position sees only what comes after it, and not itself.
def causal_mask(n):
    return torch.triu(torch.ones(n, n), diagonal=1).bool()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths[:, None, None]


# %% [wrong] one_position_too_many | The padding mask compares with ≤, so a length of 3 allows the positions 0 to 3, one too many. A length of 0 still allows one key.
def causal_mask(n):
    i = torch.arange(n)
    return i[:, None] >= i[None, :]


def padding_mask(lengths, n):
    keys = torch.arange(n, device=lengths.device)
    return (keys <= lengths.unsqueeze(1)).unsqueeze(1)


# %% [wrong] slice_from_the_back | The padding mask hides mask[..., length - n:]. Where a sentence fills the whole width, length - n is 0, and the slice 0: hides everything: a full sentence may look nowhere.
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    mask = torch.ones(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for row, length in zip(mask, lengths.tolist()):
        row[:, length - n :] = False
    return mask


# %% [wrong] as_wide_as_the_longest | The padding mask is as wide as the longest sentence of the batch and ignores n. Where all sentences are shorter than n, it has too few columns.
def causal_mask(n):
    return torch.ones(n, n).tril() == 1


def padding_mask(lengths, n):
    longest = int(lengths.max())
    pos = torch.arange(longest, device=lengths.device)
    return pos.view(1, 1, -1) < lengths.view(-1, 1, 1)


# %% [wrong] padding_mask_stays_on_the_cpu | The positions of the padding mask are made on the CPU and not on the device of lengths. With lengths on a GPU (or any other device) the mask is refused, or lies on the wrong device.
def causal_mask(n):
    position = torch.arange(n)
    return position <= position.unsqueeze(-1)


def padding_mask(lengths, n):
    rows = [torch.arange(n) < int(length) for length in lengths.cpu()]
    return torch.stack(rows).unsqueeze(1)


# %% [right] running_sums | Both masks from running sums: the identity summed down its rows is the lower triangle, and ones summed along a row count the keys.
def causal_mask(n):
    return torch.eye(n).cumsum(dim=0).bool()


def padding_mask(lengths, n):
    count = torch.ones(len(lengths), 1, n, dtype=torch.long, device=lengths.device).cumsum(-1)
    return count.le(lengths[:, None, None])
