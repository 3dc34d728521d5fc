# %% [wrong] an_embedding_module | embedding is an nn.Embedding, as for words, and not an nn.Parameter: the parameter is called embedding.weight, and module.embedding is no tensor of shape (n, d_model).
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(places)

# %% [wrong] a_buffer_learns_nothing | The numbers are registered as a buffer, so the module has no parameters and the optimizer never moves them; it should be an nn.Parameter.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("embedding", torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]

# %% [wrong] length_from_axis_one | The number of tokens is read as shape[1], which is the width for tokens (T, d_model) and another axis with two leading ones; it should be shape[-2].
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[1]
        return tokens + self.embedding[:T]

# %% [wrong] the_last_rows | The last T rows are added instead of the first T, so for T < n the first token gets the vector of another place.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[-T:]

# %% [wrong] place_beside_the_token | The vectors of the places are concatenated to the tokens instead of added, so the width doubles.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        place = self.embedding[: tokens.shape[-2]].expand(*tokens.shape)
        return torch.cat([tokens, place], dim=-1)

# %% [wrong] a_batch_axis_of_its_own | The parameter has the shape (1, n, d_model) instead of (n, d_model); tokens (T, d_model) without a batch come back as (1, T, d_model).
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(1, n, d_model) * 0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[:, : tokens.shape[-2]]

# %% [right] narrowed_parameter | an empty parameter that nn.init fills, and narrow instead of a slice
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.add(tokens, self.embedding.narrow(0, 0, tokens.size(-2)))
