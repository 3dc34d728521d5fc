"""Effects of a student's code that are measured, and whose cause `grader.explain.code.clues` then looks for in the code."""

from enum import Enum


class Effect(Enum):
    """What was measured of an answer."""

    GRADIENT = "a gradient is missing"
    PART = "a gradient is smaller or larger than it should be: one of its ways is cut off"
    FLOAT32 = "float32 came, where float64 is due"
    FLOAT64 = "float64 came, where float32 is due"
    DEVICE = "another device"
    IN_PLACE = "an input was changed"
    WITHOUT_BATCH = "right only without a batch"
    WITH_BATCH = "right only with one batch axis"
    FIRST = "right for the first entry of the batch alone"
    NAN = "NaN came where numbers are due"
    RANDOM = "results differ from call to call"
    ROUNDED = "values are rounded"
    VALUES = "values differ"  # what is nearly surely not meant, whatever the values
    IDLE = "a layer without parameters is never used"
    FLATTENED = "axes are missing"
    LAYERS = "a layer is never used"
    MODES = "modes or flags were left changed"
    UNUSED = "values differ, and nothing else explains them"  # an argument or a layer that nothing reads
