# %% [wrong] begins_at_zero | The embedding begins with zeros: all places are alike, and the text asks for random numbers.
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(n, d_model))

    def forward(self, tokens):
        return tokens + self.embedding[: tokens.shape[-2]]


# %% [wrong] plain_tensor | The embedding is a plain tensor and no `nn.Parameter`: the optimizer never finds it.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = torch.randn(n, d_model, requires_grad=True)

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[:T, :]


# %% [wrong] all_rows_added | Adds all n rows without slicing: with fewer tokens than n it raises an error.
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens):
        return tokens + self.embedding


# %% [wrong] last_rows | Takes the last T rows and not the first T: with fewer tokens than n each stands at the wrong place.
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Parameter(0.02 * torch.randn(n, d_model))

    def forward(self, tokens):
        return tokens + self.embedding[-tokens.shape[-2]:]


# %% [wrong] counts_axis_one | Takes the number of tokens from axis 1: without a batch that is the width, with two batch dimensions a batch.
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens):
        length = tokens.shape[1]
        return tokens + self.embedding[:length]


# %% [wrong] nn_embedding_layer | `embedding` is an `nn.Embedding` and not an `nn.Parameter` of shape (n, d_model): it has no shape, and the parameter is called `embedding.weight`.
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(places)


# %% [right] f_embedding_lookup | Registers the parameter by name, draws it with `nn.init`, and looks the places up with `F.embedding`.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_parameter("embedding", nn.Parameter(torch.empty(n, d_model)))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.size(-2), device=self.embedding.device)
        return F.embedding(places, self.embedding).add(tokens)
