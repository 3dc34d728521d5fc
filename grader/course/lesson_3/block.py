"""Exercise 3.3: `VisionLanguageBlock`, in which text attends to itself and to the image."""

from collections.abc import Mapping

import torch
from attention.masks import causal_mask
from attention.vlm import VisionLanguageBlock
from torch import Tensor

from grader.course.lesson_3 import stand_ins
from grader.declare.authoring import CheckSpec, InputSampler, Value, sizes, written_exercise
from grader.declare.drawn import Sizes, chosen, drawn, drawn_layer, given, mask, shape_of, where_given
from grader.declare.probes import load, named


def draw_seen_image(sampler: InputSampler, sizes: Sizes) -> Tensor | None:
    """Draw image tokens, or return None.

    The trial's size "image" decides, or otherwise its size "cross". Without both, draw image
    tokens.
    """
    shape = shape_of("* patches d_model", sizes)
    wanted = sizes.get("image", sizes.get("cross", True))
    return sampler.normal(*shape, dtype=sizes.get("dtype", torch.float32)) if wanted else None


def draw_block_mask(sampler: InputSampler, sizes: Sizes) -> Tensor | None:
    """Draw a mask of the self-attention, or return None if the trial names no kind of mask.

    The kinds are "causal"; "random"; "nowhere", a random mask with which one token may attend
    nowhere; and "padding", with a different row for each text of the batch.
    """
    kind, tokens = sizes.get("mask"), sizes["tokens"]
    if kind is None or kind == "causal":
        return causal_mask(tokens) if kind else None
    made: Tensor = mask("* 1 tokens" if kind == "padding" else "tokens tokens")(sampler, sizes)
    if kind == "nowhere":
        made[tokens // 2] = False
    return made


BLOCK_SIZES = dict(d_model="d_model", num_heads="heads", d_ff="d_ff")
draw_block = drawn_layer(
    VisionLanguageBlock,
    dict(**BLOCK_SIZES, cross=given("cross", True)),
    text_tokens="* tokens d_model",
    image_tokens=draw_seen_image,
    mask=draw_block_mask,
)

# The arguments that make a block; a trial without `cross` leaves it to its default.
draw_block_sizes = drawn(sizes=chosen(dict(**BLOCK_SIZES, cross=where_given("cross", given("cross")))))


def call_block(layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list):
    """Return the results of a block that is made with its sizes as keywords.

    A student may have made `cross` keyword-only.
    """
    block = load(layer_class(**sizes), weights)
    return named(block(*arguments.values()), returns)


def block_parts(VisionLanguageBlock, sizes: Mapping) -> Mapping[str, Value]:
    """Return the parts of a block: names and shapes of its parameters, its norms, and its feed-forward layers."""
    block = VisionLanguageBlock(**sizes)
    return {
        "parameters": {name: list(value.shape) for name, value in sorted(block.named_parameters())},
        "cross_attn is None": block.cross_attn is None,
        "norm2 is None": block.norm2 is None,
        "feed-forward": [type(layer).__name__ for layer in block.ffn],
        "norms": [type(norm).__name__ for norm in (block.norm1, block.norm3)],
        "heads": block.self_attn.num_heads,
    }


BLOCK = written_exercise("3.3 A block that reads and looks", VisionLanguageBlock, (
    CheckSpec("values", 12, "self-attention, cross-attention, feed-forward, each with its norm and its residual",
        examples=[sizes(tokens=2, patches=3, d_model=4, heads=2, d_ff=3)],
        trials=[sizes(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2, d_ff=11),
            sizes(batch_shape=(2,), tokens=5, patches=5, d_model=9, heads=3, d_ff=7)], map="cross weights"),
    CheckSpec("mask", 3, "the mask holds for the self-attention",
        examples=[sizes(tokens=3, patches=2, d_model=4, heads=2, d_ff=3, mask="causal")],
        trials=[sizes(batch_shape=(2,), tokens=5, patches=7, d_model=6, heads=3, d_ff=4, mask="causal"),
            sizes(batch_shape=(2,), tokens=7, patches=5, d_model=6, heads=2, d_ff=4, mask="random"),
            sizes(batch_shape=(2,), tokens=5, patches=3, d_model=6, heads=2, d_ff=7, mask="nowhere"),
            sizes(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2, d_ff=4, mask="padding")]),
    CheckSpec("text only", 2, "with cross=False it is a text block: no cross_attn, no norm2, no look at the image",
        examples=[sizes(tokens=2, patches=3, d_model=4, heads=2, d_ff=3, cross=False),
            sizes(tokens=2, patches=3, d_model=4, heads=2, d_ff=3, cross=False, image=True)],
        trials=[sizes(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2, d_ff=5, cross=False, mask="causal"),
            sizes(batch_shape=(3,), tokens=5, patches=7, d_model=6, heads=2, d_ff=5, cross=False, image=True,
                    mask="causal")]),
    CheckSpec("parts", 1, "the parts have their names and shapes",
        examples=[sizes(d_model=4, heads=2, d_ff=3, cross=False), sizes(d_model=4, heads=2, d_ff=3)],
        trials=[sizes(d_model=6, heads=2, d_ff=11, cross=True), sizes(d_model=6, heads=3, d_ff=5, cross=False),
            sizes(d_model=4, heads=2, d_ff=7)], draw=draw_block_sizes, probe=block_parts),
    CheckSpec("batch", 1, "with and without batch dimensions",
        trials=[sizes(tokens=5, patches=7, d_model=6, heads=2, d_ff=3),
            sizes(batch_shape=(2, 3), tokens=5, patches=4, d_model=6, heads=3, d_ff=7, mask="causal"),
            sizes(batch_shape=(1,), tokens=1, patches=1, d_model=6, heads=3, d_ff=7)]),
    CheckSpec("conduct", 1,
        trials=[sizes(batch_shape=(2,), tokens=3, patches=5, d_model=6, heads=2, d_ff=7, mask="causal",
                dtype=torch.float64)]),
),
    draw=draw_block, returns=("tokens", "cross weights"), probe=call_block,
    difficulty=3, minutes=15, review="One block", stand_in=stand_ins.VisionLanguageBlock,
    mistakes="""
    always_cross: Your block has a cross-attention even with cross=False. In this case, set cross_attn and norm2
        to None.
        + __init__: cross = True
        self.cross_attn is not None  →  image_tokens is not None
    looks_if_there_is_an_image: Your code tests whether there is an image, but a block with cross=False may get an
        image, too. Test whether self.cross_attn is None.
        self.cross_attn is not None  →  image_tokens is not None
    mask_forgotten: The mask changes nothing here: pass it on to the self-attention.
        , mask=mask  →
    mask_as_context: The mask is passed as the layer's second argument, which is the context. Pass it by name:
        mask=mask.
        , mask=mask  →  , mask
    mask_inverted: The mask is inverted. True means that a token may attend: pass the mask on as it is, without ~.
        mask=mask  →  mask=None if mask is None else ~mask
    self_without_residual (slip): The self-attention replaces the tokens: add its output to them (the first residual).
        tokens = tokens + self.self_attn  →  tokens = self.self_attn
    cross_without_residual (slip): The cross-attention replaces the tokens: add its output to them (the second
        residual).
        tokens = tokens + seen  →  tokens = seen
    ffn_without_residual (slip): The feed-forward replaces the tokens: add its output to them (the third residual).
        return tokens + self.ffn  →  return self.ffn
    no_residuals: There is no residual at all: each step should add to the tokens, not replace them.
        tokens = tokens + self.self_attn  →  tokens = self.self_attn
        tokens = tokens + seen  →  tokens = seen
        return tokens + self.ffn  →  return self.ffn
    doubled_residual: The tokens are added twice. Use one residual for each step, and add nothing more at the end.
        = result[0] + text_tokens, result[1]
    steps_doubled: Each step adds its tokens twice, inside and outside: x + (x + step(x)). Use one residual for each
        step.
        tokens = tokens + self.self_attn  →  tokens = 2 * tokens + self.self_attn
        tokens = tokens + seen  →  tokens = 2 * tokens + seen
        return tokens + self.ffn  →  return 2 * tokens + self.ffn
    post_norm: Your block is post-norm: it normalises the sum. Make it pre-norm: each step must read a normalised
        copy of the tokens, and the sum stays as it is.
        tokens = tokens + self.self_attn(self.norm1(tokens), mask=mask)[0]
            →  tokens = self.norm1(tokens + self.self_attn(tokens, mask=mask)[0])
        self.norm2(tokens), image  →  tokens, image
        tokens = tokens + seen  →  tokens = self.norm2(tokens + seen)
        tokens + self.ffn(self.norm3(tokens))  →  self.norm3(tokens + self.ffn(tokens))
    residual_from_the_norm: The residual starts from the normalised tokens. Start it from the tokens before the norm.
        tokens = text_tokens  →  tokens = self.norm1(text_tokens)
        self.norm1(tokens), mask  →  tokens, mask
        seen, weights = self.cross_attn(self.norm2(tokens),
            →  tokens = self.norm2(tokens); seen, weights = self.cross_attn(tokens,
        return tokens + self.ffn(self.norm3(tokens))  →  tokens = self.norm3(tokens); return tokens + self.ffn(tokens)
    self_residual_of_the_norm (slip): The first residual starts from the normalised tokens. Start it from the tokens
        before norm1.
        tokens = text_tokens  →  tokens = self.norm1(text_tokens)
        self.norm1(tokens), mask  →  tokens, mask
    cross_residual_of_the_norm (slip): The second residual starts from the normalised tokens. Start it from the tokens
        before norm2.
        seen, weights = self.cross_attn(self.norm2(tokens),
            →  tokens = self.norm2(tokens); seen, weights = self.cross_attn(tokens,
    ffn_residual_of_the_norm (slip): The third residual starts from the normalised tokens. Start it from the tokens
        before norm3.
        return tokens + self.ffn(self.norm3(tokens))  →  tokens = self.norm3(tokens); return tokens + self.ffn(tokens)
    self_residual_inside (slip): Your code adds the tokens to the input of the self-attention. Add them to its
        output.
        self.self_attn(self.norm1(tokens), mask=mask)[0]
            →  self.self_attn(tokens + self.norm1(tokens), mask=mask)[0] - tokens
    cross_residual_inside (slip): Your code adds the tokens to the input of the cross-attention. Add them to its
        output.
        self.norm2(tokens)  →  tokens + self.norm2(tokens)
        tokens = tokens + seen  →  tokens = seen
    ffn_residual_inside (slip): Your code adds the tokens to the input of the feed-forward step. Add them to its
        output.
        tokens + self.ffn(self.norm3(tokens))  →  self.ffn(tokens + self.norm3(tokens))
    self_added_to_itself (slip): Your code adds the output of the self-attention to itself. Add it to the tokens.
        tokens = tokens + self.self_attn  →  tokens = 2 * self.self_attn
    cross_added_to_itself (slip): Your code adds the output of the cross-attention to itself. Add it to the
        tokens.
        tokens = tokens + seen  →  tokens = seen + seen
    ffn_added_to_itself (slip): Your code adds the output of the feed-forward step to itself. Add it to the
        tokens.
        return tokens + self.ffn  →  return 2 * self.ffn
    cross_residual_from_the_input (slip): Your second residual starts from the block's input. Start it from the
        tokens that the self-attention step returned.
        tokens = tokens + seen  →  tokens = text_tokens + seen
    ffn_residual_from_the_input (slip): Your last residual starts from the block's input. Start it from the tokens
        that the step before it returned.
        return tokens + self.ffn  →  return text_tokens + self.ffn
    without_norms: Your code normalises nothing. Use norm1, norm2 and norm3, each before its own step.
        self.norm1(tokens)  →  tokens
        self.norm2(tokens)  →  tokens
        self.norm3(tokens)  →  tokens
    cross_before_self: Your cross-attention runs before the self-attention. Run the self-attention first.
        tokens = tokens + self.self_attn(self.norm1(tokens), mask=mask)[0]  →  pass
        return tokens + self.ffn
            →  tokens = tokens + self.self_attn(self.norm1(tokens), mask=mask)[0]; return tokens + self.ffn
    side_by_side: In your code self- and cross-attention both read the block's input. Cross-attention must read
        the sum of the tokens and the output of self-attention.
        self.norm2(tokens)  →  self.norm2(text_tokens)
    all_side_by_side: In your code all three steps read the block's input. Each step must read the tokens that the
        step before it returned.
        self.norm2(tokens)  →  self.norm2(text_tokens)
        self.norm3(tokens)  →  self.norm3(text_tokens)
    image_normalised: The image tokens are normalised here. The block uses them as they are: norm2 is only for the text.
        self.norm2(tokens), image_tokens  →  self.norm2(tokens), self.norm2(image_tokens)
    image_asks: The image asks and the text answers. The text must ask: cross_attn(text, image).
        self.norm2(tokens), image_tokens  →  image_tokens, self.norm2(tokens)
    image_unseen: The cross-attention never sees the image: give it image_tokens as its context.
        self.norm2(tokens), image_tokens  →  self.norm2(tokens)
    one_norm: Your code uses one norm for all three steps. Use norm1, norm2 and norm3, one for each step.
        self.norm2(tokens)  →  self.norm1(tokens)
        self.norm3(tokens)  →  self.norm1(tokens)
    norm1_for_the_image (slip): Your cross-attention step uses norm1. Use its own norm, norm2.
        self.norm2(tokens)  →  self.norm1(tokens)
    norm1_for_the_ffn (slip): Your feed-forward step uses norm1. Use its own norm, norm3.
        self.norm3(tokens)  →  self.norm1(tokens)
    norm2_twice (slip): Your feed-forward step uses norm2. Use its own norm, norm3.
        self.norm3(tokens)  →  (self.norm2 or self.norm3)(tokens)
    ffn_missing: The feed-forward step is missing. After attention, add x + ffn(norm3(x)).
        tokens + self.ffn(self.norm3(tokens))  →  tokens
    relu_in_the_ffn (slip): There is a ReLU between the two linear layers. Use a GELU.
        nn.GELU()  →  nn.ReLU()
    silu_in_the_ffn (slip): There is a SiLU between the two linear layers. Use a GELU.
        nn.GELU()  →  nn.SiLU()
    elu_in_the_ffn (slip): There is an ELU between the two linear layers. Use a GELU.
        nn.GELU()  →  nn.ELU()
    quick_gelu_in_the_ffn (slip): Between the two linear layers is x · sigmoid(1.702 x), which only approximates a GELU.
        Use nn.GELU().
        nn.GELU()  →  type("QuickGELU", (nn.Module,), {"forward": lambda self, x: x * torch.sigmoid(1.702 * x)})()
    self_attention_returned: You return the weights of the self-attention. Return those of the cross-attention, or
        None if there is no cross-attention.
        tokens = tokens + self.self_attn(self.norm1(tokens), mask=mask)[0]
            →  tokens, own = tokens + (one := self.self_attn(self.norm1(tokens), mask=mask))[0], one[1]
        return tokens + self.ffn(self.norm3(tokens)), weights  →  return tokens + self.ffn(self.norm3(tokens)), own
    heads_averaged: You return weights that are averaged over the heads. Return the weights of every head.
        = result[0], None if result[1] is None else result[1].mean(-3)
    text_only_by_default: By default, this block does not look at the image. The default must be cross=True.
        cross: bool = True  →  cross: bool = False
""")  # fmt: skip
