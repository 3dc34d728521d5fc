# %% [wrong] causal_mask_of_floats | causal_mask returns the tril of torch.ones, a float tensor of 0 and 1; the task asks for bool, and ~mask raises an error for floats.
def causal_mask(n):
    return torch.tril(torch.ones(n, n))


def padding_mask(lengths, n):
    place = torch.arange(n, device=lengths.device)
    return place < lengths.reshape(-1, 1, 1)

# %% [wrong] padded_queries_hidden_too | padding_mask is the outer product of valid queries and valid keys, (B, n, n), so filled-up queries may look nowhere; it should be (B, 1, n), the same for every query.
def causal_mask(n):
    i = torch.arange(n)
    return i[None, :] <= i[:, None]


def padding_mask(lengths, n):
    valid = torch.arange(n, device=lengths.device)[None, :] < lengths[:, None]
    return valid[:, :, None] & valid[:, None, :]

# %% [wrong] as_long_as_the_longest | padding_mask numbers the positions up to lengths.max() and ignores n, so the mask is too narrow wherever no sentence fills all n places.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    longest = int(lengths.max())
    positions = torch.arange(longest, device=lengths.device)
    return positions < lengths.view(-1, 1, 1)

# %% [wrong] at_least_one_key | lengths are clamped to at least 1 "so that no softmax is empty"; a sentence of length 0 may then look at its first filling, where its row must be all False.
def causal_mask(n):
    rows = torch.arange(n).unsqueeze(1)
    return torch.arange(n) <= rows


def padding_mask(lengths, n):
    lengths = lengths.clamp(min=1)  # otherwise softmax gives nan
    keys = torch.arange(n, device=lengths.device)
    return keys < lengths[:, None, None]

# %% [wrong] looks_ahead | In causal_mask the comparison is turned round: row i is allowed where the key position is at least i, which is the upper triangle, the future; it should be key <= query.
def causal_mask(n):
    query_pos, key_pos = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    return key_pos >= query_pos


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)

# %% [wrong] padding_on_the_left | padding_mask allows the last lengths[b] keys (n − length to the end) instead of the first ones, as if the filling stood in front.
def causal_mask(n):
    m = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        m[i, : i + 1] = True
    return m


def padding_mask(lengths, n):
    B = len(lengths)
    mask = torch.zeros(B, 1, n, dtype=torch.bool, device=lengths.device)
    for b in range(B):
        mask[b, 0, n - int(lengths[b]) :] = True
    return mask

# %% [right] running_sum_of_the_identity | the triangle as a running sum down the identity matrix, the padding as one comparison by torch.gt
def causal_mask(n):
    return torch.eye(n, dtype=torch.bool).cumsum(dim=0).bool()


def padding_mask(lengths, n):
    return torch.gt(lengths[:, None, None], torch.arange(n, device=lengths.device))
