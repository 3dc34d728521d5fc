# %% [wrong] none_in_the_list | the list gets an entry for every block: blocks without cross-attention leave a None in it, which should be left out
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
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image, mask)
            maps.append(weights)
        return self.head(self.norm(tokens)), maps


# %% [wrong] positions_after_the_norm | normalises the aligned patches first and adds the positions afterwards; the positions should be inside the norm, one scale for all
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
        image_tokens = image_patches
        for part in (self.aligner, self.image_norm, self.image_positions):
            image_tokens = part(image_tokens)
        text_tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], device=token_ids.device)
        weights = []
        for block in self.blocks:
            text_tokens, looked = block(text_tokens, image_tokens, mask=mask)
            if looked is not None:
                weights.append(looked)
        return self.head(self.norm(text_tokens)), weights


# %% [wrong] exactly_one_batch_axis | unpacks token_ids.shape into B and T: raises for token_ids (T,) without a batch and for more batch axes, which (..., T) allows
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

    def _image_tokens(self, patches):
        return self.image_norm(self.image_positions(self.aligner(patches)))

    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        B, T = token_ids.shape
        image_tokens = self._image_tokens(image_patches)
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(T, token_ids.device)
        all_weights = []
        for block in self.blocks:
            tokens, w = block(tokens, image_tokens, mask)
            all_weights += [] if w is None else [w]
        return self.head(self.norm(tokens)), all_weights


# %% [wrong] blocks_side_by_side | every block gets the embedded text instead of what the block before it returned: only the last block counts
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
        T = token_ids.shape[-1]
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        text = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(T, token_ids.device)
        results = [block(text, image, mask) for block in self.blocks]
        tokens = results[-1][0]
        weights = [w for _, w in results if w is not None]
        logits = self.head(self.norm(tokens))
        return logits, weights


# %% [wrong] shares_instead_of_logits | ends with a softmax over the vocabulary: it returns probabilities, and F.cross_entropy later does another softmax on them
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
        """A score for every word of the vocabulary, at every position."""
        image_tokens = self.aligner(image_patches)
        image_tokens = self.image_positions(image_tokens)
        image_tokens = self.image_norm(image_tokens)

        text_tokens = self.embedding(token_ids)
        text_tokens = self.text_positions(text_tokens)

        mask = causal_mask(text_tokens.shape[-2], text_tokens.device)
        cross_weights = []
        for i in range(len(self.blocks)):
            text_tokens, weights = self.blocks[i](text_tokens, image_tokens, mask)
            if self.blocks[i].cross_attn is not None:
                cross_weights.append(weights)
        logits = self.head(self.norm(text_tokens))
        return torch.softmax(logits, dim=-1), cross_weights


# %% [right] generator_of_states | a nested generator walks through the blocks and yields their weights; the text is kept in a small state
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
        seen = nn.Sequential(self.aligner, self.image_positions, self.image_norm)(image_patches)
        allowed = causal_mask(token_ids.size(-1), token_ids.device)
        state = {"text": self.text_positions(self.embedding(token_ids))}

        def through_the_blocks():
            for block in self.blocks:
                state["text"], looked = block(state["text"], seen, mask=allowed)
                yield looked

        maps = [one for one in through_the_blocks() if one is not None]
        return self.head(self.norm(state["text"])), maps
