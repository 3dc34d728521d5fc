"""Changes of statements and of expressions make wrong answers right, and name the place."""

import math
from types import SimpleNamespace

import pytest
import torch

from grader.explain.repairs.find_repair import repairs

SCORES = torch.tensor([[0.5, -1.0, 2.0]])
SEEN = torch.tensor([True, False, True])
HIDDEN = SCORES.masked_fill(~SEEN, -math.inf).softmax(-1)

PARTS = SimpleNamespace(W_K=1, W_Q=2, W_V=3)
WIDE = torch.nn.Module()
WIDE.W = torch.nn.Linear(3, 4, bias=False).requires_grad_(False)

WRONG_AND_RIGHT = [
    # wrong, words of the place, arguments, right value
    ("def f(n):\n    t = 0\n    for i in range(n):\n        t += i\n        return t", "check the indentation", (4,), 6),
    ("def f(n):\n    t = 1\n    for i in range(n):\n        t += i\n        t *= 10\n        t -= 1\n    return t",
     "after the block, not inside it", (2,), 19),
    ("def f(a):\n    b = a + 1\n    a = 2 * a\n    return b * a", "this line runs too early", (3,), 42),
    ("def f(a):\n    b = max(a, 5)\n    c = max(a, 2)\n    return b - 2 * c", "are swapped", (3,), -7),
    ("def f(a):\n    print(a + 1)", "Return the result", (3,), 4),
    ("def f(a):\n    b = a + 1", "does not return it", (3,), 4),
    ("def f(a):\n    a + 1", "not returned", (3,), 4),
    ("def f(s, m):\n    return (s * m).softmax(-1)", "e⁰ = 1", (SCORES, SEEN), HIDDEN),
    ("def f(s, m):\n    return s.masked_fill(~m, 0.0).softmax(-1)", "that you fill in", (SCORES, SEEN), HIDDEN),
    ("def f(s, m):\n    return s.masked_fill(m, -torch.inf).softmax(-1)", "If you swap True and False", (SCORES, SEEN), HIDDEN),
    ("def f(a):\n    return all(n > 2 for n in a)", "check `all`", ([1, 3],), True),
    ("def f(a, i):\n    return a[i - 2 : i + 1]", "counts from the end", ([1, 2, 3], 1), [1, 2]),
    ("def f(a, i):\n    lo = i - 2\n    return a[lo : i + 1]", "counts from the end", ([1, 2, 3], 1), [1, 2]),
    ("def f(n, w):\n    hi = min(n, n + w)\n    return list(range(n - w, hi))", "off by one", (5, 2), [4]),
    ("def f(a, b):\n    return abs(a) + abs(b)", "leave out `abs`, here and everywhere", (-1, -2), -3),
    ("def f(a):\n    b = a + 1\n    c = a * 7\n    return b * b", "another variable", (2,), 42),
    ("def f(tokens, num_heads):\n    return tokens.unflatten(-1, (4, -1))", "the 4 is a fixed number", (torch.ones(3, 8), 2),
     torch.ones(3, 2, 4)),
    ("def f(tokens, num_heads):\n    return tokens.unflatten(-1, (-1, 2))", "the 2 is a fixed number", (torch.ones(3, 6), 2),
     torch.ones(3, 2, 3)),
    ("def f(x, i):\n    return x[:, i]", "counts its axes from the front", (torch.arange(8.0).view(2, 2, 2), 1),
     torch.tensor([[1.0, 3.0], [5.0, 7.0]])),
    ("def f(x):\n    return x.transpose(1, 2)", "counts its axes from the front", (torch.arange(12.0).view(2, 2, 3),),
     torch.arange(12.0).view(2, 2, 3).transpose(0, 1)),
    ("def f(x):\n    return x.reshape(3, 2)", "this reshape gives the right shape", (torch.arange(6.0).view(2, 3),),
     torch.arange(6.0).view(2, 3).T),
    ("def f(k):\n    x = torch.ones(3)\n    x[-(k - 2):] = 0\n    return x", "begins at −0", (2,), torch.ones(3)),
    ("def f(n):\n    a = torch.arange(n)\n    return a <= a", "entries at the same place", (3,), torch.ones(3, 3).tril().bool()),
    ("def f(n):\n    return torch.arange(n) == 2", "check the comparison", (3,), torch.tensor([True, True, False])),
    ("def f(a):\n    return 1.1 * a", "check the `1.1`", (100,), 101.0),
    ("def f(x, y):\n    return x[0] / y.shape[-1] ** 0.5", "the root of the wrong size", (torch.full((2, 4), 6.0), torch.ones(9)),
     torch.full((4,), 3.0)),
    ("def f(layer, x):\n    return layer.W(x) / math.sqrt(x.shape[-1])", "the root of the wrong size", (WIDE, torch.ones(3)),
     WIDE.W(torch.ones(3)) / 2),
    ("def f(a, b):\n    c = a**b\n    return 3 * c", "check the sign of the exponent in `a**b`", (2, 3), 0.375),
    ("def f(n):\n    return n.W_K, n.W_K, n.W_V, n.W_K", "in one place, check `n.W_K`", (PARTS,), (1, 2, 3, 1)),
    ("def f(x):\n    return x.sum(-2)", "check the `-2`", (torch.ones(2, 3),), torch.tensor([3.0, 3.0])),
]  # fmt: skip


def value(source, arguments):
    scope: dict = {"torch": torch, "math": math}
    exec(source, scope)
    return scope["f"](*arguments)


def same(one, other):
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and torch.allclose(one, other)
    return type(one) is type(other) and not isinstance(one, torch.Tensor) and one == other


@pytest.mark.parametrize(("wrong", "words", "arguments", "right"), WRONG_AND_RIGHT)
def test_a_change_makes_the_answer_right_and_names_the_place(wrong, words, arguments, right, capsys):
    assert not same(value(wrong, arguments), right)
    found = []
    for repair in repairs(wrong):
        try:
            if same(value(repair.source, arguments), right):
                found.append(repair)
        except Exception:
            continue
    assert any(words in repair.says for repair in found), [repair.says for repair in found]
