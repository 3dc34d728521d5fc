# %% [wrong] padding_in_front | The padding mask allows the last lengths[b] keys (position ≥ n − length); it should be the first ones, position < length. Sentences are taken as filled up on the left.
def causal_mask(n):
    position = torch.arange(n)
    return position[None, :] <= position[:, None]


def padding_mask(lengths, n):
    position = torch.arange(n, device=lengths.device)
    return position >= n - lengths.reshape(-1, 1, 1)

# %% [wrong] as_wide_as_the_longest | The padding mask is made as wide as lengths.max(); it should be n wide. Where no sentence is full, the mask is (B, 1, max), and does not fit the keys.
def causal_mask(n):
    return torch.ones(n, n).tril().bool()


def padding_mask(lengths, n):
    widest = int(lengths.max())
    position = torch.arange(widest, device=lengths.device)
    return (position < lengths[:, None])[:, None, :]

# %% [wrong] padding_queries_hidden_too | The padding mask is the outer product (B, n, n), so that padding queries may look nowhere; it should be (B, 1, n), every query may attend to the first keys.
def causal_mask(n):
    i = torch.arange(n)
    return i.unsqueeze(1) >= i


def padding_mask(lengths, n):
    real = torch.arange(n, device=lengths.device) < lengths.unsqueeze(1)  # (B, n)
    return real.unsqueeze(2) & real.unsqueeze(1)

# %% [wrong] causal_mask_of_floats | The causal mask is tril of ones, which is float32; it should be bool. ~mask raises an error on it, and the type is not what is asked for.
def causal_mask(n):
    return torch.tril(torch.ones(n, n))


def padding_mask(lengths, n):
    places = torch.arange(n, device=lengths.device)
    return places.reshape(1, 1, n) < lengths.reshape(-1, 1, 1)

# %% [wrong] one_diagonal_too_many | tril(1) keeps the diagonal above the main one, so position i may attend to i + 1; it should be tril(). Each word sees the next one.
def causal_mask(n):
    everything = torch.ones(n, n, dtype=torch.bool)
    return everything.tril(1)


def padding_mask(lengths, n):
    return torch.stack([torch.arange(n, device=lengths.device) < length for length in lengths]).unsqueeze(1)

# %% [wrong] a_mask_without_its_middle_axis | The padding mask is (B, n), since lengths is reshaped to (-1, 1); it should be (B, 1, n). On scores (B, Q, K) it meets the queries in place of the batch.
def causal_mask(n):
    return torch.arange(n).unsqueeze(-1).ge(torch.arange(n))


def padding_mask(lengths, n):
    keys = torch.arange(n, device=lengths.device)
    return keys.lt(lengths.reshape(-1, 1))

# %% [right] counting_places | Both masks without comparing indices by hand: a triangle of ones, and a running count of places against the lengths.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    count = torch.ones(n, dtype=torch.long, device=lengths.device).cumsum(0)  # 1, 2, … n
    return count.le(lengths[:, None, None])
