"""Exercise 4.8: `mirror_left_right`, in the place of one that mirrors scenes and leaves their questions."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from attention.mended import mirror_left_right
from attention.short_trainings import MIRROR
from torch import Tensor

from grader.course.lesson_4.short_training import training_gate
from grader.declaration.exercise import Check, Exercise, mistake, mistakes_in
from grader.declaration.probes import effects_of, pair
from grader.declaration.sampler import InputSampler
from grader.declaration.trial import trials
from grader.records import Inputs, Value


def draw_mirrored(sampler: InputSampler, *, scenes: int, pixels: int, dtype: torch.dtype = torch.float32) -> Inputs:
    """Draw scenes, a place that is asked about in each, and which scenes are mirrored; some are, and some are not."""
    return {
        "cells": sampler.integers(0, 9, scenes),
        "patches": sampler.normal(scenes, 9, pixels, dtype=dtype),
        "turned": sampler.mask(scenes, keep=0.5),
    }


def mirror_values(mirror_left_right, cells: Tensor, patches: Tensor, turned: Tensor) -> Mapping[str, Value]:
    places, scenes = pair(mirror_left_right(cells, patches, turned), ("cells", "patches"))
    return {"cells": places, "patches": scenes}


def mirror_conduct(mirror_left_right, cells: Tensor, patches: Tensor, turned: Tensor) -> Mapping[str, Value]:
    """Report side effects, and what comes back for scenes that are not contiguous."""
    inputs = {"cells": cells, "patches": patches, "turned": turned}
    effects = effects_of(mirror_left_right, inputs)
    if not effects["inputs unchanged"]:
        return effects
    places, scenes = pair(mirror_left_right(**inputs), ("cells", "patches"))
    return {**effects, "cells": places, "patches": scenes}


def _where(turned: Tensor, mirrored: Tensor, patches: Tensor) -> Tensor:
    return torch.where(turned[:, None, None], mirrored, patches)


def _columns_swapped(patches: Tensor) -> Tensor:
    return patches[:, [2, 1, 0, 5, 4, 3, 8, 7, 6]]


@mistake(
    "mirror_left_right",
    "The scenes are mirrored, and the questions stay: whoever asks for the top left of a mirrored scene gets the digit that was asked for at the top right.",
)
def questions_stay(cells, patches, turned):
    return cells, _where(turned, _columns_swapped(patches), patches)


@mistake(
    "mirror_left_right",
    "Nothing is mirrored any more. The gate is passed, and not by mending the fault: you took the mirror away instead of the mistake in it.",
)
def mirror_removed(cells, patches, turned):
    return cells.clone(), patches.clone()


@mistake("mirror_left_right", "The questions are mirrored, and the scenes stay: the fault has changed sides.")
def scenes_stay(cells, patches, turned):
    return mirror_left_right(cells, patches, turned)[0], patches


@mistake("mirror_left_right", "Every question is mirrored, and only some of the scenes are. `turned` says which.")
def every_question_mirrored(cells, patches, turned):
    return cells - 2 * (cells % 3) + 2, mirror_left_right(cells, patches, turned)[1]


@mistake(
    "mirror_left_right",
    "Everything is mirrored, whatever `turned` says. The gate is passed, and the task is another one: half of the scenes were to stay.",
)
def everything_mirrored(cells, patches, turned):
    return cells - 2 * (cells % 3) + 2, _columns_swapped(patches)


@mistake(
    "mirror_left_right",
    "8 − cell turns the place by half a turn: up and down change, too. A mirror changes the column alone.",
)
def half_turn(cells, patches, turned):
    return torch.where(turned, 8 - cells, cells), mirror_left_right(cells, patches, turned)[1]


@mistake(
    "mirror_left_right",
    "The places change rows, and the scenes change columns. cell % 3 is the column.",
    name="rows_for_columns",
)
def mirrored_rows_for_columns(cells, patches, turned):
    upside_down = cells % 3 + 3 * (2 - cells // 3)
    return torch.where(turned, upside_down, cells), mirror_left_right(cells, patches, turned)[1]


@mistake("mirror_left_right", "2 − column is a place in the top row: the row got lost. A place is 3 × row + column.")
def row_lost(cells, patches, turned):
    return torch.where(turned, 2 - cells % 3, cells), mirror_left_right(cells, patches, turned)[1]


@mistake(
    "mirror_left_right",
    "The digits themselves are mirrored as well. Only the patches change places; nobody writes a mirrored 7.",
)
def pixels_mirrored(cells, patches, turned):
    places, scenes = mirror_left_right(cells, patches, turned)
    return places, _where(turned, scenes.flip(-1), scenes)


MIRRORED_VALUES = Check(
    name="values",
    title="scene and question are mirrored together, in the scenes that are turned",
    points=1.5,
    probe=mirror_values,
    examples=trials(draw_mirrored, dict(scenes=7, pixels=2)),
    trials=trials(draw_mirrored, dict(scenes=31, pixels=3), dict(scenes=23, pixels=11)),
)
MIRRORED_CONDUCT = Check(
    name="conduct",
    title="the inputs stay as they are; float64 stays float64",
    points=0.5,
    needs=("values",),
    probe=mirror_conduct,
    examples=trials(draw_mirrored, dict(scenes=5, pixels=2)),
    trials=trials(draw_mirrored, dict(scenes=13, pixels=5, dtype=torch.float64)),
)
MIRROR_REPAIR = Exercise(
    id="4.8",
    title="Repair: it looks at two places",
    reference=(mirror_left_right,),
    points=3,
    difficulty=2,
    minutes=8,
    checks=(
        MIRRORED_VALUES,
        MIRRORED_CONDUCT,
        training_gate(MIRROR, mirror_left_right, "mended_mirror", "train-mirror", 1),
    ),
    mistakes=mistakes_in(globals(), "mirror_left_right"),
    review="Fourth training: it looks at two places",
)
