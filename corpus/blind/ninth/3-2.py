# %% [wrong] plain_tensor | The embedding is a plain random tensor. It should be an nn.Parameter, which the optimizer finds. The module has no parameter at all, so the positions never learn.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = torch.randn(n, d_model, requires_grad=True)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]

# %% [wrong] adds_the_whole_table | All n rows are added whatever the number of tokens. Only the first T rows should be. With fewer tokens than n the shapes do not fit, and with a single token it is silently copied n times.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.n = n
        self.embedding = nn.Parameter(torch.empty(n, d_model).normal_(std=0.5))

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(self.n, device=tokens.device)
        return tokens + F.embedding(places, self.embedding)

# %% [wrong] counts_axis_one | The number of tokens is read from axis 1. It should be read from the axis before the last, because tokens may have any number of batch axes. For tokens (T, d_model) it is the width that is counted, and the shapes do not fit.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.size(1)
        return torch.add(tokens, self.embedding[:T, :])

# %% [wrong] adds_in_place | The positions are added with +=, into the tensor that was handed in. A new tensor should come back. The caller's tokens are changed, and calling twice adds the positions twice.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model) * 0.1)

    def forward(self, tokens: Tensor) -> Tensor:
        how_many = tokens.shape[-2]
        tokens += self.embedding[:how_many]
        return tokens

# %% [wrong] forward_reads_data | The forward adds `.data`, which is cut off from autograd. The parameter itself should be added. The numbers are right, but the embedding never gets a gradient and stays as it was drawn.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        table = torch.zeros(n, d_model)
        nn.init.normal_(table)
        self.embedding = nn.Parameter(table)

    def forward(self, tokens: Tensor) -> Tensor:
        *_, T, _ = tokens.shape
        return tokens + self.embedding.data[:T]

# %% [wrong] one_vector_for_all_places | One random vector is drawn and repeated n times. Each place should get its own. All places begin alike, and shuffling the tokens changes nothing.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        start = torch.randn(1, d_model)
        self.embedding = nn.Parameter(start.repeat(n, 1))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding.narrow(0, 0, tokens.shape[-2])

# %% [right] registered_and_split | Registers the parameter by name, and takes its first rows with split instead of a slice.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_parameter("embedding", nn.Parameter(torch.nn.init.normal_(torch.empty(n, d_model))))

    def forward(self, tokens: Tensor) -> Tensor:
        first = self.embedding.split(tokens.shape[-2])[0]
        return torch.broadcast_to(first, tokens.shape) + tokens
