"""Exercise 4.3: `deletion_curve`, `insertion_curve` and `area_under`, which put an explanation to the test."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from attention.deletion import area_under, deletion_curve, insertion_curve
from torch import Tensor

from grader.course.lesson_4.ranking import RANKING
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import side_effects, strided
from grader.declaration.sampler import InputSampler
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def draw_scenes_and_order(
    sampler: InputSampler, *, scenes: int, patches: int, d_vision: int, dtype=torch.float32
) -> Inputs:
    """Draw scenes, an order of the patches of each, an empty patch, and what the score asks each scene for.

    No order is its own inverse, so that who reads it as a list of turns gets other curves, and no two are the same.
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


def draw_curves(sampler: InputSampler, *, batch_shape: tuple[int, ...] = (), points: int) -> Inputs:
    """Draw curves."""
    return {"curve": sampler.normal(*batch_shape, points)}


def loudest(query: Tensor, image_patches: Tensor) -> Tensor:
    """Return a score for each scene (B,): a soft maximum over the patches of how well they fit the scene's query."""
    return torch.einsum("bnd,bd->bn", image_patches, query).logsumexp(1)


def curve_values(
    deletion_curve, insertion_curve, image_patches: Tensor, order: Tensor, blank: Tensor, query: Tensor
) -> Mapping[str, Value]:
    def score(shown):
        return loudest(query, shown)

    return {
        "deletion": deletion_curve(score, image_patches, order, blank),
        "insertion": insertion_curve(score, image_patches, order, blank),
    }


def area_values(area_under, curve: Tensor) -> Mapping[str, Value]:
    return {"area": area_under(curve)}


def curve_purity(
    deletion_curve, insertion_curve, image_patches: Tensor, order: Tensor, blank: Tensor, query: Tensor
) -> Mapping[str, Value]:
    """Report whether scenes, order and empty patch stay as they are."""

    def score(shown):
        return loudest(query, shown)

    inputs = {"image_patches": image_patches, "order": order, "blank": blank}
    given = {name: strided(tensor.clone()) for name, tensor in inputs.items()}
    deletion = deletion_curve(score=score, **given)
    insertion = insertion_curve(score=score, **given)
    return {"deletion": deletion, "insertion": insertion, **side_effects(inputs, given)}


# ---------------------------------------------------------------- mistakes


def _curve(score, image_patches, blank, shown) -> Tensor:
    """The scores of scenes of which only some patches are shown: one bool tensor (B, n) for each point."""
    return torch.stack([score(torch.where(one.unsqueeze(-1), image_patches, blank)) for one in shown], dim=1)


def _turns(order: Tensor) -> tuple[Tensor, range]:
    return order.argsort(1), range(order.shape[1] + 1)


@mistake(
    "deletion_curve",
    "The patches go in the wrong order: the most important ones, which stand first in `order`, must go first.",
)
def least_important_first(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order.flip(1), blank)


@mistake(
    "deletion_curve", "Each point lacks one patch alone. What is gone stays gone: blank one patch more at each step."
)
def one_patch_at_a_time(score, image_patches, order, blank):
    turn, steps = _turns(order)
    return _curve(score, image_patches, blank, [turn != step - 1 for step in steps])


@mistake("deletion_curve", "Patches become zeros. An empty patch is `blank`.")
def zeros_for_blank(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order, torch.zeros_like(blank))


@mistake("deletion_curve", "The first scene's order is used for all scenes. Scene b has order[b].")
def one_order_for_all(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order[:1].expand_as(order), blank)


@mistake("deletion_curve", "The score of the whole scene is missing: begin before the first patch is gone.")
def without_the_start(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order, blank)[:, 1:]


@mistake("deletion_curve", "The score of the empty scene is missing: n patches give n + 1 points.")
def without_the_end(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order, blank)[:, :-1]


@mistake("deletion_curve", "The curve has a row for each step. A row for each scene is asked for: (B, n + 1).")
def steps_in_rows(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order, blank).T


@mistake(
    "deletion_curve",
    "`order` is read as the turn of each patch. It lists the patches: order[b, 0] is the patch that goes first.",
)
def order_as_turns(score, image_patches, order, blank):
    return _curve(score, image_patches, blank, [order >= step for step in range(order.shape[1] + 1)])


@mistake("deletion_curve", "The scenes that were handed in are changed. Work on a copy: .clone().")
def blanks_in_place(score, image_patches, order, blank):
    curve = deletion_curve(score, image_patches, order, blank)
    with torch.no_grad():
        image_patches.copy_(blank.expand_as(image_patches))
    return curve


@mistake(
    "insertion_curve",
    "This is the deletion curve from its end. It puts in the least important patch first; the most important one must "
    "be put in first.",
)
def flipped_deletion(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order, blank).flip(1)


@mistake("insertion_curve", "This takes patches away. Begin with an empty scene, and put patches in.")
def deletes_again(score, image_patches, order, blank):
    return deletion_curve(score, image_patches, order, blank)


@mistake("insertion_curve", "Each point shows one patch alone. What was put in stays in.")
def shows_one_patch(score, image_patches, order, blank):
    turn, steps = _turns(order)
    return _curve(score, image_patches, blank, [turn == step - 1 for step in steps])


@mistake("insertion_curve", "It begins with zeros. An empty scene is made of `blank`.")
def begins_with_zeros(score, image_patches, order, blank):
    return insertion_curve(score, image_patches, order, torch.zeros_like(blank))


@mistake("insertion_curve", "The score of the empty scene is missing: n patches give n + 1 points.")
def without_the_empty_scene(score, image_patches, order, blank):
    return insertion_curve(score, image_patches, order, blank)[:, 1:]


@mistake("area_under", "This is the mean of all points. By trapezoids the first and the last point count half.")
def mean_of_points(curve):
    return curve.mean(-1)


@mistake("area_under", "Each step counts as 1 wide. All n steps together are 1 wide: divide by n.")
def steps_of_one(curve):
    return torch.trapezoid(curve, dim=-1)


@mistake("area_under", "One area is asked for each curve. Only the last axis is summed.")
def one_area_for_all(curve):
    return area_under(curve).mean()


@mistake("area_under", "Each step counts with its left end. By trapezoids it counts with the mean of its two ends.")
def left_ends(curve):
    return curve[..., :-1].mean(-1)


CURVE_VALUES = Check(
    name="values",
    title="one patch more at each step, from the whole scene and from the empty one",
    points=5,
    probe=curve_values,
    examples=trials(draw_scenes_and_order, dict(scenes=2, patches=3, d_vision=2)),
    trials=trials(
        draw_scenes_and_order,
        dict(scenes=5, patches=7, d_vision=3),
        dict(scenes=3, patches=9, d_vision=11),
        dict(scenes=1, patches=4, d_vision=2),
    ),
)
AREA = Check(
    name="area",
    title="the area by trapezoids, over a width of 1",
    points=1,
    probe=area_values,
    examples=trials(draw_curves, dict(batch_shape=(2,), points=4)),
    trials=trials(draw_curves, dict(batch_shape=(5,), points=10), dict(batch_shape=(2, 3), points=7)),
)
CURVE_CONDUCT = Check(
    name="conduct",
    title="float64 stays float64; scenes, order and empty patch stay as they are",
    points=1,
    needs=("values",),
    probe=curve_purity,
    examples=trials(draw_scenes_and_order, dict(scenes=2, patches=3, d_vision=2)),
    trials=trials(draw_scenes_and_order, dict(scenes=3, patches=7, d_vision=5, dtype=torch.float64)),
)
DELETION = Exercise(
    id="4.3",
    title="Deletion and insertion",
    reference=(deletion_curve, insertion_curve, area_under),
    points=10,
    difficulty=2,
    minutes=15,
    checks=(CURVE_VALUES, AREA, CURVE_CONDUCT, RANKING),
    mistakes=mistakes_in(globals(), "deletion_curve", "insertion_curve", "area_under"),
    review="Which one is right? Take away, and see",
)
