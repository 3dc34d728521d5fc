# %% [wrong] image_sees_the_new_text | one direction after the other: the image attends to a text that has just been updated, instead of to what came in
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
        text, _ = self.text_from_image(text, image)
        image, _ = self.image_from_text(image, text)
        return self.text_out(text), self.image_out(image)


# %% [wrong] tokens_added | returns tokens + update: the residual stands inside, and the caller adds the tokens once more
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width in (("text", d_text), ("image", d_image)):
            setattr(self, side + "_norm", nn.LayerNorm(width))
            setattr(self, side + "_in", nn.Linear(width, d_model))
            setattr(self, side + "_out", nn.Linear(d_model, width))
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens):
        t = self.text_in(self.text_norm(text_tokens))
        i = self.image_in(self.image_norm(image_tokens))
        text_update = self.text_out(self.text_from_image(t, context=i)[0])
        image_update = self.image_out(self.image_from_text(i, context=t)[0])
        return text_tokens + text_update, image_tokens + image_update


# %% [wrong] norm_after_the_projection | the tokens are first brought to d_model and normalised there: the norms are d_model wide and work on other numbers than the tokens of each side
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_in = nn.Linear(d_text, d_model)
        self.text_norm = nn.LayerNorm(d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_norm(self.text_in(text_tokens))
        image = self.image_norm(self.image_in(image_tokens))
        new_text = self.text_out(self.text_from_image(text, image)[0])
        new_image = self.image_out(self.image_from_text(image, text)[0])
        return new_text, new_image


# %% [wrong] always_four_heads | num_heads is accepted but the two attentions are always made with 4 heads
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image, self.image_from_text = (MultiHeadAttention(d_model, 4) for _ in "ab")
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        pairs = ((self.text_from_image, text, image, self.text_out), (self.image_from_text, image, text, self.image_out))
        return tuple(out(attend(own, other)[0]) for attend, own, other, out in pairs)


# %% [wrong] one_attention_for_both | both names point at one and the same MultiHeadAttention: the two directions share their weights, and the layer has too few parameters
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        attention = MultiHeadAttention(d_model, num_heads)
        self.text_from_image = attention
        self.image_from_text = attention
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def _enter(self, tokens, norm, linear):
        return linear(norm(tokens))

    def forward(self, text_tokens, image_tokens):
        text = self._enter(text_tokens, self.text_norm, self.text_in)
        image = self._enter(image_tokens, self.image_norm, self.image_in)
        heard_by_text, _ = self.text_from_image(text, image)
        heard_by_image, _ = self.image_from_text(image, text)
        return self.text_out(heard_by_text), self.image_out(heard_by_image)


# %% [right] two_sides_in_a_dict | the parts of each side are made and used in a loop over the names of the sides, with getattr; both inputs are kept in a dict
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for own, other, width in (("text", "image", d_text), ("image", "text", d_image)):
            self.add_module(f"{own}_norm", nn.LayerNorm(width))
            self.add_module(f"{own}_in", nn.Linear(width, d_model))
            self.add_module(f"{own}_from_{other}", MultiHeadAttention(d_model, num_heads))
            self.add_module(f"{own}_out", nn.Linear(d_model, width))

    def forward(self, text_tokens, image_tokens):
        raw = {"text": text_tokens, "image": image_tokens}
        entered = {side: getattr(self, f"{side}_in")(getattr(self, f"{side}_norm")(x)) for side, x in raw.items()}

        def update(own, other):
            heard, _ = getattr(self, f"{own}_from_{other}")(entered[own], entered[other])
            return getattr(self, f"{own}_out")(heard)

        return update("text", "image"), update("image", "text")
