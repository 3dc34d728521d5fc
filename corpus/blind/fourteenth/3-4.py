# %% [wrong] normalised_before_the_positions | The image tokens are normalised first and get their positions afterwards; it should be positions first, then image_norm.
class MiniVLM(nn.Module):
    """A small vision-language model: patches and words in, a score for every possible next word out."""

    def __init__(
        self, d_vision, d_model, num_heads, d_ff, num_layers, vocab_size, max_tokens, num_patches, cross_layers=None
    ) -> None:
        super().__init__()
        cross_layers = [num_layers - 1] if cross_layers is None else list(cross_layers)
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.image_positions = PositionEmbedding(num_patches, d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.text_positions = PositionEmbedding(max_tokens, d_model)
        self.blocks = nn.ModuleList(
            [VisionLanguageBlock(d_model, num_heads, d_ff, cross=i in cross_layers) for i in range(num_layers)]
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        image = self.image_positions(self.image_norm(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps

# %% [wrong] positions_before_every_block | The text positions are added again before each block and not once at the start.
class MiniVLM(nn.Module):
    """A small vision-language model: patches and words in, a score for every possible next word out."""

    def __init__(
        self, d_vision, d_model, num_heads, d_ff, num_layers, vocab_size, max_tokens, num_patches, cross_layers=None
    ) -> None:
        super().__init__()
        cross_layers = [num_layers - 1] if cross_layers is None else list(cross_layers)
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.image_positions = PositionEmbedding(num_patches, d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.text_positions = PositionEmbedding(max_tokens, d_model)
        self.blocks = nn.ModuleList(
            [VisionLanguageBlock(d_model, num_heads, d_ff, cross=i in cross_layers) for i in range(num_layers)]
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        x = self.embedding(token_ids)
        allowed = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            x = self.text_positions(x)
            x, weights = block(x, image_tokens, allowed)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(x)), maps

# %% [wrong] maps_averaged_over_the_heads | Each map is averaged over the heads before it is put into the list, so the axis of the heads is lost.
class MiniVLM(nn.Module):
    """A small vision-language model: patches and words in, a score for every possible next word out."""

    def __init__(
        self, d_vision, d_model, num_heads, d_ff, num_layers, vocab_size, max_tokens, num_patches, cross_layers=None
    ) -> None:
        super().__init__()
        cross_layers = [num_layers - 1] if cross_layers is None else list(cross_layers)
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.image_positions = PositionEmbedding(num_patches, d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.text_positions = PositionEmbedding(max_tokens, d_model)
        self.blocks = nn.ModuleList(
            [VisionLanguageBlock(d_model, num_heads, d_ff, cross=i in cross_layers) for i in range(num_layers)]
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        T = token_ids.shape[-1]
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        all_weights = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask=causal_mask(T, tokens.device))
            all_weights.append(weights)
        maps = [weights.mean(dim=-3) for weights in all_weights if weights is not None]
        return self.head(self.norm(tokens)), maps
