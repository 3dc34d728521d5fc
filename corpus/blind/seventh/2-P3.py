# %% [wrong] image_hears_the_new_text | The image attends to the text after the text's own attention has changed it; both directions must read what came in.
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

# %% [wrong] residual_inside | The tokens are added to both updates; the caller adds them, so they would be added twice. The updates alone are asked for.
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
        t_new = self.text_out(self.text_from_image(t, i)[0])
        i_new = self.image_out(self.image_from_text(i, t)[0])
        return text_tokens + t_new, image_tokens + i_new

# %% [wrong] norms_after_the_projection | Both sides are normalised after they were brought to d_model, with norms of width d_model; the norm comes first, at each side's own width.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_norm(self.text_in(text_tokens))
        image = self.image_norm(self.image_in(image_tokens))
        return (
            self.text_out(self.text_from_image(text, image)[0]),
            self.image_out(self.image_from_text(image, text)[0]),
        )

# %% [wrong] context_not_normalised | Only the side that asks is normalised; the side that answers goes through its projection without the norm. Both sides should be normalised once, before anything else.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text_asks = self.text_in(self.text_norm(text_tokens))
        image_asks = self.image_in(self.image_norm(image_tokens))
        text_update, _ = self.text_from_image(text_asks, self.image_in(image_tokens))
        image_update, _ = self.image_from_text(image_asks, self.text_in(text_tokens))
        return self.text_out(text_update), self.image_out(image_update)

# %% [wrong] one_attention_for_both | image_from_text is the same object as text_from_image, so both directions share their weights, and a whole attention's parameters are missing.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        to_text = self.text_from_image(text, image)[0]
        to_image = self.image_from_text(image, text)[0]
        return self.text_out(to_text), self.image_out(to_image)

# %% [wrong] image_first | The pair is returned as (image, text); the update of the text must come first.
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
        image_update = self.image_out(self.image_from_text(image, text)[0])
        text_update = self.text_out(self.text_from_image(text, image)[0])
        return image_update, text_update

# %% [right] one_loop_for_both_sides | the parts of each side are made in a loop over its name, and one helper reads both
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, other, width in (("text", "image", d_text), ("image", "text", d_image)):
            self.add_module(f"{side}_norm", nn.LayerNorm(width))
            self.add_module(f"{side}_in", nn.Linear(width, d_model))
            self.add_module(f"{side}_from_{other}", MultiHeadAttention(d_model, num_heads))
            self.add_module(f"{side}_out", nn.Linear(d_model, width))

    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        heard, seen = self.image_from_text(image, text)[0], self.text_from_image(text, image)[0]
        return self.text_out(seen), self.image_out(heard)
