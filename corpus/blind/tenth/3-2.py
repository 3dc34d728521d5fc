# %% [wrong] a_layer_not_a_parameter | embedding is an nn.Embedding layer, so the parameter is called embedding.weight. An nn.Parameter of shape (n, d_model) under the name embedding is asked for.
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(positions)

# %% [wrong] tokens_counted_on_axis_one | The number of tokens is read from axis 1. With one batch dimension that is T; for tokens (T, d_model) it is the width, and with two batch dimensions a batch size: the sum fails or is wrong. It should be axis −2.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.size(1)
        return tokens + self.embedding[:T]

# %% [wrong] tokens_times_root_of_width | The tokens are multiplied by √d_model before the places are added, as the Transformer paper does with its word embeddings. The rows should be added to the tokens as they are.
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Parameter(torch.randn(n, d_model) * 0.02)

    def forward(self, tokens):
        T = tokens.shape[-2]
        return tokens * self.d_model**0.5 + self.embedding[:T, :]

# %% [wrong] one_vector_for_all_places | A single random vector is drawn and repeated n times, so all places begin alike and shuffled patches cannot be told apart. Every row should be drawn at random.
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        start = torch.randn(d_model)
        self.embedding = nn.Parameter(start.repeat(n, 1))

    def forward(self, tokens):
        return tokens + self.embedding[: tokens.shape[-2]]

# %% [wrong] plain_tensor_with_gradient | embedding is a plain tensor with requires_grad=True and not an nn.Parameter: parameters() does not list it, the optimizer does not move it, and .to(device) leaves it behind.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = torch.randn(n, d_model, requires_grad=True)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]

# %% [right] narrow_and_init | An empty parameter filled with nn.init.normal_, registered by name; the rows are taken with narrow and added with torch.add.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        table = nn.Parameter(torch.empty(n, d_model))
        nn.init.normal_(table, std=0.5)
        self.register_parameter("embedding", table)

    def forward(self, tokens: Tensor) -> Tensor:
        *_, count, _ = tokens.shape
        return torch.add(self.embedding.narrow(0, 0, count), tokens)
