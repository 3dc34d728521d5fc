# %% [wrong] image_sees_changed_text | the image looks at the text after it has been updated (text + seen); both directions should read what came in
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

# %% [wrong] residual_inside | the tokens are added to both updates; the task says without the tokens themselves, because the caller adds them once
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        t, i = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        t_new = self.text_out(self.text_from_image(t, i)[0])
        i_new = self.image_out(self.image_from_text(i, t)[0])
        return text_tokens + t_new, image_tokens + i_new

# %% [wrong] norm_after_in | the norms are d_model wide and stand after text_in and image_in; they should normalise the tokens at their own width, before the projection
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

# %% [wrong] shared_attention | one MultiHeadAttention serves both directions (image_from_text is the same module as text_from_image); each should have its own matrices
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        a, _ = self.text_from_image(text, image)
        b, _ = self.image_from_text(image, text)
        return self.text_out(a), self.image_out(b)

# %% [wrong] layers_crossed | the text's update is made by image_from_text and the image's by text_from_image: shapes fit, but each direction uses the other's matrices
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
        for_text = self.image_from_text(text, image)[0]
        for_image = self.text_from_image(image, text)[0]
        return self.text_out(for_text), self.image_out(for_image)

# %% [wrong] default_heads | num_heads is not handed on: both attentions are made with 4 heads, whatever was asked for
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image, self.image_from_text = (MultiHeadAttention(d_model, 4) for _ in range(2))
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        return self.text_out(self.text_from_image(text, image)[0]), self.image_out(self.image_from_text(image, text)[0])

# %% [right] loop_over_sides | the parts of both sides are made in one loop by name, and one inner helper reads a side
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, other, width in (("text", "image", d_text), ("image", "text", d_image)):
            setattr(self, f"{side}_norm", nn.LayerNorm(width))
            setattr(self, f"{side}_in", nn.Linear(width, d_model))
            setattr(self, f"{side}_from_{other}", MultiHeadAttention(d_model, num_heads))
            setattr(self, f"{side}_out", nn.Linear(d_model, width))

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        (seen, _), (heard, _) = self.text_from_image(text, image), self.image_from_text(image, text)
        return self.text_out(seen), self.image_out(heard)
