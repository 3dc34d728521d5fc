"""Show, compare, add and judge the answers of corpus/answers.

    python -m corpus show EXERCISE NAME              an answer, its cause, its feedback and the judgement
    python -m corpus diff EXERCISE NAME1 NAME2       the differences of two answers; `solution` is the official one
    python -m corpus add EXERCISE [FILE] [--replace] answers in the percent format (see corpus/percent.py), or stdin
    python -m corpus judge FILE                      the file of `python -m benchmarks.diagnosis --unjudged FILE`,
                                                     with the judgements filled in

Each command takes `--corpus NAME`; without it, the corpus is the first one.
"""

from __future__ import annotations

import argparse
import json
import sys
from difflib import unified_diff
from pathlib import Path

from corpus.answers import BLIND, CORPORA, JUDGEMENTS, Answer, answers, path_of, read_answers, write_answers
from corpus.changes import add_answers, find_answer, judge_answers
from corpus.percent import as_percent, parse_percent


def main(arguments: list[str] | None = None) -> None:
    """Run one command."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (OSError, ValueError) as error:
        sys.exit(f"corpus {options.corpus}: {error}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m corpus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    show = commands.add_parser("show", help="print an answer")
    show.add_argument("exercise")
    show.add_argument("name")
    diff = commands.add_parser("diff", help="print the differences of two answers")
    diff.add_argument("exercise")
    diff.add_argument("names", nargs=2, metavar="NAME", help="the name of an answer, or `solution`")
    add = commands.add_parser("add", help="add answers in the percent format")
    add.add_argument("exercise")
    add.add_argument("file", nargs="?", type=Path, help="read in place of the standard input")
    add.add_argument("--replace", action="store_true", help="write answers again that the corpus has")
    judge = commands.add_parser("judge", help=f"add judgements, each one of {', '.join(JUDGEMENTS)}")
    judge.add_argument("file", type=Path)
    for command, run in ((show, _show), (diff, _diff), (add, _add), (judge, _judge)):
        command.add_argument("--corpus", choices=CORPORA, default=BLIND[0], metavar="NAME")
        command.set_defaults(run=run)
    return parser


def _show(options: argparse.Namespace) -> None:
    answer = find_answer(answers(options.corpus), options.exercise, options.name)
    print(as_percent(answer))
    if options.corpus in BLIND:
        print("Half:", "unread" if answer.unread else "read")
    if answer.judgement:
        print("Feedback:", answer.feedback)
        print(f"Judgement: {answer.judgement} ({JUDGEMENTS[answer.judgement]})")


def _diff(options: argparse.Namespace) -> None:
    before, after = options.names
    lines = [_source(options.corpus, options.exercise, name).splitlines() for name in (before, after)]
    print("\n".join(unified_diff(lines[0], lines[1], before, after, lineterm="")))


def _source(corpus: str, exercise: str, name: str) -> str:
    """Return the source of an answer, or of the official solution."""
    if name != "solution":
        return find_answer(answers(corpus), exercise, name).source
    # Here, because PyTorch comes with it and takes seconds.
    from corpus.judging import solutions
    from grader.course import lessons
    from grader.submission.cells import without_marks

    sources = {id: source for assignment in lessons() for id, source in solutions(assignment).items()}
    if exercise not in sources:
        raise ValueError(f"the course has no exercise {exercise!r}")
    return without_marks(sources[exercise])


def _add(options: argparse.Namespace) -> None:
    text = options.file.read_text("utf-8") if options.file else sys.stdin.read()
    new = parse_percent(options.exercise, text)
    _write(options.corpus, add_answers(_written(options.corpus), new, replace=options.replace))


def _judge(options: argparse.Namespace) -> None:
    judged = [json.loads(line) for line in options.file.read_text("utf-8").split("\n") if line]
    _write(options.corpus, judge_answers(_written(options.corpus), judged))


def _written(corpus: str) -> tuple[Answer, ...]:
    """Return the answers of a corpus, which are none if it is new."""
    return read_answers(path_of(corpus)) if path_of(corpus).is_file() else ()


def _write(corpus: str, changed: tuple[Answer, ...]) -> None:
    write_answers(path_of(corpus), changed)
    print(f"wrote {path_of(corpus)}: {len(changed)} answers")


if __name__ == "__main__":
    main()
