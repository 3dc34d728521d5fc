# %% [wrong] a_buffer | the positions are registered as a buffer: no nn.Parameter, so the optimizer never finds them and they are not learned
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("embedding", torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]


# %% [wrong] an_embedding_layer | embedding is an nn.Embedding (a layer), not an nn.Parameter of shape (n, d_model): the parameter is called embedding.weight, and layer.embedding has no shape
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(places)


# %% [wrong] second_axis | takes T from axis 1 counted from the front: right for (B, T, d_model) only; for (T, d_model) it is the width, for two batch axes it is a batch
class PositionEmbedding(nn.Module):
    """Each place has a vector of its own."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        table = torch.empty(n, d_model).normal_()
        self.embedding = nn.Parameter(table)

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.size(1)
        return tokens + self.embedding[:T, :]


# %% [wrong] last_rows | adds the LAST T rows ([-T:]) instead of the first: the same only where T = n
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.n = n
        self.embedding = nn.Parameter(torch.randn(n, d_model) / d_model**0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        *_, T, _ = tokens.shape
        if T > self.n:
            raise ValueError(f"{T} tokens, but only {self.n} places")
        return tokens + self.embedding[-T:]


# %% [wrong] adds_in_place | += on the tensor that came in: the caller's tokens get the positions as well, and a second call adds them twice
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.rand(n, d_model) - 0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        count = tokens.shape[-2]
        tokens += self.embedding[:count]
        return tokens


# %% [right] narrow_and_init | an empty parameter drawn by nn.init, narrow in place of a slice, and torch.add
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_parameter("embedding", nn.Parameter(torch.empty((n, d_model))))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.narrow(self.embedding, 0, 0, tokens.shape[-2])
        return torch.add(tokens, places)
