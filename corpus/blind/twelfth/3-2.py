# %% [wrong] zeros | the vectors begin at zero instead of at random: all places begin alike, and the answer does not move when the patches are shuffled
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]


# %% [wrong] buffer_not_parameter | the vectors are a buffer and no nn.Parameter: the optimizer does not find them, they are never learned
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.register_buffer("embedding", torch.randn(n, d_model))

    def forward(self, tokens):
        T = tokens.size(-2)
        return tokens + self.embedding[:T, :]


# %% [wrong] nn_embedding | `embedding` is an nn.Embedding and not an nn.Parameter of shape (n, d_model): the parameter is called embedding.weight
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(positions)


# %% [wrong] axis_one_is_T | T is read from axis 1, counted from the front: right for (B, T, d), but for (T, d) it is the width, and with two batch dimensions a batch axis
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model) * 0.5)

    def forward(self, tokens):
        length = tokens.shape[1]
        rows = [self.embedding[t] for t in range(length)]
        return tokens + torch.stack(rows)


# %% [wrong] all_n_rows | all n rows are added, not the first T: a broadcasting error whenever there are fewer tokens than places
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        start = torch.empty(n, d_model)
        nn.init.normal_(start)
        self.embedding = nn.Parameter(start)

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.add(tokens, self.embedding.expand(*tokens.shape[:-2], -1, -1))


# %% [right] narrow | registered with register_parameter, drawn with an initialiser, and cut with narrow
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_parameter("embedding", nn.Parameter(torch.empty(n, d_model)))
        nn.init.trunc_normal_(self.embedding, std=0.7)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.embedding.narrow(0, 0, tokens.size(-2)).add(tokens)
