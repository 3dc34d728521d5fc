# %% [right] inverted_unsqueeze | ~padding with an axis for the words, after pytorch issue threads on key_padding_mask
def look_past_padding(cross_attn, words, patches, padding):
    return cross_attn(words, patches, ~padding.unsqueeze(-2))


# %% [right] logical_not_expanded | logical_not, expanded to (B, T, S), after espnet (make_non_pad_mask)
def look_past_padding(cross_attn, words, patches, padding):
    valid = torch.logical_not(padding)
    mask = valid[:, None, :].expand(-1, words.shape[1], -1)
    seen, weights = cross_attn(words, context=patches, mask=mask)
    return seen, weights


# %% [right] equals_zero_as_in_bert | padding turned to an integer attention mask and compared with 1, after xiao-nan-liu/workspace (get_attn_pad_mask)
def look_past_padding(cross_attn, words, patches, padding):
    attention_mask = 1 - padding.long()
    allowed = attention_mask[:, None, :] == 1
    outputs = cross_attn(words, patches, allowed)
    return outputs[0], outputs[1]
