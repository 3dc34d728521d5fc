# %% [wrong] causal_sees_the_next | tril with diagonal=1 also keeps the first diagonal above the main one, so position i may look at i + 1. It should be diagonal=0: positions 0 to i.
def causal_mask(n):
    ones = torch.ones(n, n, dtype=torch.bool)
    return torch.tril(ones, diagonal=1)


def padding_mask(lengths, n):
    positions = torch.arange(n, device=lengths.device)
    return positions < lengths.reshape(-1, 1, 1)
# %% [wrong] padding_as_wide_as_longest | The padding mask is as wide as the longest sentence of the batch, not n. Where no sentence is n long, columns are missing.
def causal_mask(n):
    pos = torch.arange(n)
    return pos[None, :] <= pos[:, None]


def padding_mask(lengths, n):
    longest = int(lengths.max())
    pos = torch.arange(longest, device=lengths.device)
    return (pos[None, :] < lengths[:, None]).unsqueeze(1)
# %% [wrong] empty_sentence_sees_first_key | Lengths are raised to at least 1, so a sentence of length 0 may look at its first filling. Lengths go from 0 to n, and a length of 0 allows nothing.
def causal_mask(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


def padding_mask(lengths, n):
    mask = torch.zeros(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        length = max(length, 1)      # otherwise the softmax has nothing to sum
        mask[b, 0, :length] = True
    return mask
