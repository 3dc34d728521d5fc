# %% [wrong] upper_triangle | causal_mask is triu: position i may attend to itself and to what comes later; it should be tril
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).triu()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths[:, None, None]

# %% [wrong] one_too_many | padding_mask compares with <=, so a length of 3 allows the four positions 0 to 3, and a length of 0 allows one; it should be <
def causal_mask(n):
    i = torch.arange(n)
    return i[:, None] >= i[None, :]


def padding_mask(lengths, n):
    pos = torch.arange(n, device=lengths.device)
    return pos[None, None, :] <= lengths.reshape(-1, 1, 1)

# %% [wrong] no_query_axis | padding_mask returns (B, n), without the axis of size 1 for the queries, so against scores (B, Q, K) the batch is taken for the queries
def causal_mask(n):
    pos = torch.arange(n)
    return pos <= pos.unsqueeze(1)


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device).expand(len(lengths), n) < lengths.unsqueeze(1)

# %% [wrong] float_causal | causal_mask is a float triangle of 0 and 1 instead of bool: dtype=torch.bool is missing, and ~mask fails on it
def causal_mask(n):
    return torch.tril(torch.ones(n, n))


def padding_mask(lengths, n):
    idx = torch.arange(n, device=lengths.device).view(1, 1, n)
    return idx < lengths.view(-1, 1, 1)

# %% [wrong] longest_in_batch | padding_mask numbers positions up to lengths.max() instead of n (as pad_sequence does), so the mask is narrower than n when no sentence is full
def causal_mask(n):
    return torch.ones(n, n).tril().bool()


def padding_mask(lengths, n):
    longest = int(lengths.max())
    steps = torch.arange(longest, device=lengths.device)
    return (steps < lengths[:, None])[:, None, :]

# %% [wrong] left_padding | padding_mask allows the last lengths[b] keys instead of the first (left padding): lengths 3 of 5 gives 0 0 1 1 1
def causal_mask(n):
    return torch.arange(n).unsqueeze(-1).ge(torch.arange(n))


def padding_mask(lengths, n):
    pos = torch.arange(n, device=lengths.device)
    return pos >= (n - lengths)[:, None, None]   # pad tokens stand in front

# %% [right] what_is_left | the causal mask is what is not above the diagonal, the padding mask counts what is left of each length
def causal_mask(n):
    later = torch.ones(n, n, dtype=torch.bool).triu(diagonal=1)
    return ~later


def padding_mask(lengths, n):
    left = lengths[:, None, None] - torch.arange(n, device=lengths.device)
    return left > 0
