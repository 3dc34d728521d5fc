# %% [wrong] the_image_asks | The roles are exchanged: queries come from the image, keys and values from the text. The layers have the wrong widths, and the map is (S, T) and not (T, S).
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(image_tokens)
        k = self.W_K(text_tokens)
        v = self.W_V(text_tokens)
        return masked_attention(q, k, v, mask)


# %% [wrong] keys_used_as_values | Hands the keys over as values as well; W_V exists and is never used. The weights are right, the output is a mixture of the keys.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query, key = self.W_Q(text_tokens), self.W_K(image_tokens)
        return masked_attention(query, key, key, mask)


# %% [wrong] needs_exactly_one_batch_axis | Uses torch.bmm, which takes three axes and no others. Two words and nine patches without a batch, as in the task's own example, stop with an error.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.d_k = d_k
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q, k, v = self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens)
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = stable_softmax(scores)
        return torch.bmm(weights, v), weights


# %% [wrong] patches_of_all_images_in_one_list | Puts the patches of the whole batch into one long list before making keys and values. Without a batch it is right; in a batch every text looks at the images of all others, and the map is (B, T, B·S).
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.d_image = d_image
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        patches = image_tokens.reshape(-1, self.d_image)
        return masked_attention(self.W_Q(text_tokens), self.W_K(patches), self.W_V(patches), mask)


# %% [wrong] mask_turned_round | Turns the mask round before it hands it on, as nn.MultiheadAttention would need it. The words then look exactly at the patches that are hidden from them.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = [nn.Linear(d, d_k, bias=False) for d in (d_text, d_image, d_image)]

    def forward(self, text_tokens, image_tokens, mask=None):
        hidden = None if mask is None else ~mask
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), hidden)


# %% [right] self_attention_with_another_query | Inherits keys and values from a SelfAttention over the image and replaces the query layer alone.
class CrossAttention(SelfAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_image, d_k)
        self.W_Q = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        answer_key, answer_value = map(lambda layer: layer(image_tokens), (self.W_K, self.W_V))
        return masked_attention(self.W_Q(text_tokens), answer_key, answer_value, mask=mask)
