# %% [wrong] one_after_the_other | The text is updated first, and the image then looks at the changed text. Both directions should read what came in, so the update of the image is wrong.
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


# %% [wrong] the_context_is_not_normalised | Only the side that asks is normalised; what it looks at goes into the common width as it came. Both sides should be normalised first, whoever asks.
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
        text_update, _ = self.text_from_image(
            self.text_in(self.text_norm(text_tokens)), self.image_in(image_tokens)
        )
        image_update, _ = self.image_from_text(
            self.image_in(self.image_norm(image_tokens)), self.text_in(text_tokens)
        )
        return self.text_out(text_update), self.image_out(image_update)


# %% [wrong] normalised_after_the_way_in | Normalises at the common width, after text_in and image_in, and not before. The norms are d_model wide and not as wide as their side, and the tokens are brought in as they came.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_norm, self.image_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.text_from_image, self.image_from_text = (MultiHeadAttention(d_model, num_heads) for _ in "ab")
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        t = self.text_norm(self.text_in(text_tokens))
        i = self.image_norm(self.image_in(image_tokens))
        return self.text_out(self.text_from_image(t, i)[0]), self.image_out(self.image_from_text(i, t)[0])


# %% [wrong] one_attention_for_both_directions | A chain of = makes one attention serve both directions. Text and image then share their projections, and a whole attention's parameters are missing.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image = self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        new_text = self.text_from_image(text, image)[0]
        new_image = self.image_from_text(image, text)[0]
        return self.text_out(new_text), self.image_out(new_image)


# %% [wrong] residual_inside_the_layer | Adds what came in (at the common width) to what the attention brings before it goes back out. The caller adds the tokens itself, so the layer should return the update alone.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        x = self.text_in(self.text_norm(text_tokens))
        y = self.image_in(self.image_norm(image_tokens))
        x_new = x + self.text_from_image(x, y)[0]
        y_new = y + self.image_from_text(y, x)[0]
        return self.text_out(x_new), self.image_out(y_new)


# %% [right] built_by_name | Makes and finds the parts by name in a loop over the two sides.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for me, you, width in (("text", "image", d_text), ("image", "text", d_image)):
            self.add_module(f"{me}_norm", nn.LayerNorm(width))
            self.add_module(f"{me}_in", nn.Linear(width, d_model))
            self.add_module(f"{me}_from_{you}", MultiHeadAttention(d_model, num_heads))
            self.add_module(f"{me}_out", nn.Linear(d_model, width))

    def part(self, name, *given):
        return self.get_submodule(name)(*given)

    def forward(self, text_tokens, image_tokens):
        arrived = {"text": text_tokens, "image": image_tokens}
        inside = {me: self.part(f"{me}_in", self.part(f"{me}_norm", x)) for me, x in arrived.items()}
        brought = (
            self.part(f"{me}_from_{you}", inside[me], inside[you])[0]
            for me, you in (("text", "image"), ("image", "text"))
        )
        return tuple(self.part(f"{me}_out", x) for me, x in zip(arrived, brought))
