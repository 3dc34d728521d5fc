"""Effects of a student's code that are measured, and whose cause `grader.explain.code.clues` then looks for in the code."""

from enum import Enum


class Effect(Enum):
    """What was measured of an answer."""

    GRADIENT = "a gradient is missing"
    FLOAT32 = "float32 came, where float64 is due"
    DEVICE = "another device"
    IN_PLACE = "an input was changed"
    WITHOUT_BATCH = "right only without a batch"
    WITH_BATCH = "right only with one batch axis"
    ONE_BATCH = "raises without a batch, and is right with one batch axis"
    RANDOM = "results differ from call to call"
    VALUES = "values differ"  # what is nearly surely not meant, whatever the values
    IDLE = "a layer without parameters is never used"
    LAYERS = "a layer is never used"
    SHARED = "parameters are missing"  # because one layer has two names
    UNUSED = "values differ, and nothing else explains them"  # an argument or a layer that nothing reads
