# %% [right] aligner_then_context | aligner, then the context of the attention, after projector-then-language-model code
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image_features = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, image_features, mask)


# %% [right] keyword_arguments_everywhere | keywords at every call and a helper method for the image, after vision-language models with a get_image_features method
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_model=d_text, num_heads=num_heads, d_context=d_text)

    def get_image_features(self, image_tokens):
        return self.aligner(image_tokens)

    def forward(self, text_tokens, image_tokens, mask=None):
        attn_output, attn_weights = self.cross_attn(
            tokens=text_tokens, context=self.get_image_features(image_tokens), mask=mask
        )
        return attn_output, attn_weights


# %% [right] add_module_names | parts registered by add_module, results unpacked into a tuple, after older PyTorch code (facebookresearch/ViLBERT)
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super(AlignedCrossAttention, self).__init__()
        self.add_module("aligner", TokenAligner(d_vision, d_text, align_method))
        self.add_module("cross_attn", MultiHeadAttention(d_text, num_heads))

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner.forward(image_tokens)
        outputs = self.cross_attn(text_tokens, aligned, mask=mask)
        return outputs[0], outputs[1]
