# %% [right] tril_of_ones_and_lengths_unsqueezed | torch.tril of bool ones; arange < lengths[:, None], then an axis of one, after hannlp/SimpleNMT
def causal_mask(n):
    return torch.tril(torch.ones((n, n))).bool()


def padding_mask(lengths, n):
    steps = torch.arange(n, device=lengths.device)[None, :]
    return (steps < lengths[:, None]).unsqueeze(1)


# %% [right] triu_equals_zero_and_sequence_mask | triu of ones with diagonal 1 compared with 0, after harvardnlp/annotated-transformer (subsequent_mask) and d2l (sequence_mask)
def causal_mask(n):
    attn_shape = (n, n)
    subsequent = torch.triu(torch.ones(attn_shape), diagonal=1).type(torch.uint8)
    return subsequent == 0


def padding_mask(lengths, n):
    maxlen = n
    mask = torch.arange(maxlen, dtype=torch.float32, device=lengths.device)[None, :] < lengths[:, None]
    return mask[:, None, :]


# %% [right] one_minus_triu_bool | (1 - triu(ones, 1)).bool(), after jadore801120/attention-is-all-you-need-pytorch (get_subsequent_mask)
def causal_mask(n):
    return (1 - torch.triu(torch.ones((1, n, n)), diagonal=1)).bool().squeeze(0)


def padding_mask(lengths, n):
    position = torch.arange(n, device=lengths.device).expand(lengths.size(0), n)
    return (position < lengths.unsqueeze(-1)).unsqueeze(-2)


# %% [right] inverted_pad_mask | pad mask with >= and its inversion, after Hiroshiba/yukarin_esosoav (ESPnet make_pad_mask, make_non_pad_mask)
def _make_pad_mask(length, maxlen):
    return torch.arange(maxlen, dtype=torch.int64, device=length.device).unsqueeze(0) >= length.unsqueeze(1)


def causal_mask(n):
    return ~torch.triu(torch.ones((n, n), dtype=torch.bool), diagonal=1)


def padding_mask(lengths, n):
    return torch.logical_not(_make_pad_mask(lengths, n)).unsqueeze(1)


# %% [right] additive_mask_compared_with_zero | full(-inf).triu(1), kept where it is 0, after pytorch nn.Transformer.generate_square_subsequent_mask
def causal_mask(n):
    additive = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
    return additive == 0


def padding_mask(lengths, n):
    batch = lengths.shape[0]
    mask = torch.zeros(batch, 1, n, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        mask[b, :, :length] = True
    return mask


# %% [right] row_index_against_column_index | q_idx >= kv_idx with two views of one arange, after shreyansh26/Attention-Mask-Patterns (mask functions)
def causal_mask(n):
    idx = torch.arange(n)
    return idx.view(n, 1) >= idx.view(1, n)


def padding_mask(lengths, n):
    kv_idx = torch.arange(n, device=lengths.device)
    return kv_idx[None, None, :] < lengths[:, None, None]


# %% [right] tril_indices_and_one_hot_cumsum | tril_indices set True; one-hot of the length, cumulated, after index tricks in forum answers
def causal_mask(n):
    mask = torch.zeros(n, n, dtype=torch.bool)
    rows, cols = torch.tril_indices(n, n)
    mask[rows, cols] = True
    return mask


def padding_mask(lengths, n):
    ended = F.one_hot(lengths.long(), n + 1).cumsum(-1)[:, :n]
    return (ended == 0).unsqueeze(1)


# %% [right] numpy_triu_and_from_numpy | np.triu with k=1 as uint8 and torch.from_numpy, after the first annotated transformer
def causal_mask(n):
    future = np.triu(np.ones((n, n)), k=1).astype("uint8")
    return torch.from_numpy(future) == 0


def padding_mask(lengths, n):
    grid = torch.arange(n).to(lengths.device)
    return torch.stack([grid < length for length in lengths]).unsqueeze(1) if len(lengths) else grid.new_zeros(
        (0, 1, n), dtype=torch.bool
    )


# %% [right] eye_cumulated_and_repeat | the identity cumulated down the rows; repeat in place of broadcasting, after a code golf style answer
def causal_mask(n):
    return torch.eye(n).cumsum(dim=0).bool()


def padding_mask(lengths, n):
    places = torch.arange(1, n + 1, device=lengths.device).repeat(lengths.numel(), 1)
    return torch.le(places, lengths.reshape(-1, 1))[:, None]


# %% [right] lru_cached_mask | functools.lru_cache on the causal mask, lengths by repeat and expand, after allenai/longformer (lru_cache on masks)
from functools import lru_cache


@lru_cache()
def _triangle(n):
    return torch.ones(n, n, dtype=torch.uint8).tril(diagonal=0).bool()


def causal_mask(n):
    return _triangle(n).clone()


def padding_mask(lengths, n):
    seq_range = torch.arange(0, n).long().to(lengths.device)
    seq_range_expand = seq_range.unsqueeze(0).expand(lengths.size(0), n)
    seq_length_expand = lengths.unsqueeze(1).expand_as(seq_range_expand)
    return (seq_range_expand < seq_length_expand).unsqueeze(1)


# %% [right] additive_neg_inf_transposed | the old generate_square_subsequent_mask with (triu == 1).transpose, isinf at the end, after pytorch/tutorials (translation_transformer)
def causal_mask(n):
    mask = (torch.triu(torch.ones((n, n))) == 1).transpose(0, 1)
    mask = mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, float(0.0))
    return ~torch.isinf(mask)


def padding_mask(lengths, n):
    src_key_padding = torch.ones(len(lengths), n, dtype=torch.bool, device=lengths.device)
    columns = torch.arange(n, device=lengths.device)
    src_key_padding &= columns >= lengths.view(-1, 1)
    return src_key_padding.logical_not()[:, None, :]


# %% [right] meshgrid_indices | torch.meshgrid with indexing ij, ge; cumulative sum of ones against lengths, after geometry style code
def causal_mask(n):
    i, j = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    return torch.ge(i, j)


def padding_mask(lengths, n):
    ones = torch.ones(lengths.shape[0], 1, n, dtype=torch.long, device=lengths.device)
    return ones.cumsum(-1) <= lengths[:, None, None]
