# %% [wrong] norm_before_the_places | The patches are normalised first, and then get their positions. It should be image_norm around image_positions: the norm comes last. The image tokens come out with the positions unnormalised.
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
        text = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            text, weights = block(text, image, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(text)), maps

# %% [wrong] mask_turned_round | The causal mask is inverted with ~, as PyTorch's own attention would want it. In this course True means 'may attend', so it should go in as it is. Each word sees only the words that come later, and the last one sees nothing.
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
        length = token_ids.shape[-1]
        future = ~causal_mask(length, device=token_ids.device)
        picture = self.image_norm(self.image_positions(self.aligner(image_patches)))
        x, looks = self.text_positions(self.embedding(token_ids)), []
        for layer in self.blocks:
            x, look = layer(x, picture, mask=future)
            looks += [] if look is None else [look]
        return self.head(self.norm(x)), looks

# %% [wrong] each_block_gets_the_first_words | Every block is called with the embedded words. Each should take what the one before it returned. All blocks but the last are computed and thrown away.
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
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        results = [block(text_tokens, image_tokens, mask) for block in self.blocks]
        tokens = results[-1][0]
        return self.head(self.norm(tokens)), [w for _, w in results if w is not None]

# %% [wrong] wants_a_batch | The shape of the token ids is unpacked as (B, T). The task allows (..., T), so a single question without a batch axis must work too. It ends in 'not enough values to unpack'.
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
        B, T = token_ids.shape
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(T, token_ids.device)
        all_weights: list[Tensor] = []
        for block in self.blocks:
            tokens, cross_weights = block(tokens, image_tokens, mask)
            if cross_weights is not None:
                all_weights.append(cross_weights)
        tokens = self.norm(tokens)
        return self.head(tokens), all_weights

# %% [wrong] words_get_the_places_of_patches | The words get image_positions, the table of the patches. They should get text_positions. With nine of each no shape complains; text_positions never learns, and the logits are others.
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
        def placed(tokens):
            return self.image_positions(tokens)

        image = self.image_norm(placed(self.aligner(image_patches)))
        words = placed(self.embedding(token_ids))
        mask, maps = causal_mask(token_ids.shape[-1], token_ids.device), []
        for block in self.blocks:
            words, weights = block(words, image, mask)
            maps.append(weights)
        return self.head(self.norm(words)), list(filter(lambda w: w is not None, maps))

# %% [wrong] none_in_the_list | The weights of every block are appended, also the None of a block that does not look. The list should hold only the blocks that look at the image. It comes out too long, with None in it.
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
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        tokens = self.embedding(token_ids)
        tokens = self.text_positions(tokens)
        image_tokens = self.aligner(image_patches)
        image_tokens = self.image_positions(image_tokens)
        image_tokens = self.image_norm(image_tokens)
        weights = []
        for i in range(len(self.blocks)):
            tokens, w = self.blocks[i](tokens, image_tokens, mask)
            weights.append(w)
        logits = self.head(self.norm(tokens))
        return logits, weights

# %% [right] recursion_over_the_blocks | Goes through the blocks by recursion, with star-unpacking, and writes the head as an einsum.
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
        mask = causal_mask(token_ids.shape[-1], token_ids.device)

        def climb(tokens, blocks):
            if not blocks:
                return tokens, []
            tokens, weights = blocks[0](tokens, image, mask=mask)
            top, above = climb(tokens, blocks[1:])
            return top, [w for w in (weights, *above) if w is not None]

        top, maps = climb(self.text_positions(self.embedding(token_ids)), list(self.blocks))
        return torch.einsum("...d,vd->...v", self.norm(top), self.head.weight), maps
