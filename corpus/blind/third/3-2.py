# %% [wrong] zeros | The numbers begin at zero; they should be drawn at random, so that the places differ.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]

# %% [wrong] plain_tensor | The embedding is a plain tensor with requires_grad and no nn.Parameter: the module does not know it, and no optimizer finds it.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = torch.randn(n, d_model, requires_grad=True)

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[:T, :]

# %% [wrong] all_rows_added | Adds all n rows, so a shorter sequence raises a shape error.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding

# %% [wrong] length_from_axis_zero | Takes len(tokens) for the number of tokens, which is the size of the batch as soon as there is one.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: len(tokens)]

# %% [wrong] embedding_module | embedding is an nn.Embedding, so the parameter is embedding.weight, and embedding itself is no nn.Parameter of shape (n, d_model).
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(places)

# %% [wrong] last_rows | Adds the last T rows in place of the first T.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(0.02 * torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[-tokens.shape[-2] :]

# %% [right] narrow_and_add | Registers the parameter by name with nn.init, and takes the rows with narrow.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_parameter("embedding", nn.Parameter(nn.init.normal_(torch.empty(n, d_model))))

    def forward(self, tokens: Tensor) -> Tensor:
        rows = self.embedding.narrow(0, 0, tokens.size(-2))
        return torch.add(tokens, rows.expand_as(tokens))
