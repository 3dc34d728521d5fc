# %% [wrong] an_embedding_layer | Makes an nn.Embedding and not an nn.Parameter. Adding works, but the parameter is called embedding.weight, and self.embedding is a layer and no tensor (n, d_model).
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[-2], device=tokens.device)
        return tokens + self.embedding(places)


# %% [wrong] the_last_rows | Adds the last T rows and not the first T. With n tokens it is right; a shorter sequence gets the vectors of other places, so the same word at place 0 gets another vector whenever the length changes.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(0.02 * torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[-T:]


# %% [wrong] length_of_the_first_axis | Takes len(tokens) for the number of tokens. Without a batch that is right; with a batch it is the number of examples: an error about shapes, or, for one example, the vector of place 0 everywhere.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: len(tokens)]


# %% [wrong] tokens_times_root_of_the_width | Multiplies the tokens by the root of d_model before adding, as the first transformer did with its word vectors. The task only adds.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.scale = d_model**0.5
        self.embedding = nn.Parameter(torch.empty(n, d_model).normal_())

    def forward(self, tokens: Tensor) -> Tensor:
        seq_len = tokens.size(-2)
        return tokens * self.scale + self.embedding[:seq_len, :]


# %% [wrong] one_row_for_all_places | Draws a single row at random and repeats it n times. Shape and parameter are right, but all places begin alike, just as with zeros: shuffled patches give the same answer.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        start = torch.randn(1, d_model).repeat(n, 1)
        self.embedding = nn.Parameter(start)

    def forward(self, tokens: Tensor) -> Tensor:
        *_, T, _ = tokens.shape
        return self.embedding[:T] + tokens


# %% [right] registered_and_narrowed | Registers the parameter by name, draws it uniformly, and takes its first rows with narrow.
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.register_parameter("embedding", nn.Parameter(torch.empty(n, d_model)))
        nn.init.uniform_(self.embedding, -1.0, 1.0)

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.add(self.embedding.narrow(0, 0, tokens.size(-2)), tokens)
