# %% [wrong] normalised_at_the_common_width | The norms are d_model wide and come after the projection; they should normalise each side at its own width, before it.
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
        return self.text_out(self.text_from_image(text, image)[0]), self.image_out(self.image_from_text(image, text)[0])

# %% [wrong] four_heads_whatever_is_asked | num_heads is not handed on: both attentions always have 4 heads.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads=4)
        self.image_from_text = MultiHeadAttention(d_model, num_heads=4)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        text_seen, _ = self.text_from_image(text, image)
        image_seen, _ = self.image_from_text(image, text)
        return self.text_out(text_seen), self.image_out(image_seen)

# %% [wrong] residual_at_the_common_width | What came in at the common width is added to what was seen before it goes back; the update should hold what was seen alone.
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
        new_text = text + self.text_from_image(text, image)[0]
        new_image = image + self.image_from_text(image, text)[0]
        return self.text_out(new_text), self.image_out(new_image)
