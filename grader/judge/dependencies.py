"""Find the exercises that an exercise depends on: as declared, and by the names that an answer mentions."""

from collections.abc import Iterable, Mapping

from grader.declare.lesson import Lesson
from grader.submission.code.source import parsed


def mentioned_exercises(lesson: Lesson, source: str, defined: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the ids of the exercises whose names a source mentions, directly or indirectly.

    Args:
        defined: definition name → the names that this definition mentions. A source that mentions the
            definition mentions these names indirectly.
    """
    reached: frozenset[str] = frozenset()
    new = parsed(source).mentioned
    while new:
        reached |= new
        new = frozenset().union(*(defined[name] for name in new & defined.keys())) - reached
    return frozenset(exercise.id for exercise in lesson.exercises if reached & set(exercise.defines))


def foundations(lesson: Lesson, id: str) -> frozenset[str]:
    """Return the ids of all exercises that an exercise builds on, directly or through other exercises."""
    below = {*lesson.exercise(id).builds_on}
    for exercise in reversed(lesson.exercises):  # each builds on earlier ones alone
        if exercise.id in below:
            below.update(exercise.builds_on)
    return frozenset(below)


def may_use(lesson: Lesson, id: str, answers: Mapping[str, str], own: Iterable[str]) -> frozenset[str]:
    """Return those foundations of an exercise that its answer may call. Usually, the answer mentions their names.

    Return all foundations in two cases: if the answer or a student-added cell looks names up as it runs, or if a check
    of the exercise probes a trained object.

    Args:
        answers: exercise id → the source of the answer.
        own: the sources of the student-added cells. Every answer is treated as using all of them.
    """
    below = foundations(lesson, id)
    source = "\n".join([answers.get(id, ""), *own])
    if parsed(source).looks_names_up or any(check.at for check in lesson.exercise(id).checks):
        return below  # training an object may call all foundations
    defined = {name: names for text in answers.values() for name, names in parsed(text).definitions.items()}
    return below & mentioned_exercises(lesson, source, defined)
