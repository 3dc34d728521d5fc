# %% [wrong] norm_before_positions | image_norm is applied to the aligned patches, and the positions are added afterwards; it should be image_norm(image_positions(aligner(patches))).
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
        text = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            text, weights = block(text, image, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(text)), maps

# %% [wrong] probabilities_for_logits | The scores go through a softmax before they are returned; logits are asked for, and the cross-entropy of the training takes the softmax itself.
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
        tokens = self.text_positions(self.embedding(token_ids))
        T = token_ids.shape[-1]
        mask = causal_mask(T, token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, w = block(tokens, image_tokens, mask)
            if w is not None:
                maps.append(w)
        logits = self.head(self.norm(tokens))
        return logits.softmax(dim=-1), maps

# %% [wrong] every_block_reads_the_beginning | Each block gets the embedded text and not what the block before it returned, so only the last block has an effect on the answer.
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
        all_weights = []
        for block in self.blocks:
            out, weights = block(text, image, mask)
            if weights is not None:
                all_weights.append(weights)
        return self.head(self.norm(out)), all_weights

# %% [wrong] last_norm_forgotten | The head reads the tokens directly; self.norm is never used, it should be head(norm(tokens)).
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
        image = self.aligner(image_patches)
        image = self.image_positions(image)
        image = self.image_norm(image)
        words = self.embedding(token_ids)
        words = self.text_positions(words)
        mask = causal_mask(words.shape[-2], words.device)
        maps = []
        for block in self.blocks:
            words, weights = block(words, image, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(words), maps

# %% [wrong] none_in_the_list | The weights of every block are collected, also the None of a block that does not look at the image; it must be left out, so the list has a map too many.
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
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image, mask)
            maps.append(weights)
        return self.head(self.norm(tokens)), maps

# %% [wrong] the_words_see_ahead | The blocks are called without a mask, so every word sees the later words too; the causal mask must be handed to each block.
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
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps

# %% [right] collected_and_filtered | all weights are collected first, and a comprehension leaves out the blocks without a map
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
        tokens, seen = self.text_positions(self.embedding(token_ids)), []
        sight = causal_mask(tokens.shape[-2], device=tokens.device)
        for block in self.blocks:
            tokens, *found = block(tokens, image, mask=sight)
            seen += found
        return self.head(self.norm(tokens)), [weights for weights in seen if weights is not None]
