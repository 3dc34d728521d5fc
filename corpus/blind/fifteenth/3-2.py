# %% [wrong] counts_scenes_as_tokens | len(tokens) is the number of tokens only where there is no batch; with a batch it is the number of scenes, and so the wrong number of rows is added. T is tokens.shape[-2].
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        count = len(tokens)
        return tokens + self.embedding[:count]


# %% [wrong] one_vector_drawn_for_all | A single vector is drawn and repeated n times, so all places begin alike and nothing tells them apart. Each of the n rows needs random numbers of its own: torch.randn(n, d_model).
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        start = torch.randn(d_model)
        self.embedding = nn.Parameter(torch.stack([start for _ in range(n)]))

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[-2]
        return tokens + self.embedding[:T, :]
