"""Which exercise depends on which: declared, and by the names that an answer mentions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grader.declaration.lesson import Lesson
from grader.notebook.source_names import definitions, looks_names_up, words


def mentioned_exercises(lesson: Lesson, source: str, defined: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Ids of the exercises whose names a source speaks of, itself or through what is defined elsewhere.

    Args:
        defined: name → the names that its definition speaks of.
    """
    reached: frozenset[str] = frozenset()
    todo = words(source)
    while todo:
        reached |= todo
        todo = frozenset().union(*(defined[name] for name in todo & defined.keys())) - reached
    return frozenset(exercise.id for exercise in lesson.exercises if reached & set(exercise.defines))


def foundations(lesson: Lesson, id: str) -> frozenset[str]:
    """Everything that an exercise builds on, directly or not."""
    found: set[str] = set()
    todo: list[str] = list(lesson.exercise(id).builds_on)
    while todo:
        below = todo.pop()
        if below not in found:
            found.add(below)
            todo += lesson.exercise(below).builds_on
    return frozenset(found)


def may_use(lesson: Lesson, id: str, answers: Mapping[str, str], own: Iterable[str]) -> frozenset[str]:
    """What an exercise builds on and its answer can reach: by name, or anything if it looks names up as it runs.

    Args:
        answers: source of the cell that counts, by exercise id.
        own: sources of the student's own cells; an answer is taken to use all of them.
    """
    below = foundations(lesson, id)
    source = "\n".join([answers.get(id, ""), *own])
    if looks_names_up(source) or any(check.at for check in lesson.exercise(id).checks):
        return below  # what was trained came of everything
    defined = {name: names for text in answers.values() for name, names in definitions(text).items()}
    return below & mentioned_exercises(lesson, source, defined)
