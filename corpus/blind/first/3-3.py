# %% [wrong] post_norm | The norms stand after each addition (post-norm), where pre-norm is asked for: only what a step reads is normalised.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = self.norm1(text_tokens + self.self_attn(text_tokens, mask=mask)[0])
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(x, image_tokens)
            x = self.norm2(x + seen)
        x = self.norm3(x + self.ffn(x))
        return x, weights
# %% [wrong] no_cross_residual | The cross-attention has no residual: its output replaces the tokens instead of being added.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            tokens, weights = self.cross_attn(self.norm2(tokens), image_tokens)
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights
# %% [wrong] residual_from_normalised | The steps are added to the normalised copy and not to the tokens themselves: the residual path is normalised.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
        x = self.norm1(text_tokens)
        x = x + self.self_attn(x, mask=mask)[0]
        w = None
        if self.cross_attn is not None:
            x = self.norm2(x)
            out, w = self.cross_attn(x, image_tokens)
            x = x + out
        x = self.norm3(x)
        x = x + self.ffn(x)
        return x, w
# %% [wrong] mask_to_cross_too | The mask is given to the cross-attention as well, but it is the self-attention's: it is (T, T), not (T, S).
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        out, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        text_tokens = text_tokens + out
        weights = None
        if self.cross_attn is not None:
            out, weights = self.cross_attn(self.norm2(text_tokens), image_tokens, mask)
            text_tokens = text_tokens + out
        return text_tokens + self.ffn(self.norm3(text_tokens)), weights
# %% [wrong] mask_forgotten | The mask is never passed on to the self-attention: every word sees the later ones.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        h, _ = self.self_attn(self.norm1(text_tokens))
        x = text_tokens + h
        cross_weights = None
        if self.cross_attn is not None:
            h, cross_weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + h
        h = self.ffn(self.norm3(x))
        return x + h, cross_weights
# %% [wrong] image_normalised | The image tokens are normalised with norm2, too; they are to be taken as they come.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x, weights = text_tokens, None
        x = x + self.self_attn(self.norm1(x), mask=mask)[0]
        if self.cross_attn is not None:
            attended, weights = self.cross_attn(self.norm2(x), self.norm2(image_tokens))
            x = x + attended
        x = x + self.ffn(self.norm3(x))
        return x, weights
# %% [wrong] cross_arguments_swapped | In the cross-attention the roles are swapped: the image tokens ask and the words answer.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            looked, weights = self.cross_attn(image_tokens, self.norm2(x))
            x = x + looked
        x = x + self.ffn(self.norm3(x))
        return x, weights
# %% [wrong] pair_not_unpacked | The pair that self_attn returns is added to the tokens without taking its first element, which raises a TypeError.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens
        x = x + self.self_attn(self.norm1(x), mask=mask)
        weights = None
        if self.cross_attn is not None:
            y, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + y
        return x + self.ffn(self.norm3(x)), weights
# %% [wrong] self_weights_returned | With cross=False the self-attention's weights come back, where None is asked for: the same variable is used for both.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens
        out, weights = self.self_attn(self.norm1(tokens), mask=mask)
        tokens = tokens + out
        if self.cross_attn is not None:
            out, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + out
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights
# %% [wrong] norm2_always_made | With cross=False norm2 is still made, although it should be None: it is a parameter that nothing uses.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = None
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            out, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + out
        return x + self.ffn(self.norm3(x)), weights
# %% [wrong] shared_norm | One and the same LayerNorm serves as norm1, norm2 and norm3, where three separate ones with their own scale and shift are asked for.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        norm = nn.LayerNorm(d_model)
        self.norm1 = norm
        self.norm2 = norm if cross else None
        self.norm3 = norm
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            change, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + change
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights
# %% [wrong] ffn_not_normalised | The feed-forward step reads the tokens without norm3.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            delta, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + delta
        x = x + self.ffn(x)
        return x, weights
# %% [wrong] relu_ffn | The feed-forward network has a ReLU where a GELU is asked for.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.ffn = nn.Sequential(
            nn.Linear(d_model, d_ff),
            nn.ReLU(),
            nn.Linear(d_ff, d_model),
        )
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        text_tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            text_tokens = text_tokens + seen
        text_tokens = text_tokens + self.ffn(self.norm3(text_tokens))
        return text_tokens, weights
# %% [wrong] head_average_returned | The cross-attention weights are averaged over the heads before they are returned; (..., num_heads, T, S) is asked for.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        if self.cross_attn is None:
            return x + self.ffn(self.norm3(x)), None
        seen, weights = self.cross_attn(self.norm2(x), image_tokens)
        x = x + seen
        return x + self.ffn(self.norm3(x)), weights.mean(dim=-3)
# %% [wrong] cross_before_self | The order of the steps is wrong: the words look at the image before they look at each other.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x, weights = text_tokens, None
        if self.cross_attn is not None:
            out, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + out
        x = x + self.self_attn(self.norm1(x), mask=mask)[0]
        x = x + self.ffn(self.norm3(x))
        return x, weights
# %% [wrong] double_residual | Each step adds its own input inside (the helper already returns x + step(x)), and forward adds the tokens once more outside.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def _attend(self, x, mask):
        return x + self.self_attn(self.norm1(x), mask=mask)[0]

    def _feed(self, x):
        return x + self.ffn(self.norm3(x))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens + self._attend(text_tokens, mask)
        weights = None
        if self.cross_attn is not None:
            looked, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + looked
        return tokens + self._feed(tokens), weights
# %% [wrong] parallel_steps | All three steps read the block's input, in parallel; each should read what the one before it left.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        a, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        f = self.ffn(self.norm3(text_tokens))
        if self.cross_attn is None:
            return text_tokens + a + f, None
        c, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
        return text_tokens + a + c + f, weights
# %% [wrong] image_not_given | The cross-attention gets no image tokens, so it falls back to self-attention over the words.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            y, weights = self.cross_attn(self.norm2(x))
            x = x + y
        x = x + self.ffn(self.norm3(x))
        return x, weights
# %% [wrong] decides_by_image | Whether to cross-attend is decided by whether image tokens came, not by `cross`: a block with cross=False that gets an image calls None.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if image_tokens is not None:
            y, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + y
        return x + self.ffn(self.norm3(x)), weights
# %% [wrong] return_order_swapped | The two results come back in the wrong order: weights first, then the tokens.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            got, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + got
        tokens = tokens + self.ffn(self.norm3(tokens))
        return weights, tokens
# %% [wrong] in_place_residual | The additions are made in place with `+=` on text_tokens, so the caller's tokens are changed.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        text_tokens += self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            out, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            text_tokens += out
        text_tokens += self.ffn(self.norm3(text_tokens))
        return text_tokens, weights
# %% [wrong] d_ff_ignored_and_mask_inverted | d_ff is ignored: the feed-forward network is always 4·d_model wide. AND the mask is inverted before the self-attention, though True already means "may attend".
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        blocked = None if mask is None else ~mask   # PyTorch: True = not allowed
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=blocked)[0]
        weights = None
        if self.cross_attn is not None:
            y, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + y
        return x + self.ffn(self.norm3(x)), weights
# %% [wrong] dropout_in_block | Dropout of 0.1 is applied to every step's output; nothing asks for it, and in training mode the result is random.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(0.1)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.drop(self.self_attn(self.norm1(text_tokens), mask=mask)[0])
        weights = None
        if self.cross_attn is not None:
            y, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + self.drop(y)
        x = x + self.drop(self.ffn(self.norm3(x)))
        return x, weights
# %% [right] early_return_and_helper | A small helper for the last step, and an early return for blocks without cross-attention.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        norms = [nn.LayerNorm(d_model) for _ in range(3)]
        self.norm1, self.norm2, self.norm3 = norms[0], norms[1] if cross else None, norms[2]
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = None if not cross else MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def think(self, x):
        return x + self.ffn(self.norm3(x))

    def forward(self, text_tokens, image_tokens, mask=None):
        read, _ = self.self_attn(self.norm1(text_tokens), None, mask)
        tokens = text_tokens + read
        if self.cross_attn is None:
            return self.think(tokens), None
        seen, weights = self.cross_attn(self.norm2(tokens), image_tokens)
        return self.think(tokens + seen), weights
# %% [right] explicit_context | Self-attention with its context written out, torch.add, and `cross` kept as an attribute.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.cross = cross
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)
        else:
            self.cross_attn = self.norm2 = None
        hidden, back = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.ffn = nn.Sequential(hidden, nn.GELU(), back)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        normed = self.norm1(text_tokens)
        x = torch.add(text_tokens, self.self_attn(normed, context=normed, mask=mask)[0])
        cross_weights = None
        if self.cross:
            output, cross_weights = self.cross_attn(tokens=self.norm2(x), context=image_tokens)
            x = torch.add(x, output)
        x = torch.add(x, self.ffn(self.norm3(x)))
        return x, cross_weights
# %% [right] list_of_steps | The steps are collected as functions in a list, and run in one loop; the weights are kept aside.
class VisionLanguageBlock(nn.Module):
    """Self-attention, cross-attention (if cross), feed-forward; pre-norm, each with its residual."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        steps = [(self.norm1, lambda x: self.self_attn(x, mask=mask))]
        if self.cross_attn is not None:
            steps.append((self.norm2, lambda x: self.cross_attn(x, image_tokens)))
        tokens, kept = text_tokens, []
        for norm, step in steps:
            change, weights = step(norm(tokens))
            kept.append(weights)
            tokens = tokens + change
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, kept[1] if len(kept) == 2 else None
