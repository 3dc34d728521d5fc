"""Stand-ins: calls from the sandbox are computed in this process, within limits."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.evidence.wire import decode, encode
from grader.execution import operator_budget
from grader.execution import stand_ins as stand_ins_module
from grader.execution.stand_ins import StandIns
from grader.records import Limits, Request, Status


def scaled(query: Tensor, key: Tensor) -> Tensor:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"/home/somebody/course/secret.py: {query.shape[-1]} and {key.shape[-1]}")
    return query @ key.mT / math.sqrt(query.shape[-1])


def triangle(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril()


def both(query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    return scaled(query, key), (query > 0).sum(-1)


FUNCTIONS: dict[str, Callable] = {"scaled": scaled, "triangle": triangle, "both": both}


def ask(stand_ins: StandIns, name: str, *arguments: Any, along: list | None = None, wanted=()) -> Any:
    """A question as the sandbox sends it; the answer's values, or its error."""
    tree, blob = encode([list(arguments), {}, along])
    header, body = stand_ins.answer(
        json.dumps({"function": name, "wanted": list(wanted), "tree": tree}).encode(), blob
    )
    answer = json.loads(header)
    return decode(answer["tree"], body) if answer["status"] == "ok" else (answer["error"], answer["message"])


@pytest.fixture
def stand_ins() -> StandIns:
    return StandIns(FUNCTIONS)


def test_a_question_is_answered(stand_ins) -> None:
    query, key = torch.randn(2, 3, 5), torch.randn(2, 4, 5)
    assert torch.equal(ask(stand_ins, "scaled", query, key), scaled(query, key))
    assert torch.equal(ask(stand_ins, "triangle", 3), triangle(3))


def test_gradients_are_those_of_the_function(stand_ins) -> None:
    query, key, along = torch.randn(3, 5), torch.randn(4, 5, requires_grad=True), torch.randn(3, 4)
    (expected,) = torch.autograd.grad(scaled(query, key), key, along)
    (found,) = ask(stand_ins, "scaled", query, key.detach(), along=[along], wanted=[1])
    assert torch.allclose(found, expected)


def test_a_gradient_along_another_shape_is_refused(stand_ins) -> None:
    query, key = torch.randn(3, 5), torch.randn(4, 5)
    for along in (torch.randn(4, 3), torch.randn(2, 3, 4), torch.randn(1)):
        kind, message = ask(stand_ins, "scaled", query, key, along=[along], wanted=[1])
        assert (kind, "another shape" in message) == ("RuntimeError", True)


def test_gradients_import_no_computer_algebra() -> None:
    code = """
import json, sys, torch
from grader.evidence.wire import encode
from grader.execution.stand_ins import StandIns
tree, blob = encode([[torch.ones(3, 5), torch.ones(4, 5)], {}, [torch.ones(3, 4)]])
question = {"function": "product", "wanted": [1], "tree": tree}
head, _ = StandIns({"product": lambda a, b: a @ b.mT}).answer(json.dumps(question).encode(), blob)
assert json.loads(head)["status"] == "ok", head
sys.exit("sympy" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def kept(stand_ins: StandIns, query: Tensor, key: Tensor) -> int:
    """The ticket for the gradient of `scaled` for its second argument."""
    tree, blob = encode([[query, key], {}, None])
    header, body = stand_ins.answer(
        json.dumps({"function": "scaled", "wanted": [1], "tree": tree}).encode(), blob
    )
    answer = json.loads(header)
    assert torch.equal(decode(answer["tree"], body), scaled(query, key))
    return answer["ticket"]


def redeemed(stand_ins: StandIns, ticket: int, along: Tensor) -> list[Tensor] | None:
    tree, blob = encode([along])
    header, body = stand_ins.answer(json.dumps({"ticket": ticket, "tree": tree}).encode(), blob)
    answer = json.loads(header)
    return None if answer["status"] == "forgotten" else decode(answer["tree"], body)


def test_a_ticket_gives_the_gradients_once(stand_ins) -> None:
    query, key, along = torch.randn(3, 5), torch.randn(4, 5, requires_grad=True), torch.randn(3, 4)
    (expected,) = torch.autograd.grad(scaled(query, key), key, along)
    first, second = (kept(stand_ins, query, key.detach()) for _ in range(2))
    (found,) = redeemed(stand_ins, second, along)
    assert torch.allclose(found, expected)
    assert redeemed(stand_ins, second, along) is None
    assert torch.allclose(redeemed(stand_ins, first, along)[0], expected)


def test_what_is_kept_is_bounded(stand_ins, monkeypatch) -> None:
    monkeypatch.setattr(stand_ins_module, "MAX_KEPT", 2)
    tickets = [kept(stand_ins, torch.ones(3, 5), torch.ones(4, 5)) for _ in range(3)]
    assert [redeemed(stand_ins, ticket, torch.ones(3, 4)) is None for ticket in tickets] == [
        True,
        False,
        False,
    ]
    # Two results of 20 × 20 numbers take more than 8,000 bytes with their intermediate results; one takes less.
    monkeypatch.setattr(stand_ins_module, "MAX_KEPT_BYTES", 8000)
    tickets = [kept(stand_ins, torch.ones(20, 1), torch.ones(20, 1)) for _ in range(2)]
    assert [redeemed(stand_ins, ticket, torch.ones(20, 20)) is None for ticket in tickets] == [True, False]


def test_errors_come_back_without_our_paths(stand_ins) -> None:
    assert ask(stand_ins, "scaled", torch.ones(3, 5), torch.ones(4, 6)) == ("ValueError", "…: 5 and 6")
    kind, message = ask(stand_ins, "scaled", torch.ones(3))
    assert (kind, "key" in message) == ("TypeError", True)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("scaled", (torch.ones(1_000_000, 1), torch.ones(1_000_000, 1))),
        ("scaled", (torch.ones(900, 1, 1, 1), torch.ones(900, 900, 1))),
        ("triangle", (10**9,)),
        ("triangle", (100_000,)),
        ("scaled", (torch.ones(3_000_000, 1), torch.ones(1, 1))),
    ],
)
def test_an_answer_that_is_too_large_is_not_computed(name, arguments, stand_ins, monkeypatch) -> None:
    made: list[int] = []
    real = operator_budget.result_size
    monkeypatch.setattr(operator_budget, "result_size", lambda *what: made.append(real(*what)) or made[-1])
    kind, message = ask(stand_ins, name, *arguments)
    assert kind == "RuntimeError"
    assert "MiB" in message
    assert max(made, default=operator_budget.MAX_BYTES + 1) > operator_budget.MAX_BYTES


@pytest.mark.parametrize("in_gradient", [False, True])
def test_what_no_rule_sizes_is_sized_on_the_meta_device(in_gradient: bool, monkeypatch) -> None:
    monkeypatch.setattr(operator_budget, "_meta_device_imported", [])
    monkeypatch.setattr(operator_budget, "_sizes", {})
    if in_gradient:  # the gradient of what is broadcast is a sum
        answers = StandIns({"times": lambda x, y: x * y})
        (found,) = ask(answers, "times", torch.arange(3.0), torch.ones(1), along=[torch.ones(3)], wanted=[1])
        assert torch.equal(found, torch.tensor([3.0]))
    else:
        answers = StandIns({"total": lambda x: torch.cumsum(x, 0)})
        assert torch.equal(ask(answers, "total", torch.arange(3.0)), torch.tensor([0.0, 1, 3]))
    assert operator_budget._meta_device_imported


def test_what_is_made_adds_up(stand_ins, monkeypatch) -> None:
    monkeypatch.setattr(operator_budget, "MAX_BYTES", 5000)
    assert ask(stand_ins, "scaled", torch.ones(20, 1), torch.ones(20, 1)).shape == (20, 20)
    assert ask(stand_ins, "scaled", torch.ones(28, 1), torch.ones(28, 1))[0] == "RuntimeError"


def test_who_asks_too_often_or_too_long_gets_no_more_answers(monkeypatch) -> None:
    monkeypatch.setattr(stand_ins_module, "MAX_CALLS", 2)
    few = StandIns(FUNCTIONS)
    assert [isinstance(ask(few, "triangle", 2), Tensor) for _ in range(3)] == [True, True, False]
    monkeypatch.setattr(stand_ins_module, "MAX_TOTAL_SECONDS", 1e-9)
    slow = StandIns(FUNCTIONS)
    assert [isinstance(ask(slow, "triangle", 2), Tensor) for _ in range(2)] == [True, False]
    monkeypatch.setattr(operator_budget, "MAX_SECONDS", -1.0)
    assert "s" in ask(StandIns(FUNCTIONS), "triangle", 2)[1]


@pytest.mark.parametrize(
    ("header", "blob"),
    [
        (b"", b""),
        (b"[]", b""),
        (b"{}", b""),
        (b'{"function": ["scaled"], "tree": []}', b""),
        (b'{"function": "scaled", "tree": [[], {"dict": {}}, null]}', b""),
        (b'{"function": "__import__", "tree": [["os"], {"dict": {}}, null]}', b""),
        (b'{"function": "scaled", "tree": [[{"tensor": "0"}], {"dict": {}}, null]}', b"\xff" * 64),
        (b'{"function": "triangle", "wanted": [7], "tree": [[2], {"dict": {}}, []]}', b""),
        (b'{"function": "triangle", "wanted": "x", "tree": [[2], {"dict": {}}, []]}', b""),
        (b'{"function": "triangle", "wanted": [], "tree": [[2], {"dict": {}}, [1, 2, 3]]}', b""),
        (b'{"function": "triangle", "tree": [["many"], {"dict": {}}, null]}', b""),
        (b'{"ticket": 1.0, "tree": []}', b""),
        (b'{"ticket": [1], "tree": []}', b""),
        (b'{"ticket": 1, "tree": null}', b""),
        (b'{"ticket": 1}', b""),
        (b"{" * 100_000, b""),
    ],
)
def test_a_forged_question_is_answered_with_an_error(header: bytes, blob: bytes, stand_ins) -> None:
    answer = json.loads(stand_ins.answer(header, blob)[0])
    assert answer["status"] == "raised"
    assert "/" not in answer["message"]


# ---------------------------------------------------------------- in the sandbox


@pytest.fixture(scope="module")
def asking(server):
    """An interpreter in which the three are stand-ins."""
    sandbox = server.spawn(Limits(), seed=0, functions=FUNCTIONS)
    sandbox.run_cell("import torch", seconds=20)
    sandbox.run_cell("def scaled(*a): return 'mine'", seconds=20, stand_ins=("scaled", "triangle", "both"))
    yield SimpleNamespace(
        run=lambda source, seconds=20.0: sandbox.run_cell(source, seconds=seconds), sandbox=sandbox
    )
    sandbox.kill()


def probe(sandbox, source: str, seconds: float = 20.0, **inputs):
    return sandbox.call(
        Request(key="1.4/values/hidden/0", source=source, function="probe", inputs=inputs, seconds=seconds)
    )


def test_student_code_calls_it_as_any_function(asking) -> None:
    query, key = torch.randn(3, 5, dtype=torch.float64), torch.randn(4, 5, dtype=torch.float64)
    evidence = probe(
        asking.sandbox, "def probe(scaled, q, k): return {'s': scaled(q, key=k)}", q=query, k=key
    )
    assert evidence.status is Status.OK, evidence.message
    assert torch.equal(evidence.values["s"], scaled(query, key))
    pair = probe(
        asking.sandbox, "def probe(both, q, k):\n    s, n = both(q, k)\n    return {'n': n}", q=query, k=key
    )
    assert torch.equal(pair.values["n"], both(query, key)[1])


@pytest.mark.parametrize("most", [stand_ins_module.MAX_KEPT, 0])
def test_what_is_made_of_it_can_be_trained(most: int, asking, monkeypatch) -> None:
    monkeypatch.setattr(stand_ins_module, "MAX_KEPT", most)  # 0: every ticket is forgotten at once
    source = (
        "def probe(scaled, q, k):\n    q.requires_grad_(); w = torch.nn.Parameter(torch.eye(5))\n"
        "    loss = (scaled(q, k @ w).softmax(-1) ** 2).sum()\n    loss.backward()\n    return {'q': q.grad, 'w': w.grad}"
    )
    query, key = torch.randn(3, 5), torch.randn(4, 5)
    evidence = probe(asking.sandbox, source, q=query, k=key)
    assert evidence.status is Status.OK, evidence.message
    leaf, weight = query.clone().requires_grad_(), torch.eye(5).requires_grad_()
    (scaled(leaf, key @ weight).softmax(-1) ** 2).sum().backward()
    assert torch.allclose(evidence.values["q"], leaf.grad)
    assert torch.allclose(evidence.values["w"], weight.grad, atol=1e-6)


def test_gradients_may_be_asked_for_twice(asking) -> None:
    source = (
        "def probe(scaled, q, k):\n    q.requires_grad_(); s = scaled(q, k).sum()\n"
        "    s.backward(retain_graph=True); s.backward()\n    return {'q': q.grad}"
    )
    evidence = probe(asking.sandbox, source, q=torch.ones(3, 5), k=torch.ones(4, 5))
    assert evidence.status is Status.OK, evidence.message
    assert torch.allclose(evidence.values["q"], torch.full((3, 5), 8 / math.sqrt(5)))


def test_its_errors_are_raised_in_the_code_that_called(asking) -> None:
    wrong = probe(
        asking.sandbox, "def probe(scaled, q): return {'s': scaled(q, q[:, :2])}", q=torch.ones(3, 5)
    )
    assert (wrong.status, wrong.error, wrong.message) == (Status.RAISED, "ValueError", "…: 5 and 2")
    odd = probe(asking.sandbox, "def probe(scaled): return {'s': scaled(torch.float32, object())}")
    assert (odd.status, odd.error) == (Status.RAISED, "TypeError")


def test_cells_ask_too_and_go_on_after_a_time_out(asking, said) -> None:
    result = asking.run("while True: triangle(3)", seconds=1.0)
    assert result.status is Status.TIMEOUT
    assert said(asking.sandbox, "int(triangle(3).sum())") == "6"
    result = asking.run("import os\nfor _ in range(3): triangle(2)\nos._exit(1)")
    assert result.status is Status.DIED
    assert said(asking.sandbox, "int(triangle(4).sum())") == "10"


FORGED = """
import json, os, struct
def frame(magic, header, body=b''):
    return struct.pack('!4sIQ', magic, len(header), len(body)) + header + body
for n in range(3, 64):
    try: os.write(n, {frame})
    except OSError: pass
"""


@pytest.mark.parametrize(
    "frame",
    [
        "frame(b'ask1', b'no json')",
        "frame(b'ask1', json.dumps({'function': 'triangle', 'wanted': [], 'tree': [[10**12], {'dict': {}}, None]}).encode())",
        "frame(b'ask1', b'{}', bytes(15 << 20))",
        "frame(b'ask1', b'{}') * 500",
        "frame(b'told', b'{}')",
    ],
)
def test_forged_frames_cost_their_cell_at_most(frame: str, asking, said) -> None:
    asking.run(FORGED.replace("{frame}", frame), seconds=5.0)
    assert said(asking.sandbox, "int(triangle(3).sum())") == "6"


def test_where_there_is_no_stand_in_a_question_is_no_frame(python, said) -> None:
    python.run_cell("x = 1", seconds=20)
    result = python.run_cell("x = 2" + FORGED.replace("{frame}", "frame(b'ask1', b'{}')"), seconds=20)
    assert result.status is not Status.OK
    assert said(python, "x") == "1"
