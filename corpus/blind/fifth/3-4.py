# %% [wrong] none_in_the_list | every block's weights are appended, None of the blocks without cross-attention included; these should be left out
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
        maps = []
        for block in self.blocks:
            x, weights = block(x, image, mask)
            maps.append(weights)
        return self.head(self.norm(x)), maps

# %% [wrong] no_causal_mask | the blocks are called without a mask, so each word sees the words to come; causal_mask(T, device) is missing
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
        all_weights = []
        for block in self.blocks:
            tokens, w = block(tokens, image_tokens)
            if w is not None:
                all_weights.append(w)
        return self.head(self.norm(tokens)), all_weights

# %% [wrong] norm_before_positions | the image is normalised first and gets its positions afterwards; it should be image_norm(image_positions(…)), so that the sum is normalised
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
        patches = self.aligner(image_patches)
        patches = self.image_norm(patches)
        patches = self.image_positions(patches)
        words = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(words.shape[-2], words.device)
        maps = []
        for block in self.blocks:
            words, weights = block(words, patches, mask=mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(words)), maps

# %% [wrong] no_text_positions | the words go in without text_positions, so the model does not know their order; text_positions gets no gradient
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
        x = self.embedding(token_ids)
        T = token_ids.shape[-1]
        maps = []
        for layer in self.blocks:
            x, m = layer(x, image, causal_mask(T, x.device))
            maps += [] if m is None else [m]
        x = self.norm(x)
        return self.head(x), maps

# %% [wrong] final_norm_skipped | the head reads the tokens without self.norm; the logits should be head(norm(tokens))
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
        img = self.image_norm(self.image_positions(self.aligner(image_patches)))
        txt = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        weights = []
        for b in self.blocks:
            txt, w = b(txt, img, mask)
            if w is not None:
                weights.append(w)
        logits = self.head(txt)
        return logits, weights

# %% [wrong] each_block_from_the_start | every block gets the embedded words, not what the block before returned; only the last block has a say in the logits
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
        text_tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(text_tokens.shape[-2], text_tokens.device)
        maps = []
        for block in self.blocks:
            output, cross_weights = block(text_tokens, image_tokens, mask)
            if cross_weights is not None:
                maps.append(cross_weights)
        return self.head(self.norm(output)), maps

# %% [right] filtered_at_the_end | all weights are collected, and a comprehension keeps those that exist; the image's way is a loop over its three parts
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
        image = image_patches
        for part in (self.aligner, self.image_positions, self.image_norm):
            image = part(image)
        tokens, found = self.text_positions(self.embedding(token_ids)), []
        past = causal_mask(token_ids.shape[-1], token_ids.device)
        for block in self.blocks:
            tokens, weights = block(tokens, image, mask=past)
            found.append(weights)
        return self.head(self.norm(tokens)), [weights for weights in found if weights is not None]
