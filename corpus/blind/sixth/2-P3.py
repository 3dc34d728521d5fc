# %% [wrong] one_after_the_other | The image reads the text that has just been updated (text = text + seen), not the one that came in, so the second direction depends on the first
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        seen, _ = self.text_from_image(text, image)
        text = text + seen
        heard, _ = self.image_from_text(image, text)
        return self.text_out(seen), self.image_out(heard)

# %% [wrong] residual_added | The tokens are added to the updates; the task returns the updates without them, else the caller adds the tokens a second time
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        t, v = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        dt = self.text_out(self.text_from_image(t, v)[0])
        dv = self.image_out(self.image_from_text(v, t)[0])
        return text_tokens + dt, image_tokens + dv

# %% [wrong] norm_after_in | The norms are d_model wide and stand after text_in and image_in, instead of d_text and d_image wide before them: other parameters and other numbers
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_norm, self.image_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_norm(self.text_in(text_tokens))
        image = self.image_norm(self.image_in(image_tokens))
        return (self.text_out(self.text_from_image(text, image)[0]),
                self.image_out(self.image_from_text(image, text)[0]))

# %% [wrong] context_unnormalised | The contexts are made from the raw tokens, image_in(image_tokens) and text_in(text_tokens), without their norms: only the side that asks is normalised
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text_update, _ = self.text_from_image(self.text_in(self.text_norm(text_tokens)), self.image_in(image_tokens))
        image_update, _ = self.image_from_text(self.image_in(self.image_norm(image_tokens)), self.text_in(text_tokens))
        return self.text_out(text_update), self.image_out(image_update)

# %% [wrong] one_attention_for_both | image_from_text is the same module as text_from_image (one assignment), so both directions share their matrices and four are missing
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        a, b = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        return self.text_out(self.text_from_image(a, b)[0]), self.image_out(self.image_from_text(b, a)[0])

# %% [wrong] heads_fixed | num_heads is not handed to the two attentions, which always get 4 heads: with another number the maps and the updates are others
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width in (("text", d_text), ("image", d_image)):
            self.add_module(f"{side}_norm", nn.LayerNorm(width))
            self.add_module(f"{side}_in", nn.Linear(width, d_model))
            self.add_module(f"{side}_out", nn.Linear(d_model, width))
        self.text_from_image = MultiHeadAttention(d_model, 4)
        self.image_from_text = MultiHeadAttention(d_model, 4)

    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        return self.text_out(self.text_from_image(text, image)[0]), self.image_out(self.image_from_text(image, text)[0])

# %% [right] by_side | the parts of each side are made in a loop, and both contexts are ready before anybody looks
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, other, width in (("text", "image", d_text), ("image", "text", d_image)):
            self.add_module(f"{side}_norm", nn.LayerNorm(width))
            self.add_module(f"{side}_in", nn.Linear(width, d_model))
            self.add_module(f"{side}_from_{other}", MultiHeadAttention(d_model, num_heads))
            self.add_module(f"{side}_out", nn.Linear(d_model, width))

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        seen, heard = self.text_from_image(text, image)[0], self.image_from_text(image, text)[0]
        return self.text_out(seen), self.image_out(heard)
