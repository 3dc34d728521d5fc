# %% [wrong] tokens_counted_on_axis_one | T is read from axis 1, which holds the tokens only if there is exactly one batch axis.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[1]]

# %% [wrong] last_rows_added | The last T rows are added, not the first ones, so fewer tokens than n get the wrong places.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(0.02 * torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        count = tokens.size(-2)
        return tokens + self.embedding[-count:]

# %% [wrong] written_into_the_tokens | tokens += … adds in place, so the caller's tokens are changed.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        tokens += self.embedding.narrow(0, 0, tokens.shape[-2])
        return tokens
