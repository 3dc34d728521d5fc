"""Compare the answers of a class to one exercise, from their sources."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grader.report.similarity.fragments import Fragments, fragments_of
from grader.report.similarity.pairs import Comparison, compare
from grader.submission.cells import without_marks
from grader.submission.code.source import parsed


@dataclass(frozen=True, kw_only=True)
class ComparedExercise:
    """What comparing the answers to one exercise gave, with what a page shows of it."""

    assignment: str
    id: str
    title: str
    comparison: Comparison
    left_out: tuple[str, ...]  # students whose answers Python cannot read, or that are too long or too deep
    sources: Mapping[str, str]  # of the answers in pairs, by student


def compare_exercise(
    assignment: str,
    id: str,
    title: str,
    *,
    wanted: Collection[str],
    answers: Mapping[str, str],
    given: Collection[Fragments],
) -> ComparedExercise:
    """Compare the answers to one exercise.

    Args:
        wanted: the names that the exercise asks to define.
        answers: sources, as `whole_answer` returns them, by student.
        given: of the solution, and of all code that was handed out.
    """
    read = {student: fragments_of(source, wanted) for student, source in answers.items()}
    comparison = compare({student: found for student, found in read.items() if found is not None}, given)
    named = {student for pair in comparison.pairs for student in pair.students}
    return ComparedExercise(
        assignment=assignment,
        id=id,
        title=title,
        comparison=comparison,
        left_out=tuple(sorted(student for student, found in read.items() if found is None)),
        sources={student: answers[student] for student in sorted(named)},
    )


def given_fragments(sources: Collection[str]) -> list[Fragments]:
    """Return the fragments of code that everybody was given; of what is too long, none."""
    read = (fragments_of(source, parsed(source).bound or ()) for source in sources)
    return [found for found in read if found]


def whole_answer(answer: str, own: Sequence[str]) -> str:
    """Return an answer, below the student's `own` cells that define what it mentions, directly or through others."""
    answer, helping = without_marks(parsed(answer).python), [parsed(source).python for source in own]
    mentioned, chosen = parsed(answer).mentioned, set[int]()
    while True:
        more = {
            place
            for place, source in enumerate(helping)
            if place not in chosen and (parsed(source).bound or frozenset()) & mentioned
        }
        if not more:
            return "\n\n".join([*(helping[place].strip() for place in sorted(chosen)), answer])
        chosen |= more
        mentioned = mentioned.union(*(parsed(helping[place]).mentioned for place in more))
