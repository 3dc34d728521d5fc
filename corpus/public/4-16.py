# %% [right] attn_times_tanh_plus_x | attn * gate.tanh() + x, gate from torch.tensor([0.]), after mlfoundations/open_flamingo (GatedCrossAttentionBlock)
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.tensor([0.0]))

    def forward(self, text_tokens, image_tokens):
        attn, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return attn * self.gate.tanh() + text_tokens, weights


# %% [right] residual_variable_and_zeros | residual kept, zeros(1) as gate, torch.tanh, after meta-llama (mllama cross attention layers: cross_attn_attn_gate)
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens, image_tokens):
        residual = text_tokens
        hidden_states = self.norm(text_tokens)
        hidden_states, attn_weights = self.cross_attn(hidden_states, context=image_tokens, mask=None)
        hidden_states = residual + torch.tanh(self.gate) * hidden_states
        return hidden_states, attn_weights


# %% [right] addcmul_and_register_parameter | torch.addcmul, register_parameter, nn.init.zeros_, after Idefics style gated layers
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.register_parameter("gate", nn.Parameter(torch.empty(1)))
        nn.init.zeros_(self.gate)
        self.act_cross_attn = nn.Tanh()

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return torch.addcmul(text_tokens, self.act_cross_attn(self.gate), seen), weights


# %% [right] alpha_named_alias_and_shape_asserts | y + tanh(alpha) * attn_out with asserts on the shape, after dhansmair/flamingo-mini (GatedCrossAttentionBlock)
from torch import tanh


class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.tensor([0.0]))

    def forward(self, text_tokens, image_tokens):
        shape_before = text_tokens.shape
        attn_out, alphas = self.cross_attn(self.norm(text_tokens), image_tokens)
        y = text_tokens + tanh(self.gate) * attn_out
        assert y.shape == shape_before
        return y, alphas


# %% [right] tanh_by_sigmoid_identity | the gate's tanh written as 2 sigmoid(2 g) - 1, torch.lerp free sum, after gated residual code
class GatedCrossAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.full((1,), 0.0))

    def forward(self, text_tokens, image_tokens):
        seen, weights = self.cross_attn(tokens=self.norm(text_tokens), context=image_tokens)
        opening = 2 * torch.sigmoid(2 * self.gate) - 1
        return torch.add(text_tokens, opening * seen), weights
