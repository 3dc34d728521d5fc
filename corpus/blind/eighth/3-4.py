# %% [wrong] norm_before_positions | The image tokens are normalised before their positions are added; it should be image_norm(image_positions(aligner(patches))). The blocks get tokens that are not on one scale.
class MiniVLM(nn.Module):
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

# %% [wrong] places_of_words_for_patches | The image gets text_positions; it should get image_positions. With as many places for words as patches all shapes fit, the patches share the vectors of the words, and image_positions gets no gradient.
class MiniVLM(nn.Module):
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
        def placed(vectors):
            return self.text_positions(vectors)

        image = self.image_norm(placed(self.aligner(image_patches)))
        text = placed(self.embedding(token_ids))
        allowed = causal_mask(token_ids.shape[-1], token_ids.device)
        looks = []
        for block in self.blocks:
            text, look = block(text, image, allowed)
            looks += [] if look is None else [look]
        return self.head(self.norm(text)), looks

# %% [wrong] none_among_the_maps | The weights of every block are put into the list, None as well; a block without cross-attention should be left out. The list is as long as there are blocks.
class MiniVLM(nn.Module):
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
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(tokens.shape[-2], tokens.device)
        maps = [None] * len(self.blocks)
        for number, block in enumerate(self.blocks):
            tokens, maps[number] = block(tokens, image, mask)
        return self.head(self.norm(tokens)), maps

# %% [wrong] each_block_begins_anew | Each block gets the embedded text, not what the block before it returned; only the last block has an effect on the logits. The others get no gradient.
class MiniVLM(nn.Module):
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
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        text = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        results = [block(text, image, mask) for block in self.blocks]
        tokens = results[-1][0]
        return self.head(self.norm(tokens)), [weights for _, weights in results if weights is not None]

# %% [wrong] last_position_alone | The head reads the last position alone, so the logits are (..., vocab_size); they should be there for every position, (..., T, vocab_size). The training has no scores for the other words.
class MiniVLM(nn.Module):
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
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        weights_list = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                weights_list.append(weights)
        next_word = tokens[..., -1, :]  # the answer comes from the last word
        return self.head(self.norm(next_word)), weights_list

# %% [wrong] probabilities_for_logits | A softmax is put over the scores; the model should return logits, and F.cross_entropy does the softmax itself. The loss sees a softmax of a softmax and can hardly fall.
class MiniVLM(nn.Module):
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
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        x = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps: list[Tensor] = []
        for block in self.blocks:
            x, looked_at = block(x, image, mask)
            if looked_at is not None:
                maps.append(looked_at)
        logits = self.head(self.norm(x))
        return F.softmax(logits, dim=-1), maps

# %% [right] composed_by_folding | Both sides are made by folding their parts over the input, and the maps are filtered once at the end.
class MiniVLM(nn.Module):
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
        image_tokens, tokens = image_patches, token_ids
        for part in (self.aligner, self.image_positions, self.image_norm):
            image_tokens = part(image_tokens)
        for part in (self.embedding, self.text_positions):
            tokens = part(tokens)
        mask, maps = causal_mask(token_ids.shape[-1], token_ids.device), []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            maps.append(weights)
        return self.head(self.norm(tokens)), [weights for weights in maps if weights is not None]
