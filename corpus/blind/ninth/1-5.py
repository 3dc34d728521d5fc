# %% [wrong] as_wide_as_the_longest | The padding mask is as wide as the longest sentence and ignores n. It should have n columns: where no sentence fills all n places, the mask comes out too narrow.
def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    n = int(lengths.max())
    steps = torch.arange(n, device=lengths.device)
    return (steps < lengths.unsqueeze(-1)).unsqueeze(1)

# %% [wrong] empty_sentence_keeps_a_key | Lifts every length to at least 1, to be safe from NaN. A sentence of length 0 should allow nothing; here its first filling may be looked at.
def causal_mask(n):
    i = torch.arange(n)
    return i[None, :] <= i[:, None]


def padding_mask(lengths, n):
    real = torch.clamp(lengths, min=1).reshape(-1, 1, 1)
    return torch.arange(n, device=lengths.device) < real

# %% [wrong] additive_causal_mask | The causal mask comes back as an additive mask, 0 and minus infinity in float. The course asks for bool with True = may attend; read as bool it even says the opposite.
def causal_mask(n):
    hidden = torch.triu(torch.ones(n, n), diagonal=1).bool()
    return torch.zeros(n, n).masked_fill(hidden, -math.inf)


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device)[None, :] < lengths[:, None])[:, None, :]

# %% [wrong] not_even_itself | The inner loop ends before i, so a position may look only at what stands before it. It should see 0...i, itself included: the diagonal is missing, and the first row is empty.
def causal_mask(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(i):
            mask[i, j] = True
    return mask


def padding_mask(lengths, n):
    key_position = torch.arange(n, device=lengths.device).view(1, 1, n)
    return key_position.lt(lengths.view(-1, 1, 1))

# %% [wrong] hides_queries_not_keys | Puts the axis of size 1 at the end, so the padding mask is (B, n, 1). It should be (B, 1, n): this one says which queries may look, not which keys may be looked at.
def causal_mask(n):
    return torch.tril(torch.full((n, n), True))


def padding_mask(lengths, n):
    allowed = torch.arange(n, device=lengths.device).expand(len(lengths), n) < lengths.unsqueeze(1)
    return allowed.unsqueeze(-1)

# %% [wrong] slice_up_to_a_tensor | Slices with all lengths at once. A slice takes one number, so each sentence needs its own: with more than one length this is a TypeError.
def causal_mask(n):
    rows = [[j <= i for j in range(n)] for i in range(n)]
    return torch.tensor(rows)


def padding_mask(lengths, n):
    mask = torch.zeros(lengths.shape[0], 1, n, dtype=torch.bool, device=lengths.device)
    mask[:, :, :lengths] = True
    return mask

# %% [right] counting_by_cumsum | No comparison of positions: the causal mask is a running sum over the identity, and the padding mask is a looked-up row of a table with a row for each possible length.
def causal_mask(n):
    return torch.eye(n, dtype=torch.int64).flip(-1).cumsum(-1).flip(-1).bool()


def padding_mask(lengths, n):
    table = torch.ones(n + 1, n, dtype=torch.bool, device=lengths.device).tril(-1)
    return table[lengths.long()].unsqueeze(-2)
