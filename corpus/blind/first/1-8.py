# %% [wrong] image_asks | the roles are turned round: the image tokens make the queries, the text makes keys and values
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(image_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)
# %% [wrong] values_from_text | the values are made from the text; they must come from the image, like the keys
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(text_tokens), mask)
# %% [wrong] all_read_d_text | all three projections read d_text numbers; W_K and W_V must read d_image, so it fails where the two differ
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(text_tokens)
        k = self.W_K(image_tokens)
        v = self.W_V(image_tokens)
        return masked_attention(q, k, v, mask)
# %% [wrong] key_layer_reads_text_width | only W_K is made with d_text instead of d_image
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q, k, v = self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(q, k, v, mask)
# %% [wrong] with_bias | the layers have biases; bias=False is missing
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k)
        self.W_K = nn.Linear(d_image, d_k)
        self.W_V = nn.Linear(d_image, d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
# %% [wrong] bias_on_values_only | W_V alone has a bias (bias=False forgotten there)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
# %% [wrong] mask_dropped | forward takes a mask but calls the attention without it
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens)
        key, value = self.W_K(image_tokens), self.W_V(image_tokens)
        output, weights = attention(query, key, value)
        return output, weights
# %% [wrong] mask_inverted | written out by hand with masked_fill(mask, -inf): it hides where the mask says may attend
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        scores = scaled_scores(self.W_Q(text_tokens), self.W_K(image_tokens))
        if mask is not None:
            scores = scores.masked_fill(mask, -math.inf)
        weights = stable_softmax(scores)
        return weights @ self.W_V(image_tokens), weights
# %% [wrong] weights_transposed | the returned weights are transposed to (..., S, T)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        out, w = masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
        return out, w.transpose(-2, -1)
# %% [wrong] return_order | returns the weights before the output
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
        return weights, output
# %% [wrong] values_keep_image_width | W_V goes to d_image instead of d_k, so the output has the wrong width
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_image, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
# %% [wrong] super_not_called | super().__init__() is missing, so nn.Module refuses the layers
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        self.d_k = d_k
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
# %% [wrong] forward_arguments_swapped | forward takes image_tokens first and text_tokens second; the order asked for is text, image
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, image_tokens, text_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
# %% [wrong] constructor_arguments_swapped | __init__ takes d_image before d_text; CrossAttention(d_text, d_image, d_k) then builds layers of the wrong widths
class CrossAttention(nn.Module):
    def __init__(self, d_image, d_text, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
# %% [wrong] keys_serve_as_values | one projection of the image serves as keys and as values; W_V is missing
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.W_K(image_tokens)
        return masked_attention(self.W_Q(text_tokens), image, image, mask)
# %% [wrong] shared_key_value_layer | W_V is the same layer object as W_K, so keys and values share their parameters
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = self.W_K

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
# %% [wrong] output_layer_added | an output projection W_O is added that was not asked for: too many parameters and another output
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)
        self.W_O = nn.Linear(d_k, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        out, attn = masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
        return self.W_O(out), attn
# %% [wrong] cosine_queries_keys | queries and keys are normalised to length 1 before they are compared, which is cosine similarity and not the dot product
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = F.normalize(self.W_Q(text_tokens), dim=-1)
        k = F.normalize(self.W_K(image_tokens), dim=-1)
        return masked_attention(q, k, self.W_V(image_tokens), mask)
# %% [wrong] image_detached | the image tokens are detached, so no gradient flows back to the image
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = image_tokens.detach()      # the image encoder is frozen
        return masked_attention(self.W_Q(text_tokens), self.W_K(image), self.W_V(image), mask)
# %% [wrong] attribute_typo | forward calls self.W_q, but the layer is named W_Q: AttributeError
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
# %% [wrong] keys_from_text_self_attention | SelfAttention is reused on the text alone: the image tokens never enter
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)
# %% [wrong] nine_patches_hard_coded | the image is reshaped to nine patches, so any other number of patches raises
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.d_image = d_image
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        image_tokens = image_tokens.reshape(*image_tokens.shape[:-2], 9, self.d_image)
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
# %% [wrong] scaled_by_image_width | written out by hand, with the root of d_image instead of d_k
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.scale = 1 / math.sqrt(d_image)
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        scores = self.W_Q(text_tokens) @ self.W_K(image_tokens).transpose(-2, -1) * self.scale
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = stable_softmax(scores)
        return weights @ self.W_V(image_tokens), weights
# %% [wrong] weights_averaged_over_words | the weights are averaged over the words before they are returned, so the axis T is gone
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = masked_attention(
            self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
        return output, weights.mean(dim=-2)
# %% [wrong] words_softmaxed_over_text | the softmax runs over the words (dim=-2) instead of the patches
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        s = scaled_scores(self.W_Q(text_tokens), self.W_K(image_tokens))
        if mask is not None:
            s = s.masked_fill(~mask, -math.inf)
        w = stable_softmax(s, dim=-2)
        return w @ self.W_V(image_tokens), w
# %% [wrong] bias_and_order | the layers have biases AND the weights are returned before the output
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k)
        self.W_K = nn.Linear(d_image, d_k)
        self.W_V = nn.Linear(d_image, d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        ctx, att = masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
        return att, ctx
# %% [right] generator_of_layers | the layers are made from a tuple of widths
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d, d_k, bias=False) for d in (d_text, d_image, d_image))

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(
            query=self.W_Q(text_tokens),
            key=self.W_K(image_tokens),
            value=self.W_V(image_tokens),
            mask=mask,
        )
# %% [right] inherits_from_self_attention | a subclass of SelfAttention that replaces two of its layers
class CrossAttention(SelfAttention):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_text, d_k)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(text_tokens)
        k = self.W_K(image_tokens)
        v = self.W_V(image_tokens)
        return masked_attention(q, k, v, mask)
# %% [right] values_projected_after_mixing | mixes the raw patches and projects the mixture, which is the same by linearity
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        mixed_patches, weights = masked_attention(
            self.W_Q(text_tokens), self.W_K(image_tokens), image_tokens, mask
        )
        return self.W_V(mixed_patches), weights
