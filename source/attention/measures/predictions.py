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


def check_recall(answers: Mapping[str, object], right: Mapping[str, tuple[object, str]]) -> None:
    """Say of each answer whether it is right, and why; of a question that is open, nothing more.

    Args:
        answers: a number, a word or a tuple by name; None for an open question.
        right: by name the right answer, and the reason in a sentence.
    """
    for name, (value, why) in right.items():
        answer = answers.get(name)
        if answer is None:
            print(f"{name}: open. Put your answer in place of None, and run both cells again.")
        else:
            said = "right" if agrees(answer, value) else f"you said {answer}, it is {value}"
            print(f"{name}: {said}. {why}")


def agrees(answer: object, right: object) -> bool:
    """Return True if two answers agree: words in any case, numbers to a hundredth, number by number."""
    if isinstance(right, (tuple, list)):
        alike = isinstance(answer, (tuple, list)) and len(answer) == len(right)
        return alike and all(map(agrees, answer, right))
    if isinstance(right, str):
        return str(answer).strip().lower() == right.lower()
    return isinstance(answer, Real) and abs(float(answer) - float(right)) <= 0.01
