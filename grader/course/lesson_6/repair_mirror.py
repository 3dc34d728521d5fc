"""Exercise 6.8: `mirror_left_right`. It replaces a function that mirrors scenes but not their questions."""

import torch
from attention.experiments.short_trainings import MIRROR
from attention.lab_repairs import mirror_left_right

from grader.course.lesson_6.short_training import training_gate
from grader.declare.authoring import CheckSpec, drawn, integers, mask, sizes, written_exercise
from grader.declare.probes import function_effects

# Scenes, a place that is asked about in each, and which scenes are mirrored; some are, and some are not.
draw_mirrored = drawn(cells=integers(0, 9, "scenes"), patches="scenes 9 pixels", turned=mask("scenes", keep=0.5))


MIRROR_REPAIR = written_exercise("6.8 Repair: it looks at two places", mirror_left_right, (
    CheckSpec("values", 3, "scene and question are mirrored together, in the scenes that are turned",
        examples=[sizes(scenes=7, pixels=2)], trials=[sizes(scenes=31, pixels=3), sizes(scenes=23, pixels=11)]),
    CheckSpec("conduct", 1, "the inputs stay as they are; float64 stays float64",
        examples=[sizes(scenes=5, pixels=2)], trials=[sizes(scenes=13, pixels=5, dtype=torch.float64)],
        probe=function_effects),
),
    draw=draw_mirrored, returns=("cells", "patches"),
    difficulty=2, minutes=8, review="Fourth training: it looks at two places",
    also=(training_gate(MIRROR, mirror_left_right, "mended_mirror", "train-mirror", 2),),
    mistakes="""
    questions_stay: Your code mirrors the scenes, but not the questions. In a mirrored scene, the digit from the
        top left is at the top right: mirror `cells`, too.
        = cells, result[1]
    mirror_removed: Scenes and questions are returned as they were: nothing is mirrored. The training would reach its
        threshold, but this does not fix the fault: mirror both where `turned` is True.
        = cells.clone(), patches.clone()
    scenes_stay: The questions are mirrored, but the scenes are not. Mirror the scenes, too.
        = result[0], patches
    every_question_mirrored: Your code mirrors every question, but only some of the scenes. Mirror only the
        questions for which `turned` is True.
        = cells - 2 * (cells % 3) + 2, result[1]
    others_mirrored: Your code mirrors the scenes that should stay, and not the others. The training would reach
        its threshold, but the task asks you to mirror the scenes where `turned` is True.
        + turned = ~turned
    everything_mirrored: Your code mirrors all scenes and ignores `turned`. The training would reach its
        threshold, but the scenes where `turned` is False should stay.
        + turned = torch.ones_like(turned)
    half_turn: Your code changes each place to 8 − cell, which is half a turn: up and down change, too. A mirror
        changes only the column.
        cells - column + (2 - column)  →  8 - cells
    rows_for_columns: The questions are mirrored from top to bottom, but the scenes from left to right. Mirror the
        column of a place: it is cell % 3.
        cells - column + (2 - column)  →  column + 3 * (2 - cells // 3)
    upside_down: Scenes and questions are turned upside down here. The training would reach its threshold, but the
        task asks for something else: swap left and right.
        .flip(2)  →  .flip(1)
        cells - column + (2 - column)  →  column + 3 * (2 - cells // 3)
    half_circle: Scenes and questions are turned by half a turn here. The training would reach its threshold, but the
        task asks for something else: swap left and right, and let each row stay.
        .flip(2)  →  .flip(1, 2)
        cells - column + (2 - column)  →  8 - cells
    rows_become_columns: Rows and columns are swapped, in scenes and questions. The training would reach its
        threshold, but the task asks for something else: swap left and right.
        .flip(2)  →  .transpose(1, 2)
        cells - column + (2 - column)  →  3 * column + cells // 3
    brackets_moved: The row is multiplied by more than 3 here. A place is 3 × row + column, and the new column is 2 −
        column.
        cells - column + (2 - column)  →  cells // 3 * (3 + 2 - column)
    row_lost: Your code computes only 2 − column, which is always a place in the top row. Keep the row: a place is
        3 × row + column.
        cells - column + (2 - column)  →  2 - column
    right_column_twice: The left column is overwritten before it is read, so the right one is there twice. Read from the
        scenes as they were passed in.
        .flip(2)  →  [:, :, [2, 1, 2]]
    left_column_twice: The right column is overwritten before it is read, so the left one is there twice. Read from the
        scenes as they were passed in.
        .flip(2)  →  [:, :, [0, 1, 0]]
    cells_subtracted: Your code computes 2 − cell, which is below 0 from the second row on. A place is 3 × row +
        column: mirror only the column.
        cells - column + (2 - column)  →  2 - cells
    pixels_mirrored: Your code also reverses the numbers inside a patch, which mirrors the digits. Swap only the
        patches, and leave each digit as it is.
        = result[0], torch.where(turned[:, None, None], result[1].flip(-1), result[1])
""")  # fmt: skip
