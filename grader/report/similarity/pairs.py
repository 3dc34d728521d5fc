"""Compares the answers of a class to one exercise, and finds the pairs that share much rare code.

A fragment is a short run of words of an answer. The fewer answers contain a fragment, the greater
is its weight (an inverse document frequency, Spärck Jones 1972). A fragment has no weight if it is
in code that students were given, in the solution, or in more than a tenth of the answers. Only
answers that share a rare fragment are compared, so the time grows with the size of the class and
not with its square.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

from grader.report.similarity.fragments import Fragments, fragments_of
from grader.submission.cells import without_marks
from grader.submission.code.source import parsed

LEAST_ANSWERS = 10  # in a smaller class nothing says what is rare
# What a larger share of the class writes is common, but not what three write, and in any case what so many
# students write.
COMMON, LEAST_COMMON, MOST_HOLDERS = 0.1, 3, 30
# Chosen with the figures of all lessons in view, which `python -m benchmarks.similarity` measures.
LEAST_RARE = 1.0  # rare fragments, by weight, that two answers must share
LEAST_SHARE = 0.7  # of the rare fragments of one of them


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two answers that share much rare code."""

    students: tuple[str, str]
    rare: float  # weight of the shared fragments
    share: float  # `rare` as a share of the rare fragments in the answer with fewer of them
    lines: tuple[frozenset[int], frozenset[int]]  # numbers of the lines with the shared fragments, in each answer


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The result of comparing the answers to an exercise."""

    answers: int  # number of compared answers
    telling: int  # number of answers with enough rare code for a pair
    pairs: tuple[Pair, ...]  # by weight, the greatest first

    @property
    def too_few(self) -> bool:
        """Return True if there are too few answers to decide which code is rare."""
        return self.answers < LEAST_ANSWERS


def compare(answers: Mapping[str, Fragments], given: Collection[Fragments]) -> Comparison:
    """Compare the answers of a class to one exercise. Answers without any fragment are left out.

    Args:
        answers: the fragments of each student's answer.
        given: the fragments of the solution, and of all code that students were given.
    """
    answers = {student: fragments for student, fragments in answers.items() if fragments}
    if len(answers) < LEAST_ANSWERS:
        return Comparison(answers=len(answers), telling=0, pairs=())
    weight = _weights(answers.values(), {fragment for code in given for fragment in code})
    own = {student: sum(map(weight, fragments)) for student, fragments in answers.items()}
    # Answers that agree in all fragments are one group, and each of their pairs shares all of it.
    groups: dict[frozenset[int], list[str]] = defaultdict(list)
    for student, fragments in answers.items():
        if own[student] >= LEAST_RARE:
            groups[frozenset(fragment for fragment in fragments if weight(fragment))].append(student)
    pairs = []
    for students, rare, shared in _sharing([*groups.items()], weight):
        least = min(own[student] for student in students)
        if rare >= LEAST_RARE and rare >= LEAST_SHARE * least:
            first, second = (_lines_of(shared, answers[student]) for student in students)
            pairs.append(Pair(students=students, rare=rare, share=min(1.0, rare / least), lines=(first, second)))
    return Comparison(
        answers=len(answers),
        telling=sum(len(students) for students in groups.values()),
        pairs=tuple(sorted(pairs, key=lambda pair: (-pair.rare, -pair.share, pair.students))),
    )


def _weights(answers: Collection[Fragments], given: Collection[int]) -> Callable[[int], float]:
    """Return a function that returns the weight of a fragment, from 0 to 1.

    The weight is 1 if one or two answers contain the fragment, and 0 if it is common or was given.
    """
    holders = Counter(fragment for answer in answers for fragment in answer)
    most = min(max(LEAST_COMMON, COMMON * len(answers)), MOST_HOLDERS)

    def weight(fragment: int) -> float:
        count = holders[fragment]
        if fragment in given or count > most:
            return 0.0
        return log(len(answers) / count) / log(len(answers) / 2) if count > 2 else 1.0

    return weight


Sharing = tuple[tuple[str, str], float, frozenset[int]]


def _sharing(groups: Sequence[tuple[frozenset[int], list[str]]], weight: Callable[[int], float]) -> Iterator[Sharing]:
    """Yield each pair of students that share rare fragments, with the weight of these fragments, and the fragments."""
    holding: dict[int, list[int]] = defaultdict(list)
    for place, (fragments, students) in enumerate(groups):
        for fragment in fragments:
            holding[fragment].append(place)
        for pair in combinations(sorted(students), 2):
            yield pair, sum(map(weight, fragments)), fragments
    shared: dict[tuple[int, int], float] = defaultdict(float)
    for fragment, places in holding.items():
        for both in combinations(places, 2):
            shared[both] += weight(fragment)
    for (one, other), rare in shared.items():
        if rare >= LEAST_RARE:
            both_hold = groups[one][0] & groups[other][0]
            for first in groups[one][1]:
                for second in groups[other][1]:
                    yield (min(first, second), max(first, second)), rare, both_hold


def _lines_of(shared: frozenset[int], answer: Fragments) -> frozenset[int]:
    return frozenset(line for fragment in shared for line in answer[fragment])


@dataclass(frozen=True, kw_only=True)
class ComparedExercise:
    """The result of comparing the answers to one exercise, with the data that a page needs to show it."""

    assignment: str
    id: str
    title: str
    comparison: Comparison
    left_out: tuple[str, ...]  # students whose answers are not Python, too long or nested too deeply
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
    """Compare the answers of a class to one exercise.

    Args:
        wanted: the names that the exercise asks to define.
        answers: the source of each student's answer, as `whole_answer` returns it.
        given: the fragments of the solution, and of all code that students were given.
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
    """Return the fragments of code that students were given. Leave out code that is too long."""
    read = (fragments_of(source, parsed(source).bound or ()) for source in sources)
    return [found for found in read if found]


def whole_answer(answer: str, own: Sequence[str]) -> str:
    """Return an answer below the student-added cells that it needs.

    A cell is needed if it defines a name that the answer or another needed cell mentions.

    Args:
        own: the sources of the student-added cells.
    """
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
