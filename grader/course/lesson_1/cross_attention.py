"""Exercise 1.8 CrossAttention: queries are made from text, keys and values from an image."""

import torch
from attention.single_head import CrossAttention

from grader.course.lesson_1 import stand_ins
from grader.course.lesson_1.layers import draw_layer_sizes, layer_edits, layer_parameters, mask_first, projections
from grader.declare.authoring import CheckSpec, drawn_layer, sizes, written_exercise

CROSS_WEIGHTS = projections(W_Q="d_text", W_K="d_image", W_V="d_image")
CROSS_SIZES = dict(d_text="d_text", d_image="d_image", d_k="d_k")
draw_cross_attention = mask_first(
    drawn_layer(CROSS_WEIGHTS, CROSS_SIZES, text_tokens="* words d_text", image_tokens="* patches d_image"),
    "words",
    "patches",
)

CROSS_ATTENTION = written_exercise("1.8 Cross-attention: text asks, the image answers", CrossAttention, (
    CheckSpec("values", 6, "text asks, the image answers",
        examples=[sizes(words=2, patches=3, d_text=4, d_image=4, d_k=5),
            sizes(words=2, patches=3, d_text=4, d_image=5, d_k=6)],
        trials=[sizes(words=5, patches=7, d_text=11, d_image=3, d_k=2),
            sizes(words=3, patches=5, d_text=2, d_image=7, d_k=11)], map="weights"),
    CheckSpec("mask", 3, "the mask is obeyed",
        examples=[sizes(words=2, patches=3, d_text=4, d_image=5, d_k=6, mask="shared")],
        trials=[sizes(words=5, patches=7, d_text=11, d_image=3, d_k=2, mask="shared"),
            sizes(batch_shape=(3,), words=5, patches=7, d_text=2, d_image=11, d_k=13, mask="padding"),
            sizes(batch_shape=(2,), words=7, patches=5, d_text=3, d_image=11, d_k=13, mask="each")], map="weights"),
    CheckSpec("nowhere", 1, "a token that may look nowhere gets zeros",
        examples=[sizes(words=2, patches=3, d_text=4, d_image=5, d_k=6, mask="blank")],
        trials=[sizes(batch_shape=(3,), words=5, patches=7, d_text=2, d_image=11, d_k=13, mask="blank"),
            sizes(batch_shape=(2,), words=7, patches=5, d_text=3, d_image=11, d_k=13, mask="empty"),
            sizes(batch_shape=(1,), words=7, patches=5, d_text=3, d_image=11, d_k=13, mask="empty")],
        needs=("values", "mask")),
    CheckSpec("batch", 1,
        trials=[sizes(batch_shape=(3,), words=5, patches=7, d_text=11, d_image=2, d_k=13),
            sizes(batch_shape=(2, 3), words=7, patches=5, d_text=11, d_image=13, d_k=17),
            # One word, one patch: one shape for both.
            sizes(batch_shape=(1,), words=1, patches=1, d_text=5, d_image=5, d_k=3),
            sizes(batch_shape=(2,), words=5, patches=5, d_text=7, d_image=7, d_k=3)]),
    CheckSpec("parameters", 2, "W_Q, W_K and W_V without bias are the only parameters",
        examples=[sizes(d_text=4, d_image=5, d_k=6)], trials=[sizes(d_text=7, d_image=5, d_k=3)],
        probe=layer_parameters, draw=draw_layer_sizes),
    CheckSpec("conduct", 2, "gradients reach every parameter, float64 stays float64, inputs stay as they are",
        examples=[sizes(words=2, patches=3, d_text=4, d_image=5, d_k=6, mask="shared", dtype=torch.float32)],
        trials=[sizes(batch_shape=(2,), words=5, patches=7, d_text=11, d_image=3, d_k=13, mask="padding",
                dtype=torch.float64)]),
),
    draw=draw_cross_attention, returns=("output", "weights"), zero_others=True,
    builds_on=("1.1", "1.2", "1.3", "1.4", "1.6"), bans={"fused attention"}, difficulty=2, minutes=10,
    review="Cross-attention", stand_in=stand_ins.CrossAttention,
    mistakes=layer_edits(CrossAttention, """
    keys_from_text: The keys are made from the text, so no word is compared with the image. W_K should read
        image_tokens.
        self.W_K(image_tokens)  →  self.W_K(text_tokens)
    values_from_text: The values are made from the text, so the output contains nothing of the image. W_V should read
        image_tokens.
        self.W_V(image_tokens)  →  self.W_V(text_tokens)
    image_asks: The image asks and the text answers. Turn it around: make the queries from text_tokens, and the keys and
        values from image_tokens.
        + text_tokens, image_tokens = image_tokens, text_tokens
    text_looks_at_itself: The text looks at itself, and the image is not used. Make keys and values from image_tokens.
        + image_tokens = text_tokens
    widths_swapped: The widths are wrong: W_Q should read d_text numbers, W_K and W_V should read d_image. The order of
        the arguments is d_text, d_image, d_k.
        + __init__: d_text, d_image = d_image, d_text
    cross_values_from_w_k: Your code makes the values with W_K. Make them with their own projection, W_V.
        self.W_V(image_tokens)  →  self.W_K(image_tokens)
    cross_queries_from_w_k: Your code makes the queries with W_K. Make them with their own projection, W_Q.
        self.W_Q(text_tokens)  →  self.W_K(text_tokens)
    cross_mask_late: Your code applies the mask after the softmax, so the weights no longer sum to 1. Pass the
        mask on to masked_attention.
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
            →  value = self.W_V(image_tokens); weights = masked_attention(self.W_Q(text_tokens),
               self.W_K(image_tokens), value)[1] * (1 if mask is None else mask); return weights @ value, weights
""", "text_tokens", "image_tokens", "d_text", "d_image"))  # fmt: skip
