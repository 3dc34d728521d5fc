# %% [wrong] no_image_norm | image_norm is left out: the image tokens go into the blocks unnormalised.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_positions(self.aligner(image_patches))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] norm_before_positions | image_norm is applied before the positions are added, where it should come last: image_norm(image_positions(aligner(patches))).
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        img = self.aligner(image_patches)
        img = self.image_norm(img)
        img = self.image_positions(img)
        txt = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for blk in self.blocks:
            txt, w = blk(txt, img, mask)
            if w is not None:
                maps.append(w)
        return self.head(self.norm(txt)), maps
# %% [wrong] final_norm_missing | The last norm before the head is left out.
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
        x = self.text_positions(self.embedding(token_ids))
        T = token_ids.shape[-1]
        maps = []
        for block in self.blocks:
            x, weights = block(x, image, causal_mask(T, x.device))
            if weights is not None:
                maps += [weights]
        logits = self.head(x)
        return logits, maps
# %% [wrong] no_image_positions | The image tokens get no positions: image_positions is never called, so the model cannot tell where a patch is.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.aligner(image_patches))
        tokens = self.text_positions(self.embedding(token_ids))
        T = token_ids.shape[-1]
        mask = causal_mask(T, token_ids.device)
        all_weights = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask=mask)
            if weights is not None:
                all_weights.append(weights)
        return self.head(self.norm(tokens)), all_weights
# %% [wrong] no_text_positions | The words get no positions: text_positions is never called.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.aligner(image_patches)
        image_tokens = self.image_positions(image_tokens)
        image_tokens = self.image_norm(image_tokens)

        tokens = self.embedding(token_ids)

        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] no_causal_mask | The blocks get no mask: every word sees the words after it, so the model can peek at the answer.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        visual = self.image_norm(self.image_positions(self.aligner(image_patches)))
        text = self.text_positions(self.embedding(token_ids))
        maps = []
        for layer in self.blocks:
            text, attn = layer(text, visual)
            if attn is not None:
                maps.append(attn)
        return self.head(self.norm(text)), maps
# %% [wrong] none_in_list | The list also holds the None of the blocks that do not look at the image; they should be left out.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] stacked_maps | The maps are stacked to one tensor, where a list of them is asked for.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), torch.stack(maps)
# %% [wrong] blocks_not_chained | Every block gets the embedded words again, not what the block before it returned: only the last block has an effect.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        text_tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            output, weights = block(text_tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(output)), maps
# %% [wrong] batch_axis_assumed | T is read by unpacking token_ids.shape as (B, T): unbatched token ids (T,) raise, although (..., T) is allowed.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        B, T = token_ids.shape
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(T, token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] mask_of_batch_size | The causal mask is made as large as the batch (shape[0]), not as the number of tokens.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        mask = causal_mask(token_ids.shape[0], token_ids.device)
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        h = self.text_positions(self.embedding(token_ids))
        maps = []
        for block in self.blocks:
            h, weights = block(h, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(h)), maps
# %% [wrong] softmax_in_forward | A softmax is applied to the scores: probabilities come back where logits are asked for.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        logits = self.head(self.norm(tokens)).softmax(dim=-1)
        return logits, maps
# %% [wrong] image_overwritten | The block's second result, the weights, is stored in image_tokens: the next block gets weights (or None) in place of the image, and the returned list is empty.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, image_tokens = block(tokens, image_tokens, mask)
        return self.head(self.norm(tokens)), maps
# %% [wrong] last_position_only | Only the last position's logits come back; scores at every position are asked for.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        # the answer is the word after the last one
        return self.head(self.norm(tokens))[..., -1, :], maps
# %% [wrong] mask_for_nine_words | The mask is always made for 9 words (MAX_TOKENS), so that any shorter text raises.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(9, token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] mask_inverted | The causal mask is turned round before it is given to the blocks (`~mask`): each word sees only the words after it.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = ~causal_mask(token_ids.shape[-1], token_ids.device)  # True = forbidden
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] positions_swapped | The two position embeddings are mixed up: the image gets the text's positions and the words get the image's.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.text_positions(self.aligner(image_patches)))
        tokens = self.image_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] only_last_map | Only the last block's weights are kept: with several blocks that look at the image the list is too short.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
        return self.head(self.norm(tokens)), [weights]
# %% [wrong] padding_masked_too | A padding mask is added that nobody asked for: words with id 0 are hidden from the others; only the causal mask is due.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device) & (token_ids != 0).unsqueeze(-2)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] no_grad_forward | forward runs under torch.no_grad(), so no gradient reaches any parameter and the model cannot be trained.
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

    @torch.no_grad()
    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] norm_in_every_round | The final norm is applied inside the loop, after each block, and not only once before the head.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            tokens = self.norm(tokens)
            if weights is not None:
                maps.append(weights)
        return self.head(tokens), maps
# %% [wrong] patches_cut_again | The patches are cut with patchify once more, although the model gets patches and not images.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        patches = patchify(image_patches, 8)
        image_tokens = self.image_norm(self.image_positions(self.aligner(patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] typo_in_attribute | A typo: self.image_position in place of self.image_positions, so an AttributeError comes.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_position(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
# %% [wrong] no_mask_and_none_kept | The causal mask is left out AND the None of blocks without cross-attention stays in the list.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        x = self.text_positions(self.embedding(token_ids))
        img = self.image_norm(self.image_positions(self.aligner(image_patches)))
        attention = []
        for blk in self.blocks:
            x, a = blk(x, img)
            attention.append(a)
        return self.head(self.norm(x)), attention
# %% [right] two_helpers | Split into helper methods see and read; the mask is passed by keyword.
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

    def see(self, image_patches):
        return self.image_norm(self.image_positions(self.aligner(image_patches)))

    def read(self, token_ids):
        return self.text_positions(self.embedding(token_ids))

    def forward(self, token_ids, image_patches):
        picture, words = self.see(image_patches), self.read(token_ids)
        allowed = causal_mask(words.shape[-2], device=words.device)
        seen = []
        for block in self.blocks:
            words, weights = block(words, picture, mask=allowed)
            seen.append(weights)
        return self.head(self.norm(words)), [weights for weights in seen if weights is not None]
# %% [right] own_tril_mask | Builds the causal mask itself with tril, and asks the block whether it cross-attends.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        T = token_ids.size(-1)
        may_attend = torch.ones(T, T, dtype=torch.bool, device=token_ids.device).tril()
        image = self.aligner(image_patches)
        image = self.image_positions(image)
        image = self.image_norm(image)
        x = self.embedding(token_ids)
        x = self.text_positions(x)
        maps: list[Tensor] = []
        for block in self.blocks:
            x, weights = block(x, image, may_attend)
            if block.cross_attn is not None:
                maps.append(weights)
        x = self.norm(x)
        return self.head(x), maps
# %% [right] index_loop_functional | Loops over the blocks by number, and applies the head as F.linear with its weight.
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
        """Scores for the next word at every position.

        Args:
            token_ids: (..., T) integers
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), a list of cross-attention weights (..., num_heads, T, num_patches).
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        state = self.text_positions(F.embedding(token_ids, self.embedding.weight))
        n = state.shape[-2]
        position = torch.arange(n, device=token_ids.device)
        mask = position[:, None] >= position[None, :]
        maps = []
        for i in range(len(self.blocks)):
            result = self.blocks[i](state, image_tokens, mask)
            state = result[0]
            if result[1] is not None:
                maps.append(result[1])
        return F.linear(self.norm(state), self.head.weight), maps
