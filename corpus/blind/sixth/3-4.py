# %% [wrong] norm_before_positions | The positions are added after image_norm instead of before it: image_positions(image_norm(aligner(patches)))
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
        x = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            x, w = block(x, image, mask)
            if w is not None:
                maps.append(w)
        return self.head(self.norm(x)), maps

# %% [wrong] no_causal_mask | The blocks get no mask, so each word sees the later ones, and the model can read the answer off the next token while it trains
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
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        words = self.text_positions(self.embedding(token_ids))
        looked = []
        for block in self.blocks:
            words, weights = block(words, image)
            looked += [] if weights is None else [weights]
        return self.head(self.norm(words)), looked

# %% [wrong] none_in_list | The weights of every block are kept, also the None of blocks that do not look at the image: the list begins with None and has one entry per block
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
        tokens = self.text_positions(self.embedding(token_ids))
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        mask = causal_mask(tokens.shape[-2], tokens.device)
        all_weights = []
        for blk in self.blocks:
            tokens, weights = blk(tokens, image_tokens, mask=mask)
            all_weights.append(weights)
        logits = self.head(self.norm(tokens))
        return logits, all_weights

# %% [wrong] same_input_to_all_blocks | Each block gets the first text tokens instead of what the block before it returned: only the last block has any effect
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
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        text = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        results = [block(text, image, mask) for block in self.blocks]
        logits = self.head(self.norm(results[-1][0]))
        return logits, [weights for _, weights in results if weights is not None]

# %% [wrong] final_norm_forgotten | The last norm is left out: head(tokens) instead of head(norm(tokens))
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
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        h = self.text_positions(self.embedding(token_ids))
        maps = []
        for block in self.blocks:
            h, m = block(h, image, causal_mask(T, h.device))
            if m is not None:
                maps.append(m)
        return self.head(h), maps

# %% [wrong] length_of_batch | T is token_ids.shape[0], the number of questions, and not the number of tokens, so the causal mask has the wrong size and the call fails wherever B ≠ T
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
        T = token_ids.shape[0]
        mask = causal_mask(T, token_ids.device)
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        state, maps = self.text_positions(self.embedding(token_ids)), []
        for block in self.blocks:
            state, weights = block(state, image, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(state)), maps

# %% [right] fold_over_parts | the image by a loop over its parts, the maps filtered at the end
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
        image = image_patches
        for part in (self.aligner, self.image_positions, self.image_norm):
            image = part(image)
        tokens = self.text_positions(self.embedding(token_ids))
        may_see = causal_mask(token_ids.shape[-1], token_ids.device)
        maps: list[Tensor | None] = []
        for block in self.blocks:
            tokens, weights = block(tokens, image, may_see)
            maps.append(weights)
        return self.head(self.norm(tokens)), [each for each in maps if each is not None]
