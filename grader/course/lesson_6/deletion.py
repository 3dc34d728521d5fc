"""Exercise 6.3: `deletion_curve`, `insertion_curve` and `area_under`, which test an explanation."""

from collections.abc import Mapping

import torch
from attention.deletion import area_under, deletion_curve, insertion_curve
from torch import Tensor

from grader.course.lesson_6.ranking import draw_ranked, rank_explanations
from grader.declare.authoring import (
    CheckSpec,
    Inputs,
    InputSampler,
    Value,
    drawn,
    edits,
    in_both,
    sizes,
    written_exercise,
)
from grader.declare.probes import side_effects, strided


def draw_scenes_and_order(
    sampler: InputSampler, *, scenes: int, patches: int, d_vision: int, dtype=torch.float32
) -> Inputs:
    """Draw scenes, an order of the patches for each scene, an empty patch, and a query for the score of each scene.

    No two orders are equal, and none is its own inverse. So an answer that reads an order as a list
    of ranks gets other curves.
    """
    orders: list[Tensor] = []
    while len(orders) < scenes:
        order = sampler.permutation(patches)
        if not any(torch.equal(order, other) for other in (order.argsort(), *orders)):
            orders.append(order)
    return {
        "image_patches": sampler.normal(scenes, patches, d_vision, dtype=dtype),
        "order": torch.stack(orders),
        "blank": sampler.normal(d_vision, dtype=dtype),
        "query": sampler.normal(scenes, d_vision, dtype=dtype),
    }


draw_curves = drawn(curve="* points")


def loudest(query: Tensor, image_patches: Tensor) -> Tensor:
    """Return a score for each scene (B,), a soft maximum over its patches.

    The maximum is over the similarity of each patch with the scene's query.
    """
    return torch.einsum("bnd,bd->bn", image_patches, query).logsumexp(1)


def curve_values(
    deletion_curve, insertion_curve, image_patches: Tensor, order: Tensor, blank: Tensor, query: Tensor
) -> Mapping[str, Value]:
    """Return the deletion curve and the insertion curve for the score `loudest`."""

    def score(shown):
        return loudest(query, shown)

    return {
        "deletion": deletion_curve(score, image_patches, order, blank),
        "insertion": insertion_curve(score, image_patches, order, blank),
    }


def curve_purity(
    deletion_curve, insertion_curve, image_patches: Tensor, order: Tensor, blank: Tensor, query: Tensor
) -> Mapping[str, Value]:
    """Return both curves for arguments by keyword, and whether scenes, order and empty patch stay unchanged."""

    def score(shown):
        return loudest(query, shown)

    inputs = {"image_patches": image_patches, "order": order, "blank": blank}
    given = {name: strided(tensor.clone()) for name, tensor in inputs.items()}
    deletion = deletion_curve(score=score, **given)
    insertion = insertion_curve(score=score, **given)
    return {"deletion": deletion, "insertion": insertion, **side_effects(inputs, given)}


DELETION_MISTAKES = edits(deletion_curve, """
    least_important_first: The patches are taken in the wrong order. The most important patch is first in `order`, and
        must be taken first.
        + order = order.flip(1)
    one_patch_at_a_time: At each point, only one patch is changed. Keep the changes of the earlier steps, and change one
        more patch in each step.
        turn >= step  →  turn != step - 1
    zeros_for_blank: Your empty patches are zeros. An empty patch must be `blank`.
        + blank = torch.zeros_like(blank)
    one_order_for_all: Your code uses the first scene's order for all scenes. The order of scene b is order[b].
        + order = order[:1].expand_as(order)
    without_the_start: The first point of your curve is missing. Begin with the score before any patch is changed.
        = result[:, 1:]
    without_the_end: The last point of your curve is missing. For n patches, return n + 1 points.
        = result[:, :-1]
    steps_in_rows: The curve has a row for each step. It must have a row for each scene: (B, n + 1).
        = result.T
    blanked_in_every_scene: Your code changes the patches of one scene's order in all scenes. In scene b, change
        only the patches of order[b].
        order.argsort(1)  →  order.argsort(1).amin(0).expand_as(order)
    order_as_turns: Your code reads `order` as the turn of each patch. But `order` lists the patches: order[b, 0]
        is the patch that goes first.
        order.argsort(1)  →  order
    blanks_in_place: The input scenes are changed. Work on a copy: .clone().
        = (result, image_patches.data.copy_(blank.expand_as(image_patches)))[0]
""")  # fmt: skip

INSERTION_MISTAKES = edits(insertion_curve, """
    flipped_deletion: Your curve is the deletion curve backwards, which puts in the least important patch first.
        Put in the most important patch first.
        + return deletion_curve(score, image_patches, order, blank).flip(1)
    deletes_again: Your code removes patches. Begin with an empty scene, and put patches in.
        + return deletion_curve(score, image_patches, order, blank)
    shows_one_patch: At each point of your curve, only one patch is shown. Keep the patches that earlier steps
        have put in.
        turn < step  →  turn == step - 1
    puts_in_one_after_another: The patches are put in by their numbers, 0, 1, 2 and so on. In each step, put in
        only the patch order[:, step].
        _score_with(score, image_patches, turn < step
            →  _score_with(score, image_patches[torch.arange(len(turn))[:, None], turn], turn < step
    puts_in_by_turns: Your code reads `order` as the turn of each patch. But `order` lists the patches: order[b,
        0] is put in first.
        order.argsort(1)  →  order
    one_order_for_insertion: Your code uses the first scene's order for all scenes. The order of scene b is
        order[b].
        + order = order[:1].expand_as(order)
    puts_in_every_scene: The patches that one scene gets are put into all scenes here. Scene b must get only those of
        order[b].
        order.argsort(1)  →  order.argsort(1).amin(0).expand_as(order)
    begins_with_zeros: Your curve begins with a scene of zeros. An empty scene is made of `blank`.
        + blank = torch.zeros_like(blank)
    without_the_empty_scene: The score of the empty scene is missing: n patches give n + 1 points.
        = result[:, 1:]
    without_the_whole_scene: The score of the whole scene is missing: n patches give n + 1 points.
        = result[:, :-1]
    insertion_steps_in_rows: The curve has a row for each step. It must have a row for each scene: (B, n + 1).
        = result.T
""")  # fmt: skip

# Who takes the order for something else does so in both curves.
IN_BOTH = in_both(
    DELETION_MISTAKES + INSERTION_MISTAKES,
    least_important_first="flipped_deletion",
    one_patch_at_a_time="shows_one_patch",
    zeros_for_blank="begins_with_zeros",
    one_order_for_all="one_order_for_insertion",
    blanked_in_every_scene="puts_in_every_scene",
    without_the_start="without_the_empty_scene",
    without_the_end="without_the_whole_scene",
    steps_in_rows="insertion_steps_in_rows",
    order_as_turns="puts_in_by_turns",
)

AREA_MISTAKES = edits(area_under, """
    mean_of_points: You return the mean of all points. With trapezoids, the first and the last point must count
        only half.
        + return curve.mean(-1)
    steps_of_one: In your area each step is 1 wide. All n steps together must be 1 wide: divide by n.
        + return torch.trapezoid(curve, dim=-1)
    divided_by_the_points: Your code divides the area by the number of points, n + 1. Divide by the number of
        steps between the points, n.
        .mean(-1)  →  .sum(-1) / curve.shape[-1]
    one_area_for_all: A single area is returned for all curves. Return one for each curve: sum only over the last axis.
        = result.mean()
    left_ends: Your code uses only the left end of each step. With trapezoids, use the mean of its two ends.
        + return curve[..., :-1].mean(-1)
""")  # fmt: skip

DELETION = written_exercise("6.3 Deletion and insertion", (deletion_curve, insertion_curve, area_under), (
    CheckSpec("values", 6, "one patch more at each step, from the whole scene and from the empty one",
        examples=[sizes(scenes=2, patches=3, d_vision=2)],
        trials=[sizes(scenes=5, patches=7, d_vision=3), sizes(scenes=3, patches=9, d_vision=11),
            sizes(scenes=1, patches=4, d_vision=2)], probe=curve_values),
    CheckSpec("area", 2, "the area by trapezoids, over a width of 1", examples=[sizes(batch_shape=(2,), points=4)],
        trials=[sizes(batch_shape=(5,), points=10), sizes(batch_shape=(2, 3), points=7)],
        needs=(), reference=area_under, returns=("area",), draw=draw_curves),
    CheckSpec("conduct", 1, "float64 stays float64; scenes, order and empty patch stay as they are",
        examples=[sizes(scenes=2, patches=3, d_vision=2)],
        trials=[sizes(scenes=3, patches=7, d_vision=5, dtype=torch.float64)], probe=curve_purity),
    CheckSpec("ranking", 4, "three explanations of a model, ranked on scenes that you have not seen",
        trials=[sizes(scenes=23, task="where")], needs=("values", "area"), draw=draw_ranked, probe=rank_explanations),
),
    draw=draw_scenes_and_order,
    difficulty=2, minutes=15, review="Which one is right? Take away, and see",
    mistakes=DELETION_MISTAKES + INSERTION_MISTAKES + IN_BOTH + AREA_MISTAKES,
)  # fmt: skip
