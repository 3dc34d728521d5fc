import pytest

from grader.declare.builtin_names import operators
from grader.declare.exercise import Exercise
from grader.judge.from_scratch import ran_builtins, same_definitions, used_builtins
from grader.judge.reach import StudentCode, complaint


def f(x: object) -> object:
    """What both exercises define."""
    return x


SOFTMAX = Exercise(
    id="9.3", title="", reference=(f,), points=0, difficulty=1, minutes=1, checks=(), bans=frozenset({"softmax"})
)
FREE = Exercise(id="9.4", title="", reference=(f,), points=0, difficulty=1, minutes=1, checks=())


@pytest.mark.parametrize(
    "answer",
    [
        "def f(x): return torch.softmax(x, -1)",
        "def f(x): return x.softmax(-1)",
        "f = nn.Softmax(dim=-1)",
        "from torch.nn.functional import softmax as s\ndef f(x): return s(x, -1)",
        "def f(x): return getattr(torch, 'softmax')(x, -1)",
        "def f(x): return torch.__dict__['softmax'](x, -1)",
        "def f(x): return torch.ops.aten._softmax(x, -1, False)",
        "def f(x): return (x - x.logsumexp(-1, True)).exp()",
        "def f(x): return torch._masked_softmax(x, x == 0, -1)",
        "from scipy.special import softmax as s\ndef f(x): return torch.tensor(s(x.numpy(), -1))",
        "from sklearn._loss.loss import HalfMultinomialLoss\ndef f(x): return HalfMultinomialLoss(n_classes=3).gradient(y, x)",
        "%time\ndef f(x): return torch.softmax(x, -1)",
    ],
)
def test_the_builtin_is_found_however_it_is_called(answer: str) -> None:
    assert used_builtins(SOFTMAX, StudentCode(answer))
    assert not used_builtins(FREE, StudentCode(answer))


@pytest.mark.parametrize(
    "answer",
    [
        "def f(x):\n    # like torch.softmax\n    return x.exp() / x.exp().sum(-1, keepdim=True)",
        'def f(x):\n    """As torch.softmax does."""\n    return x',
        "def stable_softmax(x): return x.exp()",
        "def f(x): raise ValueError('softmax of nothing')".replace("softmax of nothing", "use softmax elsewhere"),
        "def f(x:",
    ],
)
def test_speaking_of_it_is_fine(answer: str) -> None:
    assert not used_builtins(SOFTMAX, StudentCode(answer))


def test_a_helper_counts_where_the_answer_uses_it() -> None:
    helper = "def mine(x): return inner(x)\ndef inner(x): return x.softmax(-1)"
    assert used_builtins(SOFTMAX, StudentCode("def f(x): return mine(x)", [helper])) == ("softmax",)
    assert used_builtins(SOFTMAX, StudentCode("def f(x): return mine(x)", (), [helper])) == ("softmax",)
    assert used_builtins(SOFTMAX, StudentCode("def f(x): return x.exp()", [helper])) == ()


STAND_IN = "def f(x, n=1):\n    return x.chunk(n)\n"


@pytest.mark.parametrize(
    "answer",
    [
        "def f(x, n=1):\n    return x.chunk(n)",
        'def f(x: Tensor, n: int = 1) -> Tensor:\n    """Mine."""\n    return x.chunk(n)  # my own',
    ],
)
def test_a_stand_in_is_recognised_as_an_answer(answer: str) -> None:
    assert same_definitions(answer, STAND_IN, ("f",))


@pytest.mark.parametrize("answer", ["def f(x, n=2):\n    return x.chunk(n)", "def g(x): ...", "", "def f(x:"])
def test_other_answers_are_not_the_stand_in(answer: str) -> None:
    assert not same_definitions(answer, STAND_IN, ("f",))
    assert not same_definitions(answer, "", ("f",))


def test_what_ran_is_named_as_the_student_knows_it() -> None:
    trips = [
        ("aten::_safe_softmax", ""),
        ("aten::_log_softmax", ""),
        ("aten::_softmax", ""),
        ("aten::exp", ""),
        ("aten::_masked_softmax", ""),
        ("quantized::softmax", ""),
        ("call logsumexp", ""),
    ]
    assert ran_builtins(SOFTMAX, trips, {}) == ("scaled_dot_product_attention", "log_softmax", "softmax", "logsumexp")
    assert ran_builtins(FREE, trips, {}) == ()
    assert "aten::_softmax" in operators(SOFTMAX.bans)
    assert operators(FREE.bans) == ()


def test_what_ran_in_an_answer_that_paid_is_not_paid_for_twice() -> None:
    trips = [("aten::_softmax", "9.1")]
    assert ran_builtins(SOFTMAX, trips, {"9.1": SOFTMAX.bans}) == ()
    assert ran_builtins(SOFTMAX, trips, {"9.2": SOFTMAX.bans}) == ("softmax",)
    # Who gave up a softmax has not paid for fused attention.
    assert ran_builtins(SOFTMAX, [("aten::_safe_softmax", "9.1")], {"9.1": frozenset({"softmax"})}) != ()
    assert ran_builtins(SOFTMAX, [("aten::_safe_softmax", "9.1")], {"9.1": frozenset({"fused attention"})}) == ()


def test_whoever_hides_is_told_so() -> None:
    assert "hides what it calls" in complaint(ran_builtins(SOFTMAX, [("switched off", "")], {}))
    assert complaint(("softmax",)) == "your code refers to softmax, which does what this exercise asks you to write"
    assert (
        complaint(("softmax",), "calls") == "your code calls softmax, which does what this exercise asks you to write"
    )
    assert ran_builtins(FREE, [("switched off", "")], {}) == ()


@pytest.mark.parametrize("terms", [900, 3000])
def test_a_sum_of_a_thousand_terms_is_no_fault_of_ours(terms: int) -> None:
    """Its tree is deeper than Python's recursion goes."""
    answer = "def f(x):\n    return " + " + ".join(["x"] * terms)
    assert not same_definitions(answer, answer, ("f",))
    assert not used_builtins(SOFTMAX, StudentCode(answer))


@pytest.mark.parametrize("term", ["1", "'a'"])
def test_a_sum_of_a_thousand_constants_is_no_fault_of_ours(term: str) -> None:
    answer = "def f(x):\n    return " + "+".join([term] * 1_500)
    assert not used_builtins(SOFTMAX, StudentCode(answer))


def test_the_name_of_a_builtin_is_put_together() -> None:
    answer = "def f(x):\n    return getattr(torch, " + " + ".join(map(repr, "softmax")) + ")(x, -1)"
    assert used_builtins(SOFTMAX, StudentCode(answer)) == ("softmax",)


@pytest.mark.parametrize(
    ("answer", "before", "after"),
    [
        ("def f(x):\n    largest = x.amax()\n    return x - largest", "largest = torch.softmax(x, -1)", ""),
        ("def f(x):\n    output = x\n    return output", "", "output = x.softmax(-1)"),
        ("def f(x):\n    softmax = x.exp()\n    return softmax", "", ""),
        ("def f(x):\n    print('softmax', x.shape)\n    return x", "", ""),
        ("def f(x, dim=-1, mask=None): return x", "for mask in softmax(x): dim = torch.softmax(x)", ""),
        ("from torch import exp, softmax\ndef f(x): return exp(x)", "", ""),
        ("def f(x): return x\nassert f(x) == x.softmax(-1)\ndef test(): return x.softmax(-1)", "", ""),
        ("if False:\n    def f(x): return x.softmax(-1)\ndef f(x): return x", "", ""),
        ("def f(x): return x.softmax(-1)\ndef f(x): return x", "", ""),
        ("def f(x):\n    return x\n    return x.softmax(-1)", "", ""),
        ("def f(x):\n    if CHECK: print(x.softmax(-1))\n    return x", "CHECK = False", ""),
        ("def f(x): return softmax(x)", "def softmax(x): return x.exp()", "softmax = torch.softmax"),
        ("def f(x): return Tools.softmax(x)", "class Tools:\n    def softmax(x): return x", ""),
        ("class f:\n    def forward(s, x): return s.softmax(x)\n    def softmax(s, x): return x", "", ""),
        ("class f:\n    def forward(s, x): return x\n    @staticmethod\n    def t(x): return x.softmax(-1)", "", ""),
        ("def f(x):\n    seen.append(x)\n    return x", "seen = []", "assert f(x) == x.softmax(-1)"),
        ("def f(x): return log(x)", "logs = []\ndef log(x):\n    logs.append(x)\n    return x", "log(x.softmax(-1))"),
        ("class f(nn.Module):\n    def forward(s, x): return x\n    def show(s, x): return x.softmax(-1)", "", ""),
    ],
)
def test_what_an_answer_does_not_refer_to_costs_nothing(answer: str, before: str, after: str) -> None:
    assert used_builtins(SOFTMAX, StudentCode(answer, [before], [after])) == ()


@pytest.mark.parametrize(
    ("answer", "before", "after"),
    [
        ("def f(x): return g(x)", "def g(x): return h(x)\ndef h(x): return x.softmax(-1)", ""),
        ("def f(x): return g(x)", "", "def g(x): return x.softmax(-1)"),
        ("def f(x): return softmax(x)", "from torch.nn.functional import *", ""),
        ("def f(x): return softmax(x)", "from torch import softmax", ""),
        ("def f(x): return g(x)", "from torch import softmax as g", ""),
        ("def f(x): return x\ndef g(x): return x.softmax(-1)\nf = g", "", ""),
        ("f = nn.Softmax(-1)", "", ""),
        ("def f(x): return T.s(x)", "class T: pass\nT.s = torch.softmax", ""),
        ("class f:\n    def forward(s, x): return s.show(x)\n    def show(s, x): return x.softmax(-1)", "", ""),
        ("def f(x):\n    if CHECK: return x.softmax(-1)", "CHECK = True", ""),
        ("try:\n    from torch import softmax as s\nexcept ImportError:\n    s = None\ndef f(x): return s(x)", "", ""),
        ("@decorate(torch.softmax)\ndef f(x): return x", "", ""),
        ("def f(x, g=torch.softmax): return g(x)", "", ""),
        ("def f(x):\n    from torch import softmax as s\n    return s(x)", "", ""),
        ("def f(x): return globals()['g'](x)", "g = torch.softmax", ""),
        ("def f(x): return tools[0](x)", "tools = []\ntools.append(torch.softmax)", ""),
        ("def f(x): return t['f'](x)", "t = {}\ndef keep(g): t['f'] = g\n@keep\ndef g(x): return x.softmax(-1)", ""),
        ("def f(x):\n    if D: return x.softmax(-1)", "D = False\nglobals()['D'] = True", ""),
        ("def f(x):\n    if D: return x.softmax(-1)", "def on():\n    global D\n    D = True\nD = False\non()", ""),
        ("def f(x):\n    if device: return x.softmax(-1)", "device = False", ""),
        ("def f(x): return softmax(x)", "from torch import *\nfor softmax in (): pass", ""),
        ("class f:\n    def forward(s, x): return x\n    @keep\n    def g(s, x): return x.softmax(-1)", "", ""),
    ],
)
def test_what_an_answer_refers_to_is_found(answer: str, before: str, after: str) -> None:
    assert used_builtins(SOFTMAX, StudentCode(answer, [before], [after]))


def test_what_other_exercises_ask_for_is_not_followed() -> None:
    code = StudentCode("def f(x): return g(x)", ["def g(x): return x.softmax(-1)"])
    assert used_builtins(SOFTMAX, code, {"f", "g"}) == ()
    assert used_builtins(SOFTMAX, code, {"f"}) == ("softmax",)
