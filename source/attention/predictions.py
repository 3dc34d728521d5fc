"""What was predicted, beside what is measured."""

from collections.abc import Mapping
from numbers import Real


def compare_predictions(predicted: Mapping[str, object], measured: Mapping[str, float]) -> None:
    """Print a line for each thing that is measured: the prediction, if there is one, the measurement, the difference.

    Args:
        predicted: a number by name; None, or a name left out, stands for no prediction.
        measured: a number by name.
    """
    width = max(map(len, measured))
    print(f"{'':{width}}   predicted   measured   apart")
    for name, value in measured.items():
        guess = predicted.get(name)
        if isinstance(guess, Real):
            print(f"{name:{width}}   {float(guess):9.3f}   {value:8.3f}   {abs(float(guess) - value):5.3f}")
        else:
            print(f"{name:{width}}   {'none':>9}   {value:8.3f}")
