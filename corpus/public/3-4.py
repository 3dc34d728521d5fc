# %% [right] loop_and_append_if_not_none | a loop over the blocks, maps appended where there are any, after The-Pocket/PocketFlow-Tutorial-Video-Generator (GPT2.forward)
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
        device = token_ids.device
        t = token_ids.size(-1)
        image = self.image_norm(self.image_positions(self.aligner(image_patches)))
        x = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(t, device)
        maps = []
        for block in self.blocks:
            x, weights = block(x, image, mask)
            if weights is not None:
                maps.append(weights)
        logits = self.head(self.norm(x))
        return logits, maps


# %% [right] encode_methods_and_tuple_growth | encode_image and encode_text as methods, all_cross_attentions grown as a tuple and given back as a list, after decoder code that returns all attentions as a tuple
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

    def encode_image(self, image_patches):
        features = self.aligner(image_patches)
        return self.image_norm(self.image_positions(features))

    def encode_text(self, token_ids):
        return self.text_positions(self.embedding(token_ids))

    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        encoder_hidden_states = self.encode_image(image_patches)
        hidden_states = self.encode_text(token_ids)
        attention_mask = causal_mask(token_ids.shape[-1], device=token_ids.device)
        all_cross_attentions = ()
        for layer in self.blocks:
            layer_outputs = layer(hidden_states, encoder_hidden_states, attention_mask)
            hidden_states = layer_outputs[0]
            all_cross_attentions = all_cross_attentions + (layer_outputs[1],)
        hidden_states = self.norm(hidden_states)
        return self.head(hidden_states), [a for a in all_cross_attentions if a is not None]


# %% [right] tied_style_linear_logits | logits by F.linear with the head weight, mask from torch.tril, after openai/gpt-2 ports (matmul with the weight)
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
        mask = torch.ones(T, T, dtype=torch.bool, device=token_ids.device).tril()
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens, weights = self.text_positions(self.embedding(token_ids)), []
        for index in range(len(self.blocks)):
            tokens, looked = self.blocks[index](tokens, image_tokens, mask=mask)
            weights += [] if looked is None else [looked]
        return F.linear(self.norm(tokens), self.head.weight), weights
