# %% [wrong] image_hears_the_changed_text | The image looks at the text after the text has looked at the image (text plus what it just brought). Both directions should read what came in.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        update, _ = self.text_from_image(text, image)
        text = text + update
        image_update, _ = self.image_from_text(image, text)
        return self.text_out(update), self.image_out(image_update)

# %% [wrong] tokens_inside_the_update | The tokens that came in are added to what is returned. An update without the tokens is asked for: the caller adds them, and they would count twice.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        t = self.text_in(self.text_norm(text_tokens))
        i = self.image_in(self.image_norm(image_tokens))
        new_text = text_tokens + self.text_out(self.text_from_image(t, i)[0])
        new_image = image_tokens + self.image_out(self.image_from_text(i, t)[0])
        return new_text, new_image

# %% [wrong] context_is_not_normalised | Each side is normalised where it asks, but the side that is looked at goes through its in-layer without the norm. Both sides should be normalised once and used so in both places.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text_asks = self.text_in(self.text_norm(text_tokens))
        image_asks = self.image_in(self.image_norm(image_tokens))
        text_update, _ = self.text_from_image(text_asks, self.image_in(image_tokens))
        image_update, _ = self.image_from_text(image_asks, self.text_in(text_tokens))
        return self.text_out(text_update), self.image_out(image_update)

# %% [wrong] one_attention_for_both | image_from_text is the very same module as text_from_image, so both directions share their weights. They should be two layers.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        attn = MultiHeadAttention(d_model, num_heads)
        self.text_from_image = attn
        self.image_from_text = attn
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        text_update = self.text_out(self.text_from_image(text, context=image)[0])
        image_update = self.image_out(self.image_from_text(image, context=text)[0])
        return text_update, image_update

# %% [wrong] always_four_heads | num_heads is accepted, but the second attention is made with 4 heads whatever was asked for. With num_heads = 2 the image looks with four heads, and with a width that 4 does not divide it fails.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.text_in = nn.Linear(d_text, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.image_in = nn.Linear(d_image, d_model)
        self.image_from_text = MultiHeadAttention(d_model, 4)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        return (
            self.text_out(self.text_from_image(text, image)[0]),
            self.image_out(self.image_from_text(image, text)[0]),
        )

# %% [right] sides_in_a_loop | The parts of both sides are made in one loop with setattr, and forward is a chain of small functions over the names of the sides.
class ImageTextFusion(nn.Module):
    SIDES = ("text", "image")

    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width in zip(self.SIDES, (d_text, d_image)):
            setattr(self, f"{side}_norm", nn.LayerNorm(width))
            setattr(self, f"{side}_in", nn.Linear(width, d_model))
            setattr(self, f"{side}_out", nn.Linear(d_model, width))
        for side, other in (self.SIDES, self.SIDES[::-1]):
            setattr(self, f"{side}_from_{other}", MultiHeadAttention(d_model, num_heads))

    def _common(self, side, tokens):
        return getattr(self, f"{side}_in")(getattr(self, f"{side}_norm")(tokens))

    def _update(self, side, other, common):
        heard, _ = getattr(self, f"{side}_from_{other}")(common[side], common[other])
        return getattr(self, f"{side}_out")(heard)

    def forward(self, text_tokens, image_tokens):
        common = {side: self._common(side, x) for side, x in zip(self.SIDES, (text_tokens, image_tokens))}
        return self._update("text", "image", common), self._update("image", "text", common)
