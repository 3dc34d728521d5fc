# %% [wrong] image_reads_the_changed_text | The image looks at what the text has just brought back. Both directions should read what came in: the update of the image depends on that of the text.
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

# %% [wrong] one_attention_for_both_ways | Uses one MultiHeadAttention under both names. Each direction should have its own: the two share all weights, and the weights of a whole attention are missing.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        attention = MultiHeadAttention(d_model, num_heads)
        for side, width in (("text", d_text), ("image", d_image)):
            setattr(self, f"{side}_norm", nn.LayerNorm(width))
            setattr(self, f"{side}_in", nn.Linear(width, d_model))
            setattr(self, f"{side}_out", nn.Linear(d_model, width))
        self.text_from_image = attention
        self.image_from_text = attention

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        return (
            self.text_out(self.text_from_image(text, image)[0]),
            self.image_out(self.image_from_text(image, text)[0]),
        )

# %% [wrong] residual_at_the_common_width | Adds what was looked at to the projected tokens before the way back. An update without the tokens themselves is asked for; here each side hands itself back as well, in a projected form.
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
        t_new = t + self.text_from_image(t, context=i)[0]
        i_new = i + self.image_from_text(i, context=t)[0]
        return self.text_out(t_new), self.image_out(i_new)

# %% [wrong] norm_after_the_way_in | Normalises after the projection, with norms that are d_model wide. The tokens should be normalised at their own width, and then projected: other numbers, and other shapes of the norms' parameters.
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
        heard = self.text_from_image(text, image)[0]
        seen = self.image_from_text(image, text)[0]
        return self.text_out(heard), self.image_out(seen)

# %% [wrong] context_not_normalised | Normalises the side that asks, and takes the other side as it is. Both sides should be normalised for both directions: a large token on the answering side dominates.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = map(nn.LayerNorm, (d_text, d_image))
        self.text_in, self.image_in = (nn.Linear(width, d_model) for width in (d_text, d_image))
        self.text_from_image, self.image_from_text = (MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.text_out, self.image_out = (nn.Linear(d_model, width) for width in (d_text, d_image))

    def forward(self, text_tokens, image_tokens):
        text_asks = self.text_in(self.text_norm(text_tokens))
        image_asks = self.image_in(self.image_norm(image_tokens))
        text_answers = self.text_in(text_tokens)
        image_answers = self.image_in(image_tokens)
        text_update, _ = self.text_from_image(text_asks, image_answers)
        image_update, _ = self.image_from_text(image_asks, text_answers)
        return self.text_out(text_update), self.image_out(image_update)

# %% [wrong] always_four_heads | Writes 4 where num_heads should be handed on. With the default nothing shows; with num_heads = 8 or 2 the layer still has four heads.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.text_in, self.text_out = self._side(d_text, d_model)
        self.image_norm, self.image_in, self.image_out = self._side(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads=4)
        self.image_from_text = MultiHeadAttention(d_model, num_heads=4)

    @staticmethod
    def _side(width, d_model):
        return nn.LayerNorm(width), nn.Linear(width, d_model), nn.Linear(d_model, width)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        text_update = self.text_out(self.text_from_image(text, image)[0])
        image_update = self.image_out(self.image_from_text(image, text)[0])
        return text_update, image_update

# %% [right] both_sides_in_one_loop | Text and image are treated by one loop over their names, with getattr; no line is written twice.
class ImageTextFusion(nn.Module):
    SIDES = ("text", "image")

    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, other, width in zip(self.SIDES, self.SIDES[::-1], (d_text, d_image)):
            self.add_module(f"{side}_norm", nn.LayerNorm(width))
            self.add_module(f"{side}_in", nn.Linear(width, d_model))
            self.add_module(f"{side}_from_{other}", MultiHeadAttention(d_model, num_heads))
            self.add_module(f"{side}_out", nn.Linear(d_model, width))

    def part(self, name):
        return getattr(self, name)

    def forward(self, text_tokens, image_tokens):
        came_in = {
            side: self.part(f"{side}_in")(self.part(f"{side}_norm")(tokens))
            for side, tokens in zip(self.SIDES, (text_tokens, image_tokens))
        }
        updates = []
        for side, other in zip(self.SIDES, self.SIDES[::-1]):
            heard, _ = self.part(f"{side}_from_{other}")(came_in[side], came_in[other])
            updates.append(self.part(f"{side}_out")(heard))
        return tuple(updates)
