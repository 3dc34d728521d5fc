# %% [wrong] one_after_the_other | The image reads the text after its update: the second direction must see what came in.
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

# %% [wrong] residual_inside | Adds the tokens to what it returns; the update alone is asked for, and the caller adds it once.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width in (("text", d_text), ("image", d_image)):
            setattr(self, f"{side}_norm", nn.LayerNorm(width))
            setattr(self, f"{side}_in", nn.Linear(width, d_model))
            setattr(self, f"{side}_out", nn.Linear(d_model, width))
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens, image_tokens):
        text, image = self.text_in(self.text_norm(text_tokens)), self.image_in(self.image_norm(image_tokens))
        text_update = self.text_out(self.text_from_image(text, image)[0])
        image_update = self.image_out(self.image_from_text(image, text)[0])
        return text_tokens + text_update, image_tokens + image_update

# %% [wrong] norm_after_in | Norms of width d_model that stand after the projection in place of before it.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        t = self.text_norm(self.text_in(text_tokens))
        i = self.image_norm(self.image_in(image_tokens))
        return self.text_out(self.text_from_image(t, i)[0]), self.image_out(self.image_from_text(i, t)[0])

# %% [wrong] attention_to_itself | image_from_text is called without a context, so the image looks at itself and never at the text.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image, self.image_from_text = (MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        words = self.text_in(self.text_norm(text_tokens))
        patches = self.image_in(self.image_norm(image_tokens))
        seen, _ = self.text_from_image(words, context=patches)
        heard, _ = self.image_from_text(patches)
        return self.text_out(seen), self.image_out(heard)

# %% [wrong] four_heads_always | num_heads is not handed on: both attentions are made with 4 heads whatever is asked for.
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
        new_text, _ = self.text_from_image(text, image)
        new_image, _ = self.image_from_text(image, text)
        return self.text_out(new_text), self.image_out(new_image)

# %% [wrong] raw_context | The side that asks is normalised, but the side that answers is projected without its norm.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_from_image(self.text_in(self.text_norm(text_tokens)), self.image_in(image_tokens))[0]
        image = self.image_from_text(self.image_in(self.image_norm(image_tokens)), self.text_in(text_tokens))[0]
        return self.text_out(text), self.image_out(image)

# %% [right] module_calls_in_pipes | Builds each way in and out with nn.Sequential on the fly from the named parts.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        widths = dict(text=d_text, image=d_image)
        for side, other in (("text", "image"), ("image", "text")):
            self.add_module(f"{side}_norm", nn.LayerNorm(widths[side]))
            self.add_module(f"{side}_in", nn.Linear(widths[side], d_model))
            self.add_module(f"{side}_from_{other}", MultiHeadAttention(d_model, num_heads))
            self.add_module(f"{side}_out", nn.Linear(d_model, widths[side]))

    def forward(self, text_tokens, image_tokens):
        inside = {
            "text": nn.Sequential(self.text_norm, self.text_in)(text_tokens),
            "image": nn.Sequential(self.image_norm, self.image_in)(image_tokens),
        }
        updates = []
        for side, other in (("text", "image"), ("image", "text")):
            brought = getattr(self, f"{side}_from_{other}")(inside[side], context=inside[other])
            updates.append(getattr(self, f"{side}_out")(brought[0]))
        return tuple(updates)
