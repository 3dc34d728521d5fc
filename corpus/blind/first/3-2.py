# %% [wrong] plain_tensor | `embedding` is a plain tensor with requires_grad, no nn.Parameter: it is not among the module's parameters, so no optimizer finds it.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = torch.randn(n, d_model, requires_grad=True)

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[:T]
# %% [wrong] buffer | The positions are registered as a buffer: it moves with the module, but it is no parameter and never learned.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_buffer("embedding", torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (..., T, d_model), T ≤ n → the same shape."""
        return tokens + self.embedding[: tokens.size(-2)]
# %% [wrong] misnamed_parameter | The parameter is called `pos_embedding`, where the name `embedding` is asked for.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.pos_embedding[: tokens.shape[-2]]
# %% [wrong] nn_embedding_module | `embedding` is an nn.Embedding module and not an nn.Parameter of shape (n, d_model): the parameter is then called embedding.weight.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(positions)
# %% [wrong] no_slice | All n rows are added without slicing to the first T: with fewer tokens than n the shapes do not fit.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding
# %% [wrong] axis_one_as_T | The number of tokens is read from shape[1], which is right only for one batch axis; for (T, d_model) it is d_model, and for two batch axes a batch size.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model) * 0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        seq_len = tokens.shape[1]
        return tokens + self.embedding[:seq_len]
# %% [wrong] last_rows | The last T rows of the embedding are added in place of the first T.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (..., T, d_model), T ≤ n → the same shape."""
        T = tokens.shape[-2]
        return tokens + self.embedding[-T:]
# %% [wrong] extra_batch_axis | The parameter has the shape (1, n, d_model) in place of (n, d_model); with unbatched tokens the result has an axis too many, too.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(1, n, d_model))
        nn.init.trunc_normal_(self.embedding, std=0.02)  # as in ViT

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[:, : tokens.shape[-2]]
# %% [wrong] multiplies | The position vectors are multiplied with the tokens, not added to them.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens * self.embedding[: tokens.shape[-2], :]
# %% [wrong] in_place_add | `tokens +=` adds in place: the caller's tokens are changed.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        tokens += self.embedding[: tokens.shape[-2]]
        return tokens
# %% [wrong] only_positions | Only the position vectors come back; they are not added to the tokens.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        pos = self.embedding[:T]
        return pos.expand_as(tokens)
# %% [wrong] frozen | The parameter is made with requires_grad=False, so the positions are never learned.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model), requires_grad=False)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]
# %% [wrong] concatenates | The position vectors are concatenated to the tokens along the features, not added: the width doubles.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        rows = self.embedding[: tokens.shape[-2]]
        return torch.cat([tokens, rows.expand(tokens.shape)], dim=-1)
# %% [wrong] no_super_init | super().__init__() is not called, so assigning the parameter raises an AttributeError.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.shape[-2]]
# %% [wrong] detached_positions | The embedding is detached in forward: the values are right, but no gradient reaches it and it is never learned.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding.detach()[:T]
# %% [wrong] sqrt_d_scaling | The tokens are scaled by sqrt(d_model) before the addition, as in tutorials of the original Transformer; nothing here asks for it.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.scale = d_model ** 0.5
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens * self.scale + self.embedding[: tokens.shape[-2]]
# %% [wrong] off_by_one_rows | The slice begins at row 1, so row 0 is never used, every token gets the vector of the next place, and T = n fails.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[1 : T + 1]
# %% [wrong] dropout_added | Dropout is applied to the sum; nothing asks for it, and in training mode the result is random.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))
        self.dropout = nn.Dropout(0.1)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.dropout(tokens + self.embedding[: tokens.shape[-2]])
# %% [wrong] half_finished_forward | forward is not finished: the rows are picked, but nothing is added and nothing returned.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        rows = self.embedding[:T]
        # now add them
# %% [wrong] axes_of_parameter_swapped | The parameter is made as (d_model, n) and transposed in forward; its shape should be (n, d_model).
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(d_model, n))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding.T[: tokens.shape[-2]]
# %% [right] functional_embedding | Looks the rows up with F.embedding and an arange, and initialises with nn.init.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n, d_model))
        nn.init.normal_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        where = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + F.embedding(where, self.embedding)
# %% [right] narrow_and_add | narrow in place of a slice, torch.add, and a small standard deviation.
class PositionEmbedding(nn.Module):
    def __init__(self, n, d_model):
        super().__init__()
        start = torch.randn(n, d_model) * 0.02
        self.register_parameter("embedding", nn.Parameter(start))

    def forward(self, tokens):
        *_, length, _width = tokens.shape
        return torch.add(self.embedding.narrow(0, 0, length), tokens)
# %% [right] explicit_expand | Expands the sliced rows to the tokens' shape by hand before adding.
class PositionEmbedding(nn.Module):
    """Adds to each token the learned vector of its place; `embedding` (n, d_model) is the only parameter."""

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.n = n
        self.embedding = nn.Parameter(torch.rand(n, d_model) - 0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.size(-2)
        if T > self.n:
            raise ValueError(f"{T} tokens, but only {self.n} places")
        place = self.embedding[:T]
        for _ in range(tokens.dim() - 2):
            place = place.unsqueeze(0)
        return tokens + place.expand_as(tokens)
