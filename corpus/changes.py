"""Changes to a corpus: answers that are added or written again, and judgements. The functions return the whole corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from corpus.answers import JUDGEMENTS, Answer


def find_answer(answers: Iterable[Answer], exercise: str, name: str) -> Answer:
    """Return one answer of a corpus.

    Raises:
        ValueError: the corpus has no such answer; the message lists the names that it has.
    """
    to_exercise = {answer.name: answer for answer in answers if answer.exercise == exercise}
    if name not in to_exercise:
        raise ValueError(f"{exercise} has no answer {name!r}. Its answers are: {', '.join(to_exercise) or 'none'}")
    return to_exercise[name]


def add_answers(answers: Iterable[Answer], new: Iterable[Answer], *, replace: bool = False) -> tuple[Answer, ...]:
    """Return a corpus with new answers. A replaced answer keeps its place and loses its judgement.

    Raises:
        ValueError: the corpus has an answer of the same name to the same exercise, and `replace` is False.
    """
    by_key = {answer.key: answer for answer in answers}
    for answer in new:
        if answer.key in by_key and not replace:
            raise ValueError(f"{answer.exercise} has an answer {answer.name!r}. Rename yours, or pass --replace.")
        by_key[answer.key] = answer
    return tuple(by_key.values())


def judge_answers(answers: Iterable[Answer], judged: Iterable[Mapping[str, str]]) -> tuple[Answer, ...]:
    """Return a corpus with new judgements.

    Args:
        answers: the corpus.
        judged: the exercise, the name, the feedback and its judgement of some of its answers.

    Raises:
        ValueError: the corpus has no such answer, or the judgement is not a key of JUDGEMENTS.
    """
    by_key = {answer.key: answer for answer in answers}
    for line in judged:
        if missing := {"exercise", "name", "feedback", "judgement"} - line.keys():
            raise ValueError(f"a judgement has no {' and no '.join(sorted(missing))}")
        answer = find_answer(by_key.values(), line["exercise"], line["name"])
        if line["judgement"] not in JUDGEMENTS:
            raise ValueError(
                f"{answer.exercise} {answer.name} has the judgement {line['judgement']!r}. "
                f"Write one of {', '.join(JUDGEMENTS)}."
            )
        by_key[answer.key] = answer._replace(feedback=line["feedback"], judgement=line["judgement"])
    return tuple(by_key.values())
