# %% [wrong] causal_without_diagonal | causal_mask leaves out the diagonal (strictly below), so a position may not attend to itself
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal=-1)


def padding_mask(lengths, n):
    pos = torch.arange(n, device=lengths.device)
    return pos < lengths.reshape(-1, 1, 1)
# %% [wrong] causal_upper_triangle | causal_mask is the upper triangle: the comparison is turned round, so position i sees i and the later ones
def causal_mask(n):
    i = torch.arange(n)
    return i[:, None] <= i[None, :]


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.view(-1, 1, 1)
# %% [wrong] causal_true_means_hidden | causal_mask marks with True what may NOT be seen (above the diagonal), as nn.MultiheadAttention wants it
def causal_mask(n):
    return torch.triu(torch.ones(n, n), diagonal=1).bool()


def padding_mask(lengths, n):
    positions = torch.arange(n, device=lengths.device).view(1, 1, n)
    return positions < lengths.view(-1, 1, 1)
# %% [wrong] causal_float | causal_mask is a float tensor of ones and zeros instead of bool
def causal_mask(n):
    return torch.tril(torch.ones(n, n))


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device)[None, None, :] < lengths[:, None, None]
# %% [wrong] causal_additive | causal_mask is an additive mask of 0 and -inf instead of a bool mask
def causal_mask(n):
    allowed = torch.tril(torch.ones(n, n, dtype=torch.bool))
    return torch.zeros(n, n).masked_fill(~allowed, -math.inf)


def padding_mask(lengths, n):
    key_pos = torch.arange(n, device=lengths.device)
    return key_pos < lengths.reshape(-1, 1, 1)
# %% [wrong] causal_one_ahead | causal_mask lets position i see also i + 1 (tril with diagonal=1)
def causal_mask(n):
    # diagonal included
    return torch.tril(torch.ones(n, n), diagonal=1) == 1


def padding_mask(lengths, n):
    return torch.arange(n).to(lengths.device) < lengths.reshape(-1, 1, 1)
# %% [wrong] causal_extra_axis | causal_mask has an extra axis in front: (1, n, n) instead of (n, n)
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril().unsqueeze(0)


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device).unsqueeze(0) < lengths.unsqueeze(1)).unsqueeze(1)
# %% [wrong] padding_one_too_many | padding_mask compares with <= instead of <, so one key of the filling is allowed
def causal_mask(n):
    p = torch.arange(n)
    return p <= p.unsqueeze(1)


def padding_mask(lengths, n):
    p = torch.arange(n, device=lengths.device)
    return p <= lengths.reshape(-1, 1, 1)
# %% [wrong] padding_counts_from_one | padding_mask numbers the keys from 1 but compares with <, so the last real key is hidden
def causal_mask(n):
    return torch.tril(torch.ones((n, n), dtype=torch.bool))


def padding_mask(lengths, n):
    key_number = torch.arange(1, n + 1, device=lengths.device)
    return key_number < lengths.view(-1, 1, 1)
# %% [wrong] padding_true_means_filling | padding_mask marks the filling with True, as key_padding_mask does; here True means may attend
def causal_mask(n):
    return torch.ones(n, n).tril().bool()


def padding_mask(lengths, n):
    """True where the token is padding"""
    return torch.arange(n, device=lengths.device) >= lengths.reshape(-1, 1, 1)
# %% [wrong] padding_axis_missing | padding_mask returns (B, n): the axis of size 1 for the queries is missing
def causal_mask(n):
    row = torch.arange(n).unsqueeze(1)
    col = torch.arange(n).unsqueeze(0)
    return col <= row


def padding_mask(lengths, n):
    col = torch.arange(n, device=lengths.device).unsqueeze(0)
    return col < lengths.unsqueeze(1)
# %% [wrong] padding_queries_axis | padding_mask has the shape (B, n, 1): it hides queries instead of keys
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    pos = torch.arange(n, device=lengths.device)
    return (pos[None, :] < lengths[:, None]).unsqueeze(-1)
# %% [wrong] padding_expanded | padding_mask is expanded to (B, n, n) instead of keeping an axis of size 1 for the queries
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    m = torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)
    return m.expand(-1, n, -1)
# %% [wrong] padding_on_cpu | padding_mask builds the positions on the CPU and ignores the device of lengths, which fails for lengths on a GPU
def causal_mask(n):
    return torch.arange(n) <= torch.arange(n)[:, None]


def padding_mask(lengths, n):
    return torch.arange(n) < lengths.reshape(-1, 1, 1)
# %% [wrong] padding_longest_for_n | padding_mask takes the longest length as width and ignores n
def causal_mask(n):
    return torch.tril(torch.ones(n, n)).bool()


def padding_mask(lengths, n):
    n = int(lengths.max())
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)
# %% [wrong] padding_on_the_left | padding_mask allows the last lengths[b] keys instead of the first (it takes the filling to be in front)
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    start = n - lengths.reshape(-1, 1, 1)
    return torch.arange(n, device=lengths.device) >= start
# %% [wrong] padding_slice_minus_zero | padding_mask clears the last n - length keys with a negative slice; for a full length this is [-0:], which clears everything
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    mask = torch.ones(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        mask[b, 0, -(n - length):] = False
    return mask
# %% [wrong] padding_length_zero_sees_one | padding_mask raises lengths below 1 to 1, so an empty sentence of length 0 may see one key
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    # at least one key, otherwise softmax gives NaN
    lengths = lengths.clamp(min=1)
    return torch.arange(n, device=lengths.device) < lengths.view(-1, 1, 1)
# %% [wrong] padding_item | padding_mask calls lengths.item(), which works for a single length only and raises for a batch
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    length = lengths.item()
    return (torch.arange(n, device=lengths.device) < length).reshape(1, 1, n)
# %% [wrong] padding_lengths_on_key_axis | padding_mask puts the lengths on the last axis (1, 1, B), so they are compared with the positions one to one: an error, or nonsense for B = n
def causal_mask(n):
    x = torch.arange(n)
    return x[None, :] <= x[:, None]


def padding_mask(lengths, n):
    x = torch.arange(n, device=lengths.device).reshape(1, 1, n)
    return x < lengths.reshape(1, 1, -1)
# %% [wrong] padding_only_the_last_key | padding_mask compares with ==, so only one position is marked instead of the first lengths[b]
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    idx = torch.arange(n, device=lengths.device)
    return idx == lengths[:, None, None] - 1
# %% [wrong] padding_float_buffer | padding_mask is filled into torch.zeros without dtype and is float instead of bool
def causal_mask(n):
    out = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        out[i, : i + 1] = True
    return out


def padding_mask(lengths, n):
    out = torch.zeros(len(lengths), 1, n, device=lengths.device)
    for b in range(len(lengths)):
        out[b, 0, : lengths[b]] = 1
    return out
# %% [wrong] causal_loop_off_by_one | the loop of causal_mask fills [:i] instead of [:i + 1], so a position does not see itself
def causal_mask(n):
    m = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        m[i, :i] = True
    return m


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths[:, None])[:, None, :]
# %% [wrong] causal_size_hard_coded | causal_mask ignores n and always returns the 5×5 mask of the drawing
def causal_mask(n):
    return torch.tril(torch.ones(5, 5, dtype=torch.bool))


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)
# %% [wrong] causal_no_broadcast | causal_mask compares two vectors of shape (n,) without giving one a second axis, so the result is (n,) and all True
def causal_mask(n):
    queries = torch.arange(n)
    keys = torch.arange(n)
    return keys <= queries


def padding_mask(lengths, n):
    keys = torch.arange(n, device=lengths.device)
    return keys < lengths.reshape(-1, 1, 1)
# %% [wrong] padding_half_finished | padding_mask is not finished: it returns nothing
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    positions = torch.arange(n, device=lengths.device)
    # TODO: compare with lengths
    pass
# %% [wrong] padding_with_causal | padding_mask is combined with the causal mask, so it is (B, n, n) and hides later keys too
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    pad = torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)
    return pad & causal_mask(n).to(lengths.device)
# %% [wrong] padding_inplace_lengths | padding_mask subtracts 1 from the caller's lengths in place
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    lengths -= 1          # last allowed position
    return torch.arange(n, device=lengths.device) <= lengths.reshape(-1, 1, 1)
# %% [wrong] strict_and_inclusive | causal_mask uses < and leaves out the position itself AND padding_mask uses <= and allows one key too many
def causal_mask(n):
    a = torch.arange(n)
    return a.view(1, n) < a.view(n, 1)


def padding_mask(lengths, n):
    a = torch.arange(n, device=lengths.device)
    return a.view(1, 1, n) <= lengths.view(-1, 1, 1)
# %% [right] tril_and_outer_compare | tril on a bool matrix, and None-indexing for the lengths
def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device)[None, None, :] < lengths[:, None, None]
# %% [right] loops | filled row by row with loops into bool tensors
def causal_mask(n):
    rows = [[key <= position for key in range(n)] for position in range(n)]
    return torch.tensor(rows, dtype=torch.bool).reshape(n, n)


def padding_mask(lengths, n):
    mask = torch.zeros((lengths.shape[0], 1, n), dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        mask[b, :, :length] = True
    return mask
# %% [right] lookup_in_strict_triangle | padding rows are looked up in a strict lower triangle; causal is the negated upper triangle
def causal_mask(n):
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    return ~future


def padding_mask(lengths, n):
    table = torch.ones(n + 1, n, dtype=torch.bool, device=lengths.device).tril(-1)   # row L: the first L are True
    return table[lengths.long()].unsqueeze(1)
