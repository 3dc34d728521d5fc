# %% [right] registered_and_narrow | right
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_parameter("embedding", nn.Parameter(torch.empty(n, d_model)))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.add(tokens, self.embedding.narrow(0, 0, tokens.size(-2)))

# %% [wrong] plain_tensor | The embedding is a plain tensor and not an nn.Parameter, so no optimizer ever finds it.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = torch.randn(n, d_model, requires_grad=True)

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[:T]

# %% [wrong] nn_embedding | `embedding` is an nn.Embedding module, so it is not itself a parameter of shape (n, d_model); the parameter is called embedding.weight.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(places)

# %% [wrong] no_slice | All n rows are added without slicing to the first T, so fewer than n tokens do not work.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding

# %% [wrong] shape_one | The number of tokens is read from axis 1, which is the width (or a batch axis) when there is not exactly one batch axis.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[1]]

# %% [wrong] in_place | The positions are added in place (+=), which changes the caller's tokens.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        tokens += self.embedding[: tokens.shape[-2]]
        return tokens

# %% [wrong] last_rows | It takes the last T rows instead of the first T rows.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model) * 0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[-T:]

# %% [wrong] one_position_for_all | Indexing with [T - 1] instead of [:T] adds the one row of the last place to every token.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[T - 1]
