# %% [wrong] zeros | The embedding starts as zeros: all places begin alike and nothing is added; it should be drawn at random
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]

# %% [wrong] buffer | The numbers are registered as a buffer, not an nn.Parameter, so the optimizer does not find them and the positions are never learned
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("embedding", torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[:T]

# %% [wrong] nn_embedding | self.embedding is an nn.Embedding module, so the parameter is called embedding.weight, and `embedding` is no nn.Parameter of shape (n, d_model)
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        where = torch.arange(tokens.size(-2), device=tokens.device)
        return tokens + self.embedding(where)

# %% [wrong] no_slice | All n rows are added, without taking the first T, so fewer tokens than places (T < n) raise a shape error
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding

# %% [wrong] last_rows | The slice [-T:] takes the last T rows instead of the first: the first token gets the place n − T
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(0.02 * torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        count = tokens.shape[-2]
        return tokens + self.embedding[-count:]

# %% [wrong] tokens_scaled | The tokens are multiplied by √d_model before the addition, as the first transformer did with its embeddings; the task only adds
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model).normal_())

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens * tokens.shape[-1] ** 0.5 + self.embedding[: tokens.shape[-2]]

# %% [right] narrow | narrow in place of a slice, normal_ in place of randn
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.embedding.narrow(0, 0, tokens.size(-2)).add(tokens)
