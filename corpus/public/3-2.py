# %% [right] trunc_normal_start | trunc_normal_ with std 0.02 on a Parameter, slice of the first rows, after rwightman/pytorch-image-models (pos_embed)
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(n, d_model))
        nn.init.trunc_normal_(self.embedding, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.embedding[: tokens.size(-2)]


# %% [right] randn_parameter | nn.Parameter(torch.randn(...)), += avoided, after pos_embedding = nn.Parameter(torch.randn(...)) in small vision transformers
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        t = tokens.shape[-2]
        return tokens + self.embedding[:t, :]


# %% [right] lookup_by_arange | position ids by arange and F.embedding, after The-Pocket/PocketFlow-Tutorial-Video-Generator (wpe(pos))
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        weight = torch.empty(n, d_model)
        nn.init.normal_(weight, mean=0.0, std=0.02)
        self.embedding = nn.Parameter(weight)

    def forward(self, tokens: Tensor) -> Tensor:
        pos = torch.arange(0, tokens.shape[-2], dtype=torch.long, device=tokens.device)
        pos_emb = F.embedding(pos, self.embedding)
        return tokens + pos_emb


# %% [right] scaled_randn_as_in_clip | scale * randn with scale = width ** -0.5, index_select, after openai/CLIP (VisionTransformer positional_embedding)
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        scale = d_model**-0.5
        self.embedding = nn.Parameter(scale * torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        index = torch.arange(tokens.shape[-2], device=self.embedding.device)
        return tokens + self.embedding.index_select(0, index).to(tokens.dtype)


# %% [right] register_parameter_uniform | register_parameter and uniform numbers, narrow, after older PyTorch layers (DETR PositionEmbeddingLearned)
class PositionEmbedding(nn.Module):
    def __init__(self, n: int, d_model: int) -> None:
        super(PositionEmbedding, self).__init__()
        self.register_parameter("embedding", nn.Parameter(torch.Tensor(n, d_model)))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.uniform_(self.embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.add(tokens, self.embedding.narrow(0, 0, tokens.size(-2)))
