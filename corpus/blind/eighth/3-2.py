# %% [wrong] an_embedding_layer | self.embedding is an nn.Embedding; it should be an nn.Parameter of shape (n, d_model). The only parameter is called embedding.weight, and layer.embedding has no shape.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(places)

# %% [wrong] the_last_rows | The last T rows are added, embedding[-T:]; it should be the first T. Right for T = n; a shorter text gets the places of its end.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[-T:]

# %% [wrong] tokens_on_axis_one | The number of tokens is read from axis 1; it should be axis −2. Right for (B, T, d_model); without a batch axis 1 is the width, and the rows do not fit, with two batch axes it is the second of them.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model).normal_())

    def forward(self, tokens: Tensor) -> Tensor:
        count = tokens.size(1)
        return tokens + self.embedding[:count]

# %% [wrong] all_places_alike | The parameter begins with zeros; it should be drawn at random. All places begin alike, and the cell below sees no difference.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(n, d_model))  # learned anyway

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]

# %% [wrong] a_batch_axis_of_its_own | The parameter has the shape (1, n, d_model), as in a well-known vision transformer; it should be (n, d_model). Tokens without a batch come back with an axis too many.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(1, n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[:, : tokens.shape[-2]]

# %% [wrong] multiplied | The tokens are multiplied by the vectors of their places; they should be added.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.einsum("...td,td->...td", tokens, self.embedding[: tokens.shape[-2]])

# %% [right] narrowed | The parameter is made empty and drawn by nn.init; forward takes its first rows with narrow.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        places = self.embedding.narrow(0, 0, tokens.shape[-2])
        return torch.add(tokens, places)
