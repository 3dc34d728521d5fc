"""The block against PyTorch's own decoder layer with copied weights; the model against its block."""

import pytest
import torch
from attention.masks import causal_mask
from attention.vlm import MiniVLM, VisionLanguageBlock
from torch import nn


def torch_twin(block: VisionLanguageBlock, d_model: int, heads: int, d_ff: int) -> nn.TransformerDecoderLayer:
    twin = nn.TransformerDecoderLayer(d_model, heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True)
    with torch.no_grad():
        for theirs, ours in ((twin.self_attn, block.self_attn), (twin.multihead_attn, block.cross_attn)):
            theirs.in_proj_weight.copy_(torch.cat([ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight]))
            theirs.in_proj_bias.zero_()
            theirs.out_proj.weight.copy_(ours.W_O.weight)
            theirs.out_proj.bias.zero_()
        for number, norm in enumerate((block.norm1, block.norm2, block.norm3), 1):
            norm.weight.normal_(1.0, 0.3)
            norm.bias.normal_(0.0, 0.3)
            getattr(twin, f"norm{number}").load_state_dict(norm.state_dict())
        twin.linear1.load_state_dict(block.ffn[0].state_dict())
        twin.linear2.load_state_dict(block.ffn[2].state_dict())
    return twin


@pytest.mark.parametrize("masked", [False, True])
def test_block_equals_pytorchs_decoder_layer(masked):
    torch.manual_seed(0)
    block = VisionLanguageBlock(6, 3, 11)
    twin = torch_twin(block, 6, 3, 11)
    text, image = torch.randn(2, 5, 6), torch.randn(2, 7, 6)
    mask = causal_mask(5) if masked else None
    tokens, weights = block(text, image, mask)
    theirs = twin(text, image, tgt_mask=None if mask is None else ~mask)  # PyTorch: True = may not attend
    assert torch.allclose(tokens, theirs, atol=1e-5)
    assert weights.shape == (2, 3, 5, 7)
    assert torch.allclose(weights.sum(-1), torch.ones(2, 3, 5))


def test_block_without_cross_attention_needs_no_image():
    torch.manual_seed(0)
    block = VisionLanguageBlock(6, 2, 5, cross=False)
    tokens, weights = block(torch.randn(3, 4, 6), None)
    assert tokens.shape == (3, 4, 6)
    assert weights is None
    assert block.cross_attn is None
    assert block.norm2 is None


def model(**changes) -> MiniVLM:
    sizes = {
        "d_vision": 7, "d_model": 6, "num_heads": 3, "d_ff": 11, "num_layers": 3, "vocab_size": 13,
        "max_tokens": 5, "num_patches": 4,
    }  # fmt: skip
    torch.manual_seed(0)
    return MiniVLM(**{**sizes, **changes})


def test_later_words_change_nothing():
    vlm = model()
    ids, patches = torch.randint(13, (2, 5)), torch.randn(2, 4, 7)
    other = ids.clone()
    other[:, 3:] = (other[:, 3:] + 1) % 13
    logits, changed = vlm(ids, patches)[0], vlm(other, patches)[0]
    assert torch.allclose(logits[:, :3], changed[:, :3], atol=1e-6)
    assert not torch.allclose(logits[:, 3:], changed[:, 3:], atol=1e-2)


@pytest.mark.parametrize(("layers", "maps"), [(None, 1), ([0, 2], 2), ([], 0)])
def test_one_map_for_each_block_that_looks(layers, maps):
    vlm = model(cross_layers=layers)
    logits, found = vlm(torch.randint(13, (2, 5)), torch.randn(2, 4, 7))
    assert logits.shape == (2, 5, 13)
    assert [tuple(one.shape) for one in found] == [(2, 3, 5, 4)] * maps


def test_by_default_the_last_block_looks():
    assert [block.cross_attn is not None for block in model().blocks] == [False, False, True]


def test_image_tokens_are_aligned_placed_and_normalised():
    vlm = model(num_layers=1)
    patches, met = torch.randn(2, 4, 7), []
    vlm.blocks[0].cross_attn.register_forward_pre_hook(lambda layer, inputs: met.append(inputs[1]))
    vlm(torch.randint(13, (2, 3)), patches)
    first, _, second = vlm.aligner
    aligned = second(nn.functional.gelu(first(patches))) + vlm.image_positions.embedding
    assert torch.allclose(met[0], nn.functional.layer_norm(aligned, (6,)), atol=1e-6)
