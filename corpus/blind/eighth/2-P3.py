# %% [wrong] image_sees_the_changed_text | The image looks at the text with the text's update added to it already; both directions should read what came in. The update of the image depends on the first attention.
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

# %% [wrong] context_without_its_norm | The side that is looked at goes in without its norm; both sides should be normalised, as tokens and as context. Keys and values depend on the size of the raw tokens.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        asking_text = self.text_in(self.text_norm(text_tokens))
        asking_image = self.image_in(self.image_norm(image_tokens))
        to_text, _ = self.text_from_image(asking_text, self.image_in(image_tokens))
        to_image, _ = self.image_from_text(asking_image, self.text_in(text_tokens))
        return self.text_out(to_text), self.image_out(to_image)

# %% [wrong] always_four_heads | Both attentions are built with 4 heads, whatever num_heads says; it should be handed on. With num_heads=8 the maps and the outputs are those of four heads, and a d_model that 4 does not divide raises an error.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width in (("text", d_text), ("image", d_image)):
            setattr(self, f"{side}_norm", nn.LayerNorm(width))
            setattr(self, f"{side}_in", nn.Linear(width, d_model))
            setattr(self, f"{side}_out", nn.Linear(d_model, width))
        self.text_from_image, self.image_from_text = (MultiHeadAttention(d_model, 4) for _ in range(2))

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        return (
            self.text_out(self.text_from_image(text, image)[0]),
            self.image_out(self.image_from_text(image, text)[0]),
        )

# %% [wrong] norm_after_the_projection | The norms are d_model wide and stand after text_in and image_in; they should normalise each side at its own width, before. Their parameters have other shapes, and the numbers are others.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_norm, self.image_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text, image = self.text_norm(self.text_in(text_tokens)), self.image_norm(self.image_in(image_tokens))
        text_update, _ = self.text_from_image(text, image)
        image_update, _ = self.image_from_text(image, text)
        return self.text_out(text_update), self.image_out(image_update)

# %% [wrong] tokens_added_back | The tokens themselves are added to what comes back; the layer should return updates without a residual. The caller adds them once more, and the tokens double with every layer.
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
        new_text = text_tokens + self.text_out(self.text_from_image(text, image)[0])
        new_image = image_tokens + self.image_out(self.image_from_text(image, text)[0])
        return new_text, new_image

# %% [wrong] attentions_exchanged | text_from_image serves the image and image_from_text the text; each should serve the side that it is named after. All shapes fit, and with given weights the updates are wrong.
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
        # the image goes from text_from_image, the text from image_from_text
        image_update, _ = self.text_from_image(image, text)
        text_update, _ = self.image_from_text(text, image)
        return self.text_out(text_update), self.image_out(image_update)

# %% [right] two_sides_in_a_loop | The parts of both sides are made in one loop over their names; a helper brings a side in.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width in {"text": d_text, "image": d_image}.items():
            self.add_module(f"{side}_norm", nn.LayerNorm(width))
            self.add_module(f"{side}_in", nn.Linear(width, d_model))
            self.add_module(f"{side}_out", nn.Linear(d_model, width))
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        (for_text, _), (for_image, _) = self.text_from_image(text, image), self.image_from_text(image, text)
        return self.text_out(for_text), self.image_out(for_image)
