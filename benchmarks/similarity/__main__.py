"""Does `grader similar` find copies, and nothing else?

`python -m benchmarks.similarity [--students N] [--seed N]`

The answers of the first blind corpus and the variants were written one by one, each to differ from the others: they
stand for answers of people who did not copy. Each is disguised by a program (benchmarks/similarity/plant.py) and put back as
the answer of one more student; it is found if `compare` pairs it with its original. One copy is planted at a time.

An answer with nothing rare in it, such as the solution, cannot be found; the column "telling" counts copies of all others, and
"found" is of all that were planted. Two rewritings more are measured and do not count in "found": values that get a name, and other
calls for the same (`torch.matmul` for `@`). `--students` is the size of the class whose time is measured.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from benchmarks import publish
from benchmarks.similarity.plant import BEYOND, KINDS, copies
from corpus.answers import answers
from corpus.judging import ROOT
from grader.commands.similar import given_code
from grader.course import lessons
from grader.report.similarity.fragments import Fragments, fragments_of
from grader.report.similarity.pairs import Comparison, compare, compare_exercise, whole_answer

COPY = "copy"  # the student with the planted answer
ROUNDS = 20  # classes of whole submissions, for each lesson and kind


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=1_000, help="in the class whose time is measured")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sources, rows, total = independent_answers(), [], Counter[str]()
    first, classes = Counter[str](), 0
    for assignment, lesson in lessons().items():
        if lesson.optional:  # the wrong answers to the lab were made from one text each, and are alike
            continue
        given = given_code(ROOT, assignment)
        read: dict[str, dict[str, Fragments]] = {}
        of_lesson = Counter[str]()
        for exercise in lesson.exercises:
            found = {name: fragments_of(source, exercise.defines) for name, source in sources[exercise.id].items()}
            read[exercise.id] = {name: each for name, each in found.items() if each}
            count = measure(exercise.id, sources[exercise.id], read[exercise.id], exercise.defines, given[exercise.id])
            rows.append(row(exercise.id, count))
            of_lesson += count
        rows.append(row(assignment, of_lesson))
        total += of_lesson
        ranked = rank_whole_copies(assignment, sources, read, given, options.seed)
        first += ranked
        classes += ROUNDS
    rows.append(row("all", total))
    seconds, pairs = time_a_class(options.students, options.seed)
    figures = {
        "planted": total["planted"],
        "found": round(total["found"] / total["planted"], 4),
        "found_of_telling": round(total["found"] / total["telling"], 4),
        **{f"found_{kind.replace(' ', '_')}": round(total[f"found {kind}"] / total[f"planted {kind}"], 4) for kind in (*KINDS, *BEYOND)},
        "independent_pairs": total["pairs"],
        "independent_reported": round(total["reported"] / total["pairs"], 4),
        "whole_copy_first_in_list": round(sum(first[kind] for kind in KINDS) / classes / len(KINDS), 4),
        "students": options.students,
        "class_cpu_s": round(seconds, 1),
        "class_pairs": pairs,
    }  # fmt: skip
    publish("similarity", figures, rows)


def independent_answers() -> dict[str, dict[str, str]]:
    """Return the answers that nobody copied, by exercise and name."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for answer in answers():
        found[answer.exercise][f"{'right' if answer.right else 'wrong'} {answer.name}"] = whole_answer(
            answer.source, ()
        )
    for variant in answers("variants"):
        found[variant.exercise][f"variant {variant.name}"] = whole_answer(variant.source, ())
    return found


def row(name: str, count: Mapping[str, int]) -> dict[str, object]:
    """Return a row of the table."""
    columns = ("answers", "pairs", "reported", "planted", "telling", "found")
    return {
        "exercise": name,
        **{column: count[column] for column in columns},
        "reported %": _share(count["reported"], count["pairs"], 2),
        "found %": _share(count["found"], count["planted"]),
        **{f"{kind} %": _share(count[f"found {kind}"], count[f"planted {kind}"]) for kind in (*KINDS, *BEYOND)},
    }


def _share(part: int, whole: int, digits: int = 1) -> str:
    """Say a share in percent; "" of nothing."""
    return f"{100 * part / whole:.{digits}f}" if whole else ""


def measure(
    id: str,
    sources: Mapping[str, str],
    read: Mapping[str, Fragments],
    wanted: Sequence[str],
    given: Sequence[Fragments],
) -> Counter[str]:
    """Count what is reported of independent answers, and which planted copies are found."""
    alone = compare(read, given)
    count = Counter(answers=len(read), pairs=len([*combinations(read, 2)]), reported=len(alone.pairs))
    if alone.too_few:
        return Counter(answers=len(read))
    for name, original in read.items():
        for kind, copy in copies(sources[name], wanted, f"{id} {name}"):
            planted = fragments_of(copy, wanted)
            compared = compare({**read, COPY: planted or {}}, given)
            found = any(pair.students == tuple(sorted((name, COPY))) for pair in compared.pairs)
            count[f"planted {kind}"] += 1
            count[f"found {kind}"] += found
            if kind in KINDS:
                count["planted"] += 1
                count["found"] += found
                # The same answer twice: whether it holds anything that is rare then.
                count["telling"] += any(
                    COPY in pair.students for pair in compare({**read, COPY: original}, given).pairs
                )
    return count


def rank_whole_copies(
    assignment: str,
    sources: Mapping[str, Mapping[str, str]],
    read: Mapping[str, Mapping[str, Fragments]],
    given: Mapping[str, Sequence[Fragments]],
    seed: int,
) -> Counter[str]:
    """Count how often a student who copied a whole submission stands first in the list, with the one who wrote it.

    Each class is drawn anew: nobody has the answer of another, and one student has disguised all answers of another one.
    """
    chance, first = random.Random(seed), Counter[str]()
    exercises = [each for each in lessons()[assignment].exercises if len(read[each.id]) >= 19]
    for _ in range(ROUNDS):
        drawn = {each.id: chance.sample([*read[each.id]], 19) for each in exercises}
        for kind in KINDS:
            compared: dict[str, Comparison] = {}
            for each in exercises:
                names = drawn[each.id]
                disguised = dict(copies(sources[each.id][names[0]], each.defines, f"{each.id} {names[0]}"))
                copy = fragments_of(disguised.get(kind, sources[each.id][names[0]]), each.defines)
                answers_to = {f"s{place:02}": read[each.id][name] for place, name in enumerate(names)}
                compared[each.id] = compare({**answers_to, COPY: copy or {}}, given[each.id])
            agree, rare = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
            for comparison in compared.values():
                for pair in comparison.pairs:
                    agree[pair.students] += 1
                    rare[pair.students] += round(1000 * pair.rare)
            best = max(agree, key=lambda students: (agree[students], rare[students]), default=())
            first[kind] += best == (COPY, "s00")
    return first


def time_a_class(students: int, seed: int) -> tuple[float, int]:
    """Return the CPU seconds of comparing a class in lesson 1, and the number of pairs that are reported.

    The students draw their answers from the corpus, so that many have the same: more pairs than in a real class.
    """
    chance, assignment = random.Random(seed), "1-attention"
    sources, given = independent_answers(), given_code(ROOT, assignment)
    started, pairs = time.process_time(), 0
    for exercise in lessons()[assignment].exercises:
        pool = [*sources[exercise.id].values()]
        compared = compare_exercise(
            assignment,
            exercise.id,
            exercise.title,
            wanted=exercise.defines,
            answers={f"s{place:04}": chance.choice(pool) for place in range(students)},
            given=given[exercise.id],
        )
        pairs += len(compared.comparison.pairs)
    return time.process_time() - started, pairs


if __name__ == "__main__":
    main()
