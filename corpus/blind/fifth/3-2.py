# %% [wrong] plain_tensor | embedding is a plain tensor and not an nn.Parameter, so parameters() is empty and nothing is learned
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = torch.randn(n, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]

# %% [wrong] zeros_at_the_start | the parameter begins at zeros; it should be drawn at random, since with zeros all places are alike
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        count = tokens.size(-2)
        return tokens + self.embedding[:count, :]

# %% [wrong] counted_on_axis_one | the number of tokens is read from shape[1], which is d_model where there is no batch and another axis where there are two; it should be shape[-2]
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[1]
        return tokens + self.embedding[:T]

# %% [wrong] all_rows | all n rows are added whatever T is, so fewer tokens than n raise an error; only the first T rows belong
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(0.02 * torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.embedding + tokens

# %% [wrong] last_rows | the slice [-T:] takes the last T rows and not the first: for T < n each token gets another place's vector
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[-tokens.shape[-2] :]

# %% [wrong] only_the_positions | forward returns the positions' vectors alone (expanded over the batch), without adding them to the tokens
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model).normal_())

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        places = torch.arange(T, device=tokens.device)
        return self.embedding[places].expand_as(tokens)

# %% [right] narrow_and_init | nn.init draws the numbers in place, and narrow takes the first T rows
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.add(tokens, self.embedding.narrow(0, 0, tokens.size(-2)))
