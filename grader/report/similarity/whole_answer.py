"""Put an answer together with those of the student's own cells that hold its helpers."""

from collections.abc import Sequence

from grader.submission.cells import without_marks
from grader.submission.code.source_names import bound_names, mentioned_names, without_magics


def whole_answer(answer: str, own: Sequence[str]) -> str:
    """Return an answer, below the student's own cells that define what it mentions, directly or through others.

    Args:
        own: sources of the cells that the student added, in their order.
    """
    answer, helping = without_marks(without_magics(answer)), [without_magics(source) for source in own]
    mentioned, chosen = mentioned_names(answer), set[int]()
    while True:
        more = {
            place
            for place, source in enumerate(helping)
            if place not in chosen and (bound_names(source) or frozenset()) & mentioned
        }
        if not more:
            return "\n\n".join([*(helping[place].strip() for place in sorted(chosen)), answer])
        chosen |= more
        mentioned = mentioned.union(*(mentioned_names(helping[place]) for place in more))
