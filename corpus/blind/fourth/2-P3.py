# %% [wrong] image_reads_the_changed_text | The image looks at the text after the text was changed; both directions must read what came in.
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


# %% [wrong] residual_inside | The tokens themselves are added to the updates; the caller adds them once more.
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
        t = self.text_in(self.text_norm(text_tokens))
        i = self.image_in(self.image_norm(image_tokens))
        dt = self.text_out(self.text_from_image(t, i)[0])
        di = self.image_out(self.image_from_text(i, t)[0])
        return text_tokens + dt, image_tokens + di


# %% [wrong] norms_never_called | The norms are made, and the tokens go into the linear layers without them.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image, self.image_from_text = (MultiHeadAttention(d_model, num_heads) for _ in "ab")
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(text_tokens), self.image_in(image_tokens)
        text_update, _ = self.text_from_image(text, image)
        image_update, _ = self.image_from_text(image, text)
        return self.text_out(text_update), self.image_out(image_update)


# %% [wrong] layers_crossed | The two attentions are exchanged: `image_from_text` serves the text, and `text_from_image` the image.
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
        seen_by_text = self.image_from_text(text, image)[0]
        seen_by_image = self.text_from_image(image, text)[0]
        return self.text_out(seen_by_text), self.image_out(seen_by_image)


# %% [wrong] no_context | The attentions get no context: each side looks at itself.
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
        return self.text_out(self.text_from_image(text)[0]), self.image_out(self.image_from_text(image)[0])


# %% [wrong] always_four_heads | The attentions are made with 4 heads, whatever `num_heads` says.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, 4)
        self.image_from_text = MultiHeadAttention(d_model, 4)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        text_new, _ = self.text_from_image(text, image)
        image_new, _ = self.image_from_text(image, text)
        return self.text_out(text_new), self.image_out(image_new)


# %% [right] by_side_and_name | One loop over the two sides makes the parts with `setattr`; a helper makes the update of one side.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, other, width in (("text", "image", d_text), ("image", "text", d_image)):
            setattr(self, f"{side}_norm", nn.LayerNorm(width))
            setattr(self, f"{side}_in", nn.Linear(width, d_model))
            setattr(self, f"{side}_from_{other}", MultiHeadAttention(d_model, num_heads))
            setattr(self, f"{side}_out", nn.Linear(d_model, width))

    def forward(self, text_tokens, image_tokens):
        common = {
            "text": self.text_in(self.text_norm(text_tokens)),
            "image": self.image_in(self.image_norm(image_tokens)),
        }

        def update(side, other):
            seen, _ = getattr(self, f"{side}_from_{other}")(common[side], context=common[other])
            return getattr(self, f"{side}_out")(seen)

        return update("text", "image"), update("image", "text")
