"""The fragments of an answer stay the same under the disguises of somebody who copied it; other answers have others."""

from __future__ import annotations

import time

import pytest

from grader.report.similarity.fragments import MOST_CHARACTERS, K, fragments_of, runs
from grader.report.similarity.pairs import whole_answer

ANSWER = """
def attention(query, key, value):
    root = math.sqrt(query.shape[-1])
    flat = key.reshape(-1, key.shape[-1])
    scores = query @ key.transpose(-1, -2) / root
    weights = helper(scores)
    return weights @ value, weights

def helper(s):
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
"""
DISGUISED = '''
def soft(numbers: Tensor) -> Tensor:
    """My own softmax."""
    up = torch.exp(numbers - numbers.amax(-1, keepdim=True))
    return up / up.sum(-1, keepdim=True)

def unused(x):
    return x + 1

def attention(q, k, v):
    # the scores
    print(q.shape)
    d = math.sqrt(q.shape[-1])
    z = q @ k.transpose(-1, -2) / d
    if False:
        z = z * 2
    nothing = len("nothing")
    p = soft(z)
    return p @ v, p
    return None
'''
OTHER = """
def attention(query, key, value):
    weights = torch.softmax(torch.einsum("...qd,...kd->...qk", query, key) * query.size(-1) ** -0.5, dim=-1)
    return torch.matmul(weights, value), weights
"""


def fragments(source: str) -> frozenset[int]:
    found = fragments_of(source, ["attention"])
    assert found
    return frozenset(found)


def test_other_names_another_order_and_dead_code_change_no_fragment() -> None:
    assert fragments(ANSWER) == fragments(DISGUISED)


def test_another_answer_has_other_fragments() -> None:
    both = fragments(ANSWER) & fragments(OTHER)
    assert len(both) < 0.2 * min(len(fragments(ANSWER)), len(fragments(OTHER)))


def test_a_part_that_was_copied_is_found_in_another_answer() -> None:
    helper = ANSWER[ANSWER.index("def helper") :].replace("helper", "mine")
    mixed = OTHER.replace("torch.softmax(", "mine(").replace(", dim=-1", "") + helper
    assert len(fragments(mixed) & fragments(ANSWER)) > len(fragments(OTHER) & fragments(ANSWER))


def test_a_fragment_says_in_which_lines_it_stands() -> None:
    found = fragments_of("def attention(q):\n    a = q.exp()\n    return a.sum(\n        -1)\n", ["attention"])
    assert found is not None
    assert {line for lines in found.values() for line in lines} == {1, 2, 3, 4}
    assert frozenset({2, 3}) in found.values(), "what `a` holds stands in the return, and says where it comes from"


def test_every_run_of_k_words_is_a_fragment() -> None:
    shared = [f"word {place}" for place in range(7)]
    one, other = ["a", *shared, "b"], [*shared, "c", "d"]
    assert len(runs(one, 5)) == 5
    assert len({*runs(one, 5)} & {*runs(other, 5)}) == 3
    assert not {*runs(shared, 5)} & {*runs(shared[::-1], 5)}
    assert runs(["ab", "c"], 2) != runs(["a", "bc"], 2)
    assert len(runs(["a", "b"], 5)) == 1, "a short statement is one fragment"


def test_hashes_are_the_same_in_every_process() -> None:
    assert runs(["Return", "<parameter 0>"], K) == [16290312509483027007]


HOSTILE = {
    "no Python": "def f(:",
    "a null byte": "x = '\0'",
    "a huge text": f"x = '{'x' * MOST_CHARACTERS}'",
    "many statements": "a = 1\n" * 6_000,
    "brackets too deep for the parser": "(" * 5_000,
    "a sum of a thousand terms": "x = " + " + ".join(["1"] * 1_000),
    "a thousand branches": "if a: pass\n" + "elif b: pass\n" * 1_000,
    "a list of numbers": "x = [" + "1," * 10_000 + "]",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_code_or_too_much_is_left_out_at_once(source: str) -> None:
    started = time.process_time()
    assert fragments_of(source, ["f"]) is None
    assert time.process_time() - started < 2


def test_the_largest_answer_that_is_read_takes_seconds_at_most() -> None:
    source = "def f(x):\n" + "".join(f"    a{n} = a{n - 1} + x\n" for n in range(1, 500)) + "    return a499\n"
    started = time.process_time()
    assert fragments_of(source, ["f"])
    assert time.process_time() - started < 5


def test_a_helper_in_a_cell_of_the_students_own_belongs_to_the_answer() -> None:
    own = [
        "def other():\n    return 1",
        "def mine(x):\n    return deeper(x)",
        "%time 1\ndef deeper(x):\n    return x",
        "x = (",
    ]
    whole = whole_answer("# @exercise 1.4\ndef attention(q):\n    return mine(q)", own)
    assert (
        whole
        == "def mine(x):\n    return deeper(x)\n\ndef deeper(x):\n    return x\n\ndef attention(q):\n    return mine(q)"
    )


def test_helpers_that_call_each_other_without_end_are_put_together_at_once() -> None:
    own = [f"def h{place}(x):\n    return h{place + 1}(x)" + "  # pad" * 200 for place in range(300)]
    started = time.process_time()
    whole = whole_answer("def attention(q):\n    return h0(q)", own)
    assert whole.count("def ") == 301
    assert fragments_of(whole, ["attention"]) is None, "too long to be compared"
    assert time.process_time() - started < 3
