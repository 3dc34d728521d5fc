# %% [wrong] causal_sees_one_ahead | tril with diagonal=1 keeps one line above the diagonal, so each position sees the next one as well.
def causal_mask(n):
    return torch.ones(n, n).tril(diagonal=1).bool()


def padding_mask(lengths, n):
    position = torch.arange(n, device=lengths.device)
    return position < lengths.reshape(-1, 1, 1)

# %% [wrong] longest_sentence_in_place_of_n | The padding mask is as wide as the longest sentence of the batch and not n wide.
def causal_mask(n):
    position = torch.arange(n)
    return position[None, :] <= position[:, None]


def padding_mask(lengths, n):
    longest = int(lengths.max())
    position = torch.arange(longest, device=lengths.device)
    return position[None, None, :] < lengths[:, None, None]

# %% [wrong] filling_in_front | The last lengths[b] keys are allowed and not the first ones, as if the filling stood in front.
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    position = torch.arange(n, device=lengths.device)
    filling = n - lengths
    return (position.unsqueeze(0) >= filling.unsqueeze(1)).unsqueeze(1)
