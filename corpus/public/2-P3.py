# %% [right] both_directions_from_normed_inputs | normed and projected once, two attentions, two projections back, after facebookresearch/vilbert-multi-task (BertBiAttention)
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
        text_update, _ = self.text_from_image(text, image)
        image_update, _ = self.image_from_text(image, text)
        return self.text_out(text_update), self.image_out(image_update)


# %% [right] init_with_eps_and_truncated_normal | LayerNorm with eps 1e-6, started linears, after IDEA-Research/GroundingDINO (BiMultiHeadAttention) (unsure: eps of the norm)
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text, eps=1e-6), nn.LayerNorm(d_image, eps=1e-6)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)
        for linear in (self.text_in, self.image_in, self.text_out, self.image_out):
            nn.init.trunc_normal_(linear.weight, std=0.02)
            nn.init.constant_(linear.bias, 0)

    def forward(self, text_tokens, image_tokens):
        v = self.image_in(self.image_norm(image_tokens))
        l = self.text_in(self.text_norm(text_tokens))
        delta_l = self.text_out(self.text_from_image(l, context=v)[0])
        delta_v = self.image_out(self.image_from_text(v, context=l)[0])
        return delta_l, delta_v


# %% [right] helper_methods_for_each_side | a method that brings a side in and one that brings it out, after LXMERT (airsplay/lxmert cross_att)
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width in (("text", d_text), ("image", d_image)):
            setattr(self, f"{side}_norm", nn.LayerNorm(width))
            setattr(self, f"{side}_in", nn.Linear(width, d_model))
            setattr(self, f"{side}_out", nn.Linear(d_model, width))
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)

    def _project(self, side, x):
        return getattr(self, f"{side}_in")(getattr(self, f"{side}_norm")(x))

    def cross_att(self, lang, visn):
        lang_att_output = self.text_from_image(lang, visn)[0]
        visn_att_output = self.image_from_text(visn, lang)[0]
        return lang_att_output, visn_att_output

    def forward(self, text_tokens, image_tokens):
        lang, visn = self.cross_att(self._project("text", text_tokens), self._project("image", image_tokens))
        return self.text_out(lang), self.image_out(visn)
