"""Cuts an answer into fragments that do not change with names, the order of statements, comments or dead code.

A fragment is a run of K words of one statement (grader/submission/code/traits.py). A variable is
written as its content, such as "the first parameter" or "the result of a softmax". A value that is
used once is written at the place of its use. So fragments describe the flow of data, and do not
depend on names. Runs of K words as fingerprints are from Schleimer, Wilkerson, Aiken 2003,
"Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD. That paper keeps one run of each
window. Here all runs are kept, because answers are short. A window of 2 would save a third of the
runs, but find 1 to 3 % fewer copies.
"""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b

from grader.report.similarity.normal_form import BLOCK_PARTS, inlined, labels_in, live
from grader.submission.code.source import parsed
from grader.submission.code.traits import is_small, words

K, END = 6, "end"
MOST_CHARACTERS = 40_000  # of an answer with its helpers; the longest solution has 2,000

Fragments = Mapping[int, frozenset[int]]  # hash of a fragment → numbers of the lines in which it stands


def fragments_of(source: str, wanted: Collection[str]) -> Fragments | None:
    """Return the fragments of an answer, or None if the answer is not Python, too long or nested too deeply.

    Args:
        wanted: the names that the answer defines.
    """
    statements = parsed(source).statements if len(source) <= MOST_CHARACTERS else None
    if statements is None or not is_small(statements):
        return None
    module = inlined(live(ast.parse(parsed(source).python).body, wanted))  # a tree of its own, which they change
    labels = labels_in(module, wanted)
    found: dict[int, set[int]] = {}
    for part, block in _parts(module, ""):
        parts_words = [*words(part, labels.of_name, labels.of_attribute)]
        text = [block, *(word for word, _ in parts_words), END]
        lines = [0, *(line for _, line in parts_words), 0]
        for start, fragment in enumerate(runs(text, K)):
            found.setdefault(fragment, set()).update(lines[start : start + K])
    once: dict[frozenset[int], frozenset[int]] = {}  # most fragments stand in the lines of another one
    stands_in = {fragment: frozenset(lines - {0}) for fragment, lines in found.items()}
    return {fragment: once.setdefault(lines, lines) for fragment, lines in stands_in.items()}


def runs(text: Sequence[str], k: int) -> list[int]:
    """Return the hashes of all runs of k words in order. They are the same on each machine.

    A text of fewer than k words is one run.
    """
    return [_hash(text[start : start + k]) for start in range(max(len(text) - k, 0) + 1)]


def _hash(run: Sequence[str]) -> int:
    digest = blake2b("\0".join(run).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _parts(block: Sequence[ast.AST], around: str) -> Iterator[tuple[ast.AST, str]]:
    """Yield each simple statement, and the head of each compound statement, with the kind of block around it."""
    for node in block:
        inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, BLOCK_PARTS)]
        if not inner:
            yield node, around
            continue
        kind = type(node).__name__
        yield from ((child, kind) for child in ast.iter_child_nodes(node) if child not in inner)
        yield from _parts(inner, kind)
