# %% [right] comparisons_in_lists | right
def causal_mask(n):
    return torch.tensor([[j <= i for j in range(n)] for i in range(n)], dtype=torch.bool).reshape(n, n)


def padding_mask(lengths, n):
    position = torch.arange(n, device=lengths.device).expand(len(lengths), n)
    return torch.gt(lengths.unsqueeze(1), position).unsqueeze(1)

# %% [wrong] triu | The triangle is the upper one: positions look at later ones.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).triu()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)

# %% [wrong] diagonal_missing | The diagonal is left out, so a position may not attend to itself.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril(-1)


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)

# %% [wrong] true_means_hidden | The causal mask says True where looking is forbidden.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).triu(1)


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)

# %% [wrong] one_key_too_many | The comparison is <= instead of <, so one padded key is allowed.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) <= lengths.reshape(-1, 1, 1)

# %% [wrong] padding_inverted | The padding mask says True where there is padding.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) >= lengths.reshape(-1, 1, 1)

# %% [wrong] two_axes_only | The padding mask has the shape (B, n): the axis for the queries is missing.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1)

# %% [wrong] axes_exchanged | The padding mask has the shape (B, n, 1): it masks queries instead of keys.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device).reshape(1, n, 1) < lengths.reshape(-1, 1, 1)

# %% [wrong] float_mask | The causal mask holds the floats 1 and 0 instead of bool.
def causal_mask(n):
    return torch.ones(n, n).tril()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)

# %% [wrong] additive_mask | The causal mask is additive (0 and minus infinity), not bool.
def causal_mask(n):
    return torch.full((n, n), -math.inf).triu(1)


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)

# %% [wrong] device_forgotten | The positions of the padding mask are made on the CPU, whatever device the lengths are on.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    return torch.arange(n) < lengths.reshape(-1, 1, 1)

# %% [wrong] expanded_over_queries | The padding mask is expanded to (B, n, n) instead of (B, 1, n).
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)).expand(-1, n, -1)

# %% [wrong] longest_as_n | The width of the padding mask is the longest length, not n.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    return torch.arange(int(lengths.max()), device=lengths.device) < lengths.reshape(-1, 1, 1)
