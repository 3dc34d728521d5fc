# %% [wrong] method_lost | align_method is taken and never handed to the aligner, which is always the linear one
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.align_method = align_method
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)


# %% [wrong] aligner_unused | the attention is built with d_context=d_vision and looks at the image tokens as they came: the aligner exists, but nothing goes through it, and W_K, W_V have another shape than asked for
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = self.cross_attn(text_tokens, context=image_tokens, mask=mask)
        return output, weights


# %% [wrong] residual_added | adds the text tokens to what the attention puts out; the task asks for the output of the attention alone
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.add_module("aligner", TokenAligner(d_vision, d_text, align_method))
        self.add_module("cross_attn", MultiHeadAttention(d_text, num_heads))

    def forward(self, text_tokens, image_tokens, mask=None):
        looked, weights = self.cross_attn(text_tokens, self.aligner(image_tokens), mask=mask)
        output = text_tokens + looked
        return output, weights


# %% [wrong] image_is_asking | the aligned image is given as the tokens and the text as the context: the image asks, the text answers, and output and map are those of S patches over T words
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        if mask is not None:
            mask = mask.expand(*mask.shape[:-2], text_tokens.shape[-2], aligned.shape[-2]).transpose(-2, -1)
        return self.cross_attn(aligned, text_tokens, mask)


# %% [wrong] text_in_the_context | the context is text and image in one sequence, so words look at words too: the map has T + S columns instead of S, and a mask for S columns no longer fits
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_model=d_text, num_heads=num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        context = torch.cat([text_tokens, image], dim=-2)
        return self.cross_attn(text_tokens, context, mask)


# %% [right] parts_in_a_table | registers both parts from a dictionary and calls the attention with a dictionary of arguments
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        parts = {
            "aligner": TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method),
            "cross_attn": MultiHeadAttention(d_model=d_text, num_heads=num_heads),
        }
        for name, part in parts.items():
            self.register_module(name, part)

    def forward(self, text_tokens, image_tokens, mask=None):
        arguments = dict(tokens=text_tokens, context=self.aligner(image_tokens))
        if mask is not None:
            arguments["mask"] = mask
        output, weights = self.cross_attn(**arguments)
        return output, weights
