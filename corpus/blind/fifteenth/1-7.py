# %% [wrong] mask_turned_around | The mask is inverted before it is handed on, as nn.MultiheadAttention would want it. Here True means may attend, so hand it on as it is.
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        blocked = None if mask is None else ~mask
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), blocked)
# %% [wrong] bias_zeroed_not_left_out | The biases are set to zero but they are still there as parameters, and training would move them. The layers should be made with bias=False.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self._projection(d_model, d_k)
        self.W_K = self._projection(d_model, d_k)
        self.W_V = self._projection(d_model, d_k)

    @staticmethod
    def _projection(d_in, d_out):
        layer = nn.Linear(d_in, d_out)
        nn.init.zeros_(layer.bias)
        return layer

    def forward(self, tokens, mask=None):
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        output, weights = masked_attention(q, k, v, mask)
        return output, weights
# %% [wrong] scaled_a_second_time | The queries are divided by the root of d_k, and masked_attention divides the scores once more, so they are divided by d_k. Leave the scaling to masked_attention.
class SelfAttention(nn.Module):
    """softmax(Q K^T / sqrt(d_k)) V"""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        queries = self.W_Q(tokens) / math.sqrt(self.d_k)
        keys = self.W_K(tokens)
        values = self.W_V(tokens)
        return masked_attention(queries, keys, values, mask=mask)
