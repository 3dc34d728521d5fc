# %% [wrong] only_the_asking_side_normalised | Only the side that asks is normalised; the context goes into its linear layer raw. Both sides should go through norm and then in, once, and that serves as tokens and as context.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text_update, _ = self.text_from_image(
            self.text_in(self.text_norm(text_tokens)), self.image_in(image_tokens))
        image_update, _ = self.image_from_text(
            self.image_in(self.image_norm(image_tokens)), self.text_in(text_tokens))
        return self.text_out(text_update), self.image_out(image_update)
# %% [wrong] one_attention_for_both_directions | The second line was copied, and still calls text_from_image. The image must look at the text through image_from_text, which is never used here.
class ImageTextFusion(nn.Module):
    """What text and image learn from one another, each at its own width."""

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
        v = self.image_in(self.image_norm(image_tokens))
        t_new = self.text_from_image(t, v)[0]
        v_new = self.text_from_image(v, t)[0]
        return self.text_out(t_new), self.image_out(v_new)
# %% [wrong] residual_inside_at_common_width | What came in is added at the common width before the way out, so each update holds the tokens once more. The update is only what attention brings; the caller adds it to the tokens.
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
        from_image, _ = self.text_from_image(text, context=image)
        from_text, _ = self.image_from_text(image, context=text)
        return self.text_out(text + from_image), self.image_out(image + from_text)
