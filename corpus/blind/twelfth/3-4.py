# %% [wrong] none_in_the_list | the weights of every block go into the list, also the None of blocks that do not look at the image
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

    def forward(self, token_ids, image_patches):
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        x = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            x, weights = block(x, image, mask)
            maps.append(weights)
        return self.head(self.norm(x)), maps


# %% [wrong] positions_after_the_norm | the image tokens are normalised first and get their positions afterwards: image_positions(image_norm(…)) instead of image_norm(image_positions(…))
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

    def encode_image(self, patches):
        tokens = self.aligner(patches)
        for part in (self.image_norm, self.image_positions):
            tokens = part(tokens)
        return tokens

    def forward(self, token_ids, image_patches):
        image_tokens = self.encode_image(image_patches)
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], device=token_ids.device)
        weights = []
        for block in self.blocks:
            tokens, w = block(tokens, image_tokens, mask)
            if w is not None:
                weights.append(w)
        logits = self.head(self.norm(tokens))
        return logits, weights


# %% [wrong] every_block_from_the_start | all blocks get the text tokens from the beginning, and only the result of the last block is used: the blocks are not chained
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

    def forward(self, token_ids, image_patches):
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        text = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        results = [block(text, image, mask) for block in self.blocks]
        tokens = results[-1][0]
        maps = [weights for _, weights in results if weights is not None]
        return self.head(self.norm(tokens)), maps


# %% [wrong] mask_inverted | the causal mask is inverted, as nn.MultiheadAttention would want it: position t sees the words after it, and not itself nor those before
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

    def forward(self, token_ids, image_patches):
        T = token_ids.shape[-1]
        future = ~causal_mask(T, token_ids.device)
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        hidden, maps = self.text_positions(self.embedding(token_ids)), []
        for layer in self.blocks:
            hidden, one = layer(hidden, image_tokens, mask=future)
            maps += [] if one is None else [one]
        return self.head(self.norm(hidden)), maps


# %% [wrong] last_norm_forgotten | the head reads the tokens without the final norm: logits = head(tokens), and self.norm gets no gradient
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
        looked = []
        image = self.aligner(image_patches)
        image = self.image_positions(image)
        image = self.image_norm(image)
        text = self.embedding(token_ids)
        text = self.text_positions(text)
        mask = causal_mask(text.shape[-2], text.device)
        for i in range(len(self.blocks)):
            text, weights = self.blocks[i](text, image, mask)
            if self.blocks[i].cross_attn is not None:
                looked.append(weights)
        return self.head(text), looked


# %% [right] recursion | the blocks are gone through by a recursive method that hands back the last tokens and the maps; the image and text paths are nn.Sequential made on the spot
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

    def _through(self, blocks, tokens, image, mask):
        if not blocks:
            return tokens, []
        tokens, weights = blocks[0](tokens, image, mask)
        last, more = self._through(blocks[1:], tokens, image, mask)
        return last, ([weights] if weights is not None else []) + more

    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        image = nn.Sequential(self.aligner, self.image_positions, self.image_norm)(image_patches)
        text = nn.Sequential(self.embedding, self.text_positions)(token_ids)
        mask = causal_mask(token_ids.size(-1), device=token_ids.device)
        tokens, maps = self._through(list(self.blocks), text, image, mask)
        return nn.Sequential(self.norm, self.head)(tokens), maps
