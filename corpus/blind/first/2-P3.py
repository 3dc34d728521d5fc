# %% [wrong] residuals_inside | The tokens are added to the updates (residuals), the updates alone are asked for.
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
        text_update = self.text_out(self.text_from_image(text, image)[0])
        image_update = self.image_out(self.image_from_text(image, text)[0])
        return text_tokens + text_update, image_tokens + image_update

# %% [wrong] image_sees_changed_text | The variable text is overwritten before the second direction, so the image sees a text that has just changed.
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
        text, _ = self.text_from_image(text, image)
        image, _ = self.image_from_text(image, text)
        return self.text_out(text), self.image_out(image)

# %% [wrong] norms_unused | The two norms exist but are not applied to the tokens.
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
        t, i = self.text_in(text_tokens), self.image_in(image_tokens)
        t2, _ = self.text_from_image(t, i)
        i2, _ = self.image_from_text(i, t)
        return self.text_out(t2), self.image_out(i2)

# %% [wrong] one_attention_for_both | One attention layer serves both directions (both names hold the same module); each direction needs its own.
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
        t = self.text_in(self.text_norm(text_tokens))
        i = self.image_in(self.image_norm(image_tokens))
        return self.text_out(self.text_from_image(t, i)[0]), self.image_out(self.image_from_text(i, t)[0])

# %% [wrong] updates_swapped | The updates come back in the wrong order, the image's first.
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

# %% [wrong] num_heads_ignored | num_heads is not handed to the attention layers, they always have 4 heads.
class ImageTextFusion(nn.Module):
    """What text and image learn from one another, each at its own width."""

    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, 4)
        self.image_from_text = MultiHeadAttention(d_model, 4)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        return (
            self.text_out(self.text_from_image(text, image)[0]),
            self.image_out(self.image_from_text(image, text)[0]),
        )

# %% [wrong] out_layers_swapped | text_out and image_out are swapped: text_out goes to d_image and image_out to d_text.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_image)
        self.image_out = nn.Linear(d_model, d_text)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        return self.text_out(self.text_from_image(text, image)[0]), self.image_out(self.image_from_text(image, text)[0])

# %% [wrong] norm_after_in | The norms come after the linear layers and are d_model wide; the tokens should be normalised first, at their own width.
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
        t = self.text_norm(self.text_in(text_tokens))
        i = self.image_norm(self.image_in(image_tokens))
        return self.text_out(self.text_from_image(t, i)[0]), self.image_out(self.image_from_text(i, t)[0])

# %% [wrong] no_context_given | Neither attention is given a context, so text and image only look at themselves.
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
        text_update, _ = self.text_from_image(text)
        image_update, _ = self.image_from_text(image)
        return self.text_out(text_update), self.image_out(image_update)

# %% [wrong] direction_names_mixed_up | The two directions are mixed up: text_from_image is asked by the image, image_from_text by the text.
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
        to_image, _ = self.text_from_image(image, text)
        to_text, _ = self.image_from_text(text, image)
        return self.text_out(to_text), self.image_out(to_image)

# %% [wrong] pair_not_unpacked | The attention returns a pair (output, weights) that is not unpacked, so the linear layer gets a tuple and raises.
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
        text_update = self.text_out(self.text_from_image(text, image))
        image_update = self.image_out(self.image_from_text(image, text))
        return text_update, image_update

# %% [wrong] gelu_after_in | A GELU follows the layers text_in and image_in, which is not part of the layer.
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
        text = F.gelu(self.text_in(self.text_norm(text_tokens)))
        image = F.gelu(self.image_in(self.image_norm(image_tokens)))
        text_update, _ = self.text_from_image(text, image)
        image_update, _ = self.image_from_text(image, text)
        return self.text_out(text_update), self.image_out(image_update)

# %% [wrong] image_normalised_by_text_norm | The image goes through text_norm and not image_norm, which raises where the widths differ.
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
        image = self.image_in(self.text_norm(image_tokens))
        text_update = self.text_out(self.text_from_image(text, image)[0])
        image_update = self.image_out(self.image_from_text(image, text)[0])
        return text_update, image_update

# %% [wrong] bare_linears_and_eight_heads | The linear layers are made without bias AND the default of num_heads is 8, not 4.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=8):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model, bias=False)
        self.image_in = nn.Linear(d_image, d_model, bias=False)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out = nn.Linear(d_model, d_text, bias=False)
        self.image_out = nn.Linear(d_model, d_image, bias=False)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        text_update = self.text_out(self.text_from_image(text, image)[0])
        image_update = self.image_out(self.image_from_text(image, text)[0])
        return text_update, image_update

# %% [wrong] context_detached | Each side sees the other one detached, so no gradient flows from the text's update to the image and the other way round.
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
        # what came in must not change
        old_text, old_image = text.detach(), image.detach()
        text_update, _ = self.text_from_image(text, old_image)
        image_update, _ = self.image_from_text(image, old_text)
        return self.text_out(text_update), self.image_out(image_update)

# %% [right] helper_method | A small method does one direction; both read what came in.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    @staticmethod
    def _update(asks, answers, attention, out):
        brought, _ = attention(asks, answers)
        return out(brought)

    def forward(self, text_tokens, image_tokens):
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        return (
            self._update(text, image, self.text_from_image, self.text_out),
            self._update(image, text, self.image_from_text, self.image_out),
        )

# %% [right] loop_over_sides | The parts are made in a loop with setattr, the forward is written out in plain steps.
class ImageTextFusion(nn.Module):
    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        for side, width in (("text", d_text), ("image", d_image)):
            setattr(self, f"{side}_norm", nn.LayerNorm(width))
            setattr(self, f"{side}_in", nn.Linear(width, d_model))
            setattr(self, f"{side}_out", nn.Linear(d_model, width))
        for name in ("text_from_image", "image_from_text"):
            setattr(self, name, MultiHeadAttention(d_model, num_heads))

    def forward(self, text_tokens, image_tokens):
        normed_text = self.text_norm(text_tokens)
        normed_image = self.image_norm(image_tokens)
        t, i = self.text_in(normed_text), self.image_in(normed_image)
        new_i = self.image_from_text(i, context=t)[0]
        new_t = self.text_from_image(t, context=i)[0]
        return self.text_out(new_t), self.image_out(new_i)

# %% [right] written_out_twice | Nothing is shared between the directions: each works out norm and projection for itself.
class ImageTextFusion(nn.Module):
    """What text and image learn from one another, each at its own width."""

    def __init__(self, d_text, d_image, d_model, num_heads=4):
        super().__init__()
        self.text_norm = nn.LayerNorm(d_text)
        self.image_norm = nn.LayerNorm(d_image)
        self.text_in = nn.Linear(d_text, d_model)
        self.image_in = nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads=num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads=num_heads)
        self.text_out = nn.Linear(d_model, d_text)
        self.image_out = nn.Linear(d_model, d_image)

    def update_text(self, text, image):
        query = self.text_in(self.text_norm(text))
        context = self.image_in(self.image_norm(image))
        output, _weights = self.text_from_image(query, context)
        return self.text_out(output)

    def update_image(self, text, image):
        query = self.image_in(self.image_norm(image))
        context = self.text_in(self.text_norm(text))
        output, _weights = self.image_from_text(query, context)
        return self.image_out(output)

    def forward(self, text_tokens, image_tokens):
        return self.update_text(text_tokens, image_tokens), self.update_image(text_tokens, image_tokens)
