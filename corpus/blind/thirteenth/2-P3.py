# %% [wrong] one_after_the_other | the image looks at the text AFTER the text was updated; both directions should read what came in
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
        text = self.text_from_image(text, image)[0]
        image = self.image_from_text(image, text)[0]
        return self.text_out(text), self.image_out(image)


# %% [wrong] norm_after_in | normalises after the linear layer, at width d_model, instead of the tokens before it: the norms have the wrong shape, and each token's scale goes into the projection
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_norm = nn.LayerNorm(d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_norm(self.text_in(text_tokens))
        image = self.image_norm(self.image_in(image_tokens))
        text_update, _ = self.text_from_image(text, image)
        image_update, _ = self.image_from_text(image, text)
        return self.text_out(text_update), self.image_out(image_update)


# %% [wrong] one_attention_for_both | both names stand for the same attention layer, so the two directions share all their weights
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width in (("text", d_text), ("image", d_image)):
            setattr(self, f"{side}_norm", nn.LayerNorm(width))
            setattr(self, f"{side}_in", nn.Linear(width, d_model))
            setattr(self, f"{side}_out", nn.Linear(d_model, width))
        self.text_from_image = self.image_from_text = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        return (
            self.text_out(self.text_from_image(text, image)[0]),
            self.image_out(self.image_from_text(image, text)[0]),
        )


# %% [wrong] bare_context | only the side that asks is normalised; the side that answers goes into the attention without its norm
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

    def _direction(self, asks, answers, attend, out):
        heard, _ = attend(asks, context=answers)
        return out(heard)

    def forward(self, text_tokens, image_tokens):
        text_update = self._direction(
            self.text_in(self.text_norm(text_tokens)), self.image_in(image_tokens), self.text_from_image, self.text_out
        )
        image_update = self._direction(
            self.image_in(self.image_norm(image_tokens)), self.text_in(text_tokens), self.image_from_text, self.image_out
        )
        return text_update, image_update


# %% [wrong] with_the_residual | returns the tokens plus their updates; the updates alone are asked for, since the caller adds them
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
        new_text = text_tokens + self.text_out(self.text_from_image(t, i)[0])
        new_image = image_tokens + self.image_out(self.image_from_text(i, t)[0])
        return new_text, new_image


# %% [right] sides_by_name | all parts are made and fetched by name in loops; both directions come from one comprehension over the sides
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        widths = {"text": d_text, "image": d_image}
        self.other = {"text": "image", "image": "text"}
        for side, width in widths.items():
            self.add_module(f"{side}_norm", nn.LayerNorm(width))
            self.add_module(f"{side}_in", nn.Linear(width, d_model))
            self.add_module(f"{side}_from_{self.other[side]}", MultiHeadAttention(d_model, num_heads))
            self.add_module(f"{side}_out", nn.Linear(d_model, width))

    def part(self, name):
        return getattr(self, name)

    def forward(self, text_tokens, image_tokens):
        came = {"text": text_tokens, "image": image_tokens}
        read = {side: self.part(f"{side}_in")(self.part(f"{side}_norm")(came[side])) for side in came}
        heard = {
            side: self.part(f"{side}_from_{other}")(read[side], read[other])[0] for side, other in self.other.items()
        }
        return tuple(self.part(f"{side}_out")(heard[side]) for side in ("text", "image"))
