# %% [right] three_lines_pre_norm | x = x + sublayer(norm(x)), three times, after mcolletta/max-llm-book (x = x + sublayer(layer_norm(x)))
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens
        x = x + self.self_attn(self.norm1(x), mask=mask)[0]
        cross_weights = None
        if self.cross_attn is not None:
            seen, cross_weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + seen
        x = x + self.ffn(self.norm3(x))
        return x, cross_weights


# %% [right] residual_variables | residual = hidden_states kept before each step, after robbertvanginkel/max-llm-book (step 9: save the input as residual)
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.has_cross = cross
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)
        else:
            self.register_module("cross_attn", None)
            self.register_module("norm2", None)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        residual = text_tokens
        hidden_states, _ = self.self_attn(self.norm1(text_tokens), None, mask)
        hidden_states = residual + hidden_states

        cross_attn_weights = None
        if self.has_cross:
            residual = hidden_states
            hidden_states, cross_attn_weights = self.cross_attn(self.norm2(hidden_states), image_tokens)
            hidden_states = residual + hidden_states

        residual = hidden_states
        hidden_states = residual + self.ffn(self.norm3(hidden_states))
        return hidden_states, cross_attn_weights


# %% [right] private_sublayer_methods | _sa_block, _mha_block and _ff_block as methods, after pytorch/pytorch (nn.TransformerDecoderLayer with norm_first)
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = None
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = None
        self.norm3 = nn.LayerNorm(d_model)
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def _sa_block(self, x, mask):
        return self.self_attn(x, context=x, mask=mask)[0]

    def _mha_block(self, x, memory):
        return self.cross_attn(x, memory)

    def _ff_block(self, x):
        return self.ffn(x)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x, weights = text_tokens, None
        x = x + self._sa_block(self.norm1(x), mask)
        if self.cross_attn is not None:
            attended, weights = self._mha_block(self.norm2(x), image_tokens)
            x = x + attended
        return x + self._ff_block(self.norm3(x)), weights


# %% [right] sublayer_connection_helper | a residual helper that takes a norm and a function, after harvardnlp/annotated-transformer (SublayerConnection)
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    @staticmethod
    def _connect(x, norm, sublayer):
        out = sublayer(norm(x))
        out, extra = out if isinstance(out, tuple) else (out, None)
        return x + out, extra

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x, _ = self._connect(text_tokens, self.norm1, lambda y: self.self_attn(y, mask=mask))
        cross_map = None
        if self.cross_attn is not None:
            x, cross_map = self._connect(x, self.norm2, lambda y: self.cross_attn(y, image_tokens))
        x, _ = self._connect(x, self.norm3, self.ffn)
        return x, cross_map


# %% [right] partial_norm_layer_and_list_of_layers | norms by functools.partial, MLP from a list, after vision transformers with norm_layer = partial(nn.LayerNorm, eps=...)
from functools import partial


class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        norm_layer = partial(nn.LayerNorm, eps=1e-5)
        self.norm1 = norm_layer(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm2 = norm_layer(d_model) if cross else None
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm3 = norm_layer(d_model)
        mlp = [nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)]
        self.ffn = nn.Sequential(*mlp)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        text_tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        if self.cross_attn is None:
            weights = None
        else:
            looked = self.cross_attn(self.norm2(text_tokens), image_tokens)
            text_tokens, weights = text_tokens + looked[0], looked[1]
        text_tokens = text_tokens + self.ffn(self.norm3(text_tokens))
        return text_tokens, weights


# %% [right] torch_add_and_setattr_norms | torch.add, norms by setattr, an assert on the image, after salesforce/BLIP (med.py BertLayer)
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, d_context=d_model, dropout=0.0)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, d_context=d_model, dropout=0.0) if cross else None
        self.ffn = nn.Sequential(
            nn.Linear(d_model, d_ff),
            nn.GELU(),
            nn.Linear(d_ff, d_model),
        )
        for index in (1, 2, 3):
            setattr(self, f"norm{index}", nn.LayerNorm(d_model) if index != 2 or cross else None)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        self_attention_output, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        attention_output = torch.add(text_tokens, self_attention_output)
        cross_attention_probs = None
        if self.cross_attn is not None:
            assert image_tokens is not None, "image tokens must be given for cross-attention"
            cross_output, cross_attention_probs = self.cross_attn(self.norm2(attention_output), image_tokens)
            attention_output = torch.add(attention_output, cross_output)
        layer_output = torch.add(attention_output, self.ffn(self.norm3(attention_output)))
        return layer_output, cross_attention_probs


# %% [right] stepwise_functions_in_a_list | layers kept under their names, a list of steps run in forward, after fairseq decoder layers
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.embed_dim = d_model
        self.self_attn = self.build_attention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(self.embed_dim)
        if not cross:
            self.cross_attn = None
            self.norm2 = None
        else:
            self.cross_attn = self.build_attention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(self.embed_dim)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm3 = nn.LayerNorm(self.embed_dim)

    def build_attention(self, embed_dim, heads):
        return MultiHeadAttention(embed_dim, heads)

    def residual_connection(self, x, residual):
        return residual + x

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens
        attn = None

        residual = x
        x = self.norm1(x)
        x, _ = self.self_attn(tokens=x, context=None, mask=mask)
        x = self.residual_connection(x, residual)

        if self.cross_attn is not None:
            residual = x
            x = self.norm2(x)
            x, attn = self.cross_attn(tokens=x, context=image_tokens)
            x = self.residual_connection(x, residual)

        residual = x
        x = self.ffn(self.norm3(x))
        return self.residual_connection(x, residual), attn


# %% [right] init_weights_apply | truncated normal start by self.apply, ffn indexed by hand, after facebookresearch/dino (_init_weights) and timm
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn, self.norm1 = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)
        self.cross_attn, self.norm2 = None, None
        if cross:
            self.cross_attn, self.norm2 = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)
        self.ffn, self.norm3 = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)), nn.LayerNorm(d_model)
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, nn.Linear):
            nn.init.trunc_normal_(m.weight, std=0.02)
            if m.bias is not None:
                nn.init.constant_(m.bias, 0)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        y, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        x = text_tokens + y
        attn_map = None
        if self.cross_attn is not None:
            y, attn_map = self.cross_attn(self.norm2(x), image_tokens)
            x = x + y
        h = self.ffn[1](self.ffn[0](self.norm3(x)))
        return x + self.ffn[2](h), attn_map


# %% [right] drop_path_identity_parts | nn.Identity in place of drop path and layer scale, after vision transformer blocks with drop_path (unsure: further parts without parameters)
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.drop_path1 = nn.Identity()
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.drop_path2 = nn.Identity()
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.drop_path3 = nn.Identity()

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens
        x = x + self.drop_path1(self.self_attn(self.norm1(x), mask=mask)[0])
        weights = None
        if self.cross_attn is not None:
            y, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + self.drop_path2(y)
        x = x + self.drop_path3(self.ffn(self.norm3(x)))
        return x, weights
