"""The tripwire: a built-in that runs is seen, whatever it is called, and put down to whose code it ran in."""

from __future__ import annotations
import __future__

import functools
import math
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from guest import tripwire  # its name in the sandbox; see conftest.py
from torch import Tensor, nn
from torch.ao.nn import quantizable
from torch.nn import functional as F

from corpus.answers import answers
from grader.course import lessons
from grader.declare.builtin_names import BuiltIn, operators
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.judge.from_scratch import ran_builtins, used_builtins
from grader.judge.planned_trial import examples
from grader.judge.reach import StudentCode
from grader.judge.reference_results import run_here
from grader.records import GIVEN, OWN, Evidence, Origin, Request, Status

NAMES = {"torch": torch, "nn": nn, "F": F, "np": np, "math": math, "Tensor": Tensor, "Mapping": Mapping, "Any": Any}
SOFTMAX = lessons()["1-attention"].exercise("1.3")
ATTENTION = lessons()["1-attention"].exercise("1.4")
MASKED = lessons()["1-attention"].exercise("1.6")
PROVIDED = "provided-builtin"

# Right answers by the built-in, each under another name; {} is the scores' softmax.
EVASIONS = {
    "a computed name": "n = 'xamtfos'[::-1]\ndef stable_softmax(s, dim=-1):\n    return getattr(F, n)(s, dim)",
    "torch.ops": "n = 'xam' + 'tfos'\ndef stable_softmax(s, dim=-1):\n"
    "    return getattr(torch.ops.aten, ('_' + n[2] + n)[:1] + n[::-1])(s, dim, False)",
    "the module's dict": "def stable_softmax(s, dim=-1):\n    return nn.functional.__dict__[chr(115) + 'oftmax'](s, dim)",
    "the tensor's method": "def stable_softmax(s, dim=-1):\n    return getattr(s, 'soft' + str.lower('MAX'))(dim)",
    "no function at all": "import functools\nstable_softmax = functools.partial(vars(F)['SOFTMAX'.lower()], dim=-1)",
    "the name itself": "stable_softmax = vars(torch)['SOFTMAX'.lower()]",
    "an encoded string": "import base64\nexec(base64.b64decode("
    "b'ZGVmIHN0YWJsZV9zb2Z0bWF4KHMsIGRpbT0tMSk6CiAgICByZXR1cm4gdG9yY2guc29mdG1heChzLCBkaW0p'))",
    "by way of a logarithm": "def stable_softmax(s, dim=-1):\n    return getattr(F, 'log_soft' + str('max'))(s, dim).exp()",
    "a distribution": "def stable_softmax(s, dim=-1):\n    return torch.distributions.Categorical(logits=s).probs",
    "attention for a softmax": "def stable_softmax(s, dim=-1):\n    eye = torch.eye(s.shape[-1])\n"
    "    return F.scaled_dot_product_attention(s, eye, eye, scale=1.0)",
    "a module": "layer = vars(nn)['SOFT'.title() + 'max'](-1)\ndef stable_softmax(s, dim=-1):\n    return layer(s)",
    "a thread": "from concurrent.futures import ThreadPoolExecutor\ndef stable_softmax(s, dim=-1):\n"
    "    with ThreadPoolExecutor(1) as pool:\n        return pool.submit(vars(F)['SOFTMAX'.lower()], s, dim).result()",
    "a thread whose hook is gone": "import threading\ndef stable_softmax(s, dim=-1):\n"
    "    getattr(threading, 'setpro' + str('file'))(None)\n    out = []\n"
    "    one = threading.Thread(target=lambda: out.append(vars(F)['SOFTMAX'.lower()](s, dim)))\n"
    "    one.start()\n    one.join()\n    return out[0]",
    "a thread without the module threading": "import _thread as below, time\ndef stable_softmax(s, dim=-1):\n    out = []\n"
    "    below.start_new_thread(lambda: out.append(vars(F)['SOFTMAX'.lower()](s, dim)), ())\n"
    "    while not out: time.sleep(0.001)\n    return out[0]",
    "a thread whose hook goes as it starts": "import threading as library\ndef stable_softmax(s, dim=-1):\n"
    "    out, names = [], vars(library)\n    hook = names.get('_profile_hook')\n"
    "    one = library.Thread(target=lambda: out.append(vars(F)['SOFTMAX'.lower()](s, dim)))\n"
    "    with names['_active_limbo_lock']:\n        one.start()\n        names['_profile_hook'] = None\n"
    "    one.join()\n    names['_profile_hook'] = hook\n    return out[0]",
    "a call in the backward pass": "class Late(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, s):\n"
    "        return getattr(torch, 'soft' + str('max'))(s, -1)\n    @staticmethod\n    def backward(ctx, g): return g\n"
    "def stable_softmax(s, dim=-1):\n    return Late.apply(s)",
    "the masked one": "def stable_softmax(s, dim=-1):\n    return getattr(torch, '_masked_soft' + str('max'))(s, s == 9, dim)",
    "torch's reference in Python": "import torch._refs as refs\ndef stable_softmax(s, dim=-1):\n"
    "    return vars(refs)['SOFTMAX'.lower()](s, dim)",
    "scipy": "import scipy.special as special\ndef stable_softmax(s, dim=-1):\n"
    "    return torch.tensor(vars(special)['SOFTMAX'.lower()](s.numpy(), dim))",
    "scikit-learn": "import sklearn.utils.extmath as more\ndef stable_softmax(s, dim=-1):\n"
    "    return torch.tensor(vars(more)['SOFTMAX'.lower()](s.numpy()))",
    "numpy": "import numpy\ndef stable_softmax(s, dim=-1):\n    total = getattr(numpy, 'LOGADDEXP'.lower())\n"
    "    return torch.tensor(numpy.exp(s.numpy() - total.reduce(s.numpy(), dim, keepdims=True)))",
    "vmap": "def stable_softmax(s, dim=-1):\n    return torch.vmap(lambda row: getattr(torch, 'soft' + str('max'))(row, -1))(s)",
    "a flag that is raised elsewhere": "def stable_softmax(s, dim=-1):\n    return hidden(s, dim)",
}
ELSEWHERE = "def hidden(s, dim): return torch.softmax(s, dim)\ndef attention_scores(q, k): return hidden(q, -1)"


def define(namespace: dict, source: str, origin: Origin) -> None:
    """Run a cell as the sandbox does; the id of a given cell is that of lesson 2."""
    code = compile(source, "<ipython-input-1>", "exec")
    tripwire.begin(origin.who, origin.defines, PROVIDED if origin is GIVEN else "answer", source)
    with tripwire.running(code):
        exec(code, namespace)


def seen(exercise: Exercise, call) -> list[tuple[str, str]]:
    """What trips the wire while something is called."""
    wire = tripwire.Tripwire(operators(exercise.bans), exercise.id)
    with pytest.MonkeyPatch.context() as patch:
        for module, name in tripwire.THREAD_STARTS:  # as `tripwire.install` does, and nothing undoes
            patch.setattr(module, name, tripwire.watched_start(getattr(module, name)))
        with wire.watching():
            call()
    return wire.trips


def of(exercise: Exercise) -> Origin:
    return Origin(who=exercise.id, defines=exercise.defines)


@pytest.mark.parametrize("name", EVASIONS)
def test_the_builtin_trips_whatever_it_is_called(name: str) -> None:
    namespace: dict = dict(NAMES)
    define(namespace, ELSEWHERE, Origin(who="1.1", defines=("attention_scores",)))
    define(namespace, EVASIONS[name], of(SOFTMAX))
    scores = torch.randn(3, 5)
    trips = seen(SOFTMAX, lambda: namespace["stable_softmax"](scores, dim=-1))
    assert ran_builtins(SOFTMAX, trips, {}), trips
    assert torch.equal(namespace["stable_softmax"](scores, dim=-1).argmax(-1), scores.argmax(-1))


@pytest.mark.parametrize(
    "call",
    [
        lambda q: F.scaled_dot_product_attention(q, q, q),
        lambda q: F.scaled_dot_product_attention(q, q, q, torch.ones(5, 5).bool()),
        lambda q: F.scaled_dot_product_attention(q.requires_grad_(), q, q).sum().backward(),
        lambda q: torch.ops.aten.scaled_dot_product_attention(q, q, q),
        lambda q: torch._C._nn.scaled_dot_product_attention(q[None].double(), q[None].double(), q[None].double()),
        lambda q: nn.MultiheadAttention(4, 2)(q, q, q),
        lambda q: nn.MultiheadAttention(4, 2)(q, q, q, need_weights=False),
        lambda q: nn.MultiheadAttention(4, 2).eval()(q.detach(), q.detach(), q.detach()),
        lambda q: F.multi_head_attention_forward(
            q, q, q, 4, 2, torch.ones(12, 4), None, None, None, False, 0.0, torch.ones(4, 4), None
        ),
        lambda q: nn.TransformerEncoderLayer(4, 2, 8)(q),
        lambda q: quantizable.MultiheadAttention(4, 2)(q, q, q),
    ],
)  # fmt: skip
def test_every_form_of_attention_trips(call) -> None:
    query = torch.randn(2, 5, 4)
    assert ran_builtins(ATTENTION, seen(ATTENTION, lambda: call(query)), {}), "nothing was seen"


def test_what_is_no_builtin_does_not_trip() -> None:
    def honest() -> None:
        scores = torch.randn(3, 5, requires_grad=True)
        weights = torch.softmax(scores, -1)
        F.cross_entropy(weights @ torch.randn(5, 2), torch.tensor([0, 1, 0])).backward()

    assert seen(ATTENTION, honest) == []


USES = "def masked_attention(q, k, v): return attention(q, k, v)"
BUILTIN = "def attention(q, k, v): return F.scaled_dot_product_attention(q, k, v)"


def attend(namespace: dict) -> None:
    namespace["masked_attention"](*torch.randn(3, 2, 5, 4))


def test_a_given_cell_answers_for_what_its_code_calls() -> None:
    namespace = dict(NAMES)
    define(namespace, BUILTIN, GIVEN)
    define(namespace, USES, of(MASKED))
    trips = seen(MASKED, lambda: attend(namespace))
    assert {cell for _, cell in trips} == {PROVIDED}
    assert ran_builtins(MASKED, trips, {}, {PROVIDED: BUILTIN}) == ()
    assert ran_builtins(MASKED, trips, {}, {"another-cell": BUILTIN}) == ("scaled_dot_product_attention",)
    assert ran_builtins(MASKED, trips, {}, {PROVIDED: "F.softmax"}) == ("scaled_dot_product_attention",)


HEAD = "def attention(q, k, v): return F.multi_head_attention_forward(q, k, v)"


@pytest.mark.parametrize(
    ("operator", "source", "named"),
    [
        ("aten::_fused_sdp_choice", BUILTIN, True),
        ("aten::_fused_sdp_choice", HEAD, False),
        ("aten::_native_multi_head_attention", BUILTIN, False),
        ("aten::_native_multi_head_attention", HEAD, True),
        ("multi_head_attention_forward", HEAD, True),
        ("aten::_transformer_encoder_layer_fwd", HEAD, False),
        (tripwire.SWITCHED_OFF, BUILTIN + HEAD, False),
    ],
)
def test_a_given_cell_is_an_excuse_for_the_built_ins_that_it_names(operator: str, source: str, named: bool) -> None:
    assert (ran_builtins(MASKED, [(operator, PROVIDED)], {}, {PROVIDED: source}) == ()) is named


def test_a_built_in_of_an_author_is_named_by_any_of_its_names() -> None:
    ban = BuiltIn(names=frozenset({"conv1d", "conv2d"}), operators=frozenset({"aten::convolution"}))
    exercise = replace(MASKED, bans=frozenset({ban}))
    calls = [("aten::convolution", PROVIDED)]
    assert ran_builtins(exercise, calls, {}, {PROVIDED: "return F.conv2d(image, kernel)"}) == ()
    assert ran_builtins(exercise, calls, {}, {PROVIDED: "return F.relu(image)"}) == ("convolution",)


class Names(dict):
    """The notebook's names; given code finds the wrapped function among them, and who looks, the real one."""

    def __getitem__(self, name: str) -> Any:
        return SimpleNamespace(scaled_dot_product_attention=WRAPPED) if name == "F" else super().__getitem__(name)


# A function of C, which has no frame.
WRAPPED = functools.partial(F.scaled_dot_product_attention, is_causal=True)
CHANGED = """def attention(q, k, v): return F.scaled_dot_product_attention(q, k, v)
def attention_of(q, k, v): return call(q, k, v)
def sums(q, k, v): return sum(q, k, v)"""


def with_globals(function: FunctionType, names: dict) -> FunctionType:
    return FunctionType(function.__code__, names)


IN_THE_PLACE_OF_GIVEN = {
    "other globals": lambda f, s: with_globals(
        f["attention"], {**f, "F": SimpleNamespace(scaled_dot_product_attention=WRAPPED)}
    ),
    "globals that lie": lambda f, s: with_globals(f["attention"], Names(f)),
    "another library": lambda f, s: f.update(F=SimpleNamespace(scaled_dot_product_attention=WRAPPED)),
    "another function in the library": lambda f, s: s(F, "scaled_dot_product_attention", WRAPPED),
    "another function under a name of its own": lambda f, s: f.update(call=WRAPPED) or f["attention_of"],
    "a function of the notebook in the place of Python's": lambda f, s: f.update(sum=WRAPPED) or f["sums"],
    "other built-in functions": lambda f, s: with_globals(f["sums"], {"__builtins__": {"sum": WRAPPED, "__import__": __import__}}),
    "other code": lambda f, s: f.update(WRAPPED=WRAPPED)
    or s(f["attention"], "__code__", (lambda q, k, v: WRAPPED(q, k, v)).__code__),
    "changed code": lambda f, s: s(f["attention"], "__code__", f["attention"].__code__.replace(co_name="other")),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_THE_PLACE_OF_GIVEN)
def test_what_runs_in_the_place_of_given_code_is_not_given(name: str, monkeypatch) -> None:
    namespace = dict(NAMES)
    define(namespace, CHANGED, GIVEN)
    changed = IN_THE_PLACE_OF_GIVEN[name](namespace, monkeypatch.setattr) or namespace["attention"]
    define(namespace, USES, of(MASKED))
    namespace["attention"] = changed
    trips = seen(MASKED, lambda: attend(namespace))
    assert trips
    assert {cell for _, cell in trips} == {""}


# Functions of C have no frame: what they call would count as called by the given code that meets them.
HIDDEN_MASK = torch.ones(5, 5, dtype=torch.bool).tril()
MEETS = """def attention(q, k, v, m=None):
    if m is not None:
        m.any(-1)
    w = F.scaled_dot_product_attention(q, k, k)
    return w.masked_fill(w < 0, 0.0) @ v
def made(q, k, v): return Layer()
def called(q, k, v): return Layer.twice(q)"""


def called_back(q: torch.Tensor) -> Callable:
    """Return a function of C that takes anything, and calls the built-in with other arguments."""
    return functools.partial(next, map(functools.partial(F.scaled_dot_product_attention, q, q, q), [HIDDEN_MASK]))


def class_with(name: str, q: torch.Tensor) -> type:
    return type("Met", (), {name: staticmethod(called_back(q))})


CALLED_BACK = {
    "an operator": lambda f, s, q: f["attention"](q, q, class_with("__rmatmul__", q)()),
    "a method": lambda f, s, q: f["attention"](q, q, q, class_with("any", q)()),
    "an attribute that is asked for": lambda f, s, q: f["attention"](q, q, q, class_with("__getattr__", q)()),
    "a method of all tensors": lambda f, s, q: s(torch.Tensor, "masked_fill", called_back(q)) or f["attention"](q, q, q),
    "a comparison of all tensors": lambda f, s, q: s(torch.Tensor, "__lt__", called_back(q)) or f["attention"](q, q, q),
    "how a class is made": lambda f, s, q: f.update(Layer=class_with("__new__", q)) or f["made"](q, q, q),
    "a function of a class": lambda f, s, q: f.update(Layer=class_with("twice", q)) or f["called"](q, q, q),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED_BACK)
def test_what_given_code_only_meets_is_not_called_by_it(name: str, monkeypatch) -> None:
    namespace, setattr_ = dict(NAMES), functools.partial(monkeypatch.setattr, raising=False)
    define(namespace, MEETS, GIVEN)
    define(namespace, "def masked_attention(call): return call()", of(MASKED))

    def meet() -> None:
        with suppress(Exception):  # what comes back is of no use to the given code
            CALLED_BACK[name](namespace, setattr_, torch.randn(2, 5, 4))

    trips = seen(MASKED, lambda: namespace["masked_attention"](meet))
    monkeypatch.undo()
    assert "" in {cell for _, cell in trips}


def test_given_code_may_call_what_the_student_gave_a_name_and_python_may_come_from_the_future() -> None:
    """A name of a student's that given code only has as an attribute is no reason to doubt it."""
    namespace = {**NAMES, "eye": nn.Identity(), "sum": nn.Identity()}
    given = "class Width: pass\nwidth, helper = 2, lambda: torch.eye(width).sum()\n"
    given += BUILTIN.replace("return", "width, Width(), helper(); return")
    define(namespace, given, GIVEN)
    future = compile(given, "<ipython-input-1>", "exec", __future__.annotations.compiler_flag)
    with tripwire.running(future):
        exec(future, namespace)
    define(namespace, USES, of(MASKED))
    assert {cell for _, cell in seen(MASKED, lambda: attend(namespace))} == {PROVIDED}


def test_another_exercise_answers_for_its_own_answer_and_pays_once() -> None:
    namespace = dict(NAMES)
    define(namespace, BUILTIN, of(ATTENTION))
    define(namespace, USES, of(MASKED))
    trips = seen(MASKED, lambda: attend(namespace))
    assert {other for _, other in trips} == {"1.4"}
    assert ran_builtins(MASKED, trips, flagged={"1.4": frozenset({"fused attention"})}) == ()
    assert ran_builtins(MASKED, trips, flagged={}) == ("scaled_dot_product_attention",)


@pytest.mark.parametrize("place", [OWN, of(ATTENTION)])
def test_a_helper_is_the_work_of_who_calls_it(place: Origin) -> None:
    namespace = dict(NAMES)
    define(namespace, BUILTIN.replace("attention(", "helper(", 1), place)
    define(namespace, USES.replace("attention(q, k, v)", "helper(q, k, v)").replace("masked_helper", "masked_attention"),
           of(MASKED))  # fmt: skip
    namespace["masked_attention"] = lambda q, k, v: namespace["helper"](q, k, v)
    trips = seen(MASKED, lambda: attend(namespace))
    assert {other for _, other in trips} == {""}


def test_a_given_function_that_is_handed_the_builtin_is_no_excuse() -> None:
    namespace = dict(NAMES)
    define(namespace, "def apply(f, *given): return f(*given)", GIVEN)
    define(namespace, "def masked_attention(q, k, v):\n"
           "    return apply(lambda *a: F.scaled_dot_product_attention(*a), q, k, v)", of(MASKED))  # fmt: skip
    assert seen(MASKED, lambda: attend(namespace))


def of_banned() -> list:
    """List the right answers of the exercises that forbid a built-in."""
    return [
        pytest.param(lesson, exercise, answer.source, id=f"{answer.exercise} {answer.name}")
        for lesson in lessons().values()
        for exercise in lesson.exercises
        for answer in answers("variants")
        if exercise.bans and answer.exercise == exercise.id
    ]


@pytest.mark.parametrize(("lesson", "exercise", "source"), of_banned())
def test_no_right_answer_trips(lesson: Lesson, exercise: Exercise, source: str) -> None:
    """Whatever its style; the probes themselves use nothing that is banned, and results stay the same."""
    namespace = {**lesson.reference, **NAMES}
    define(namespace, source, of(exercise))
    for trial in examples(exercise):
        alone = run_here(trial.check, namespace, trial.inputs)
        watched: list[Evidence] = []

        def again(trial=trial, watched=watched) -> None:
            watched.append(run_here(trial.check, namespace, trial.inputs))

        trips = seen(exercise, again)
        assert trips == [], trial.key
        assert watched[0].status is alone.status is Status.OK, alone.message


def test_some_right_answers_were_looked_at() -> None:
    assert len(of_banned()) >= 25


# ---------------------------------------------------------------- in the sandbox


def request(exercise: Exercise, source: str, inputs: dict) -> Request:
    return Request(
        key=f"{exercise.id}/values", source=source, function="probe", trials={"0": inputs}, seconds=20.0,
        watched=operators(exercise.bans),
    )  # fmt: skip


def answer(python, cell: str, exercise: Exercise = SOFTMAX) -> Evidence:
    python.run_cell(
        "import torch\nfrom torch import nn\nfrom torch.nn import functional as F", seconds=20, origin=GIVEN
    )
    python.run_cell(cell, seconds=20, origin=of(exercise))
    probe = "def probe(stable_softmax, s): return {'weights': stable_softmax(s)}"
    return python.call(request(exercise, probe, {"s": torch.randn(3, 5)}))["0"]


HIDING = {
    "its mode taken off": "    with torch._C._DisableTorchDispatch():\n        return torch.softmax(s, dim)",
    "all modes taken off": "    from torch.utils import _python_dispatch as p\n"
    "    with p._disable_current_modes():\n        return torch.softmax(s, dim)",
    "its mode thrown away": "    wire = torch._C._pop_torch_dispatch_stack(None)\n"
    "    weights = torch.softmax(s, dim)\n    torch._C._push_on_torch_dispatch_stack(wire)\n    return weights",
    "a script": "    return torch.jit.script(nn.Softmax(-1))(s)",
    "in inference mode": "    with torch.inference_mode():\n        return torch.softmax(s, dim)",
    "attention in inference mode": (
        "    with torch.inference_mode():\n        F.scaled_dot_product_attention(s, s, s)\n    return s"
    ),
    "an operator that calls a function": (
        "    cond = torch.ops.higher_order.cond\n"
        "    return cond(torch.tensor(True), lambda x: torch.softmax(x, -1), lambda x: x + 1, (s,))"
    ),
}


# Softmax where the tripwire did not look: its own work is interrupted, or no function of Python tells of a call.
BORROW = """import gc, numpy, scipy.special, sys, torch
softmax = getattr(torch, 'xamtfos'[::-1])
"""
LATE = """
jobs = []
def finish(*_):
    if jobs and not torch._C._len_torch_dispatch_stack():
        weights, scores = jobs.pop()
        weights.copy_(softmax(scores, -1))
def stable_softmax(s, dim=-1):
    weights = s + 0
    jobs.append((weights, s.clone()))
    # WAIT
    return weights
"""
COLLECTED = LATE.replace("# WAIT", "for _ in range(9): s + 1") + "gc.callbacks.append(finish)\ngc.set_threshold(1)"
HOOK = """
def of_arrays(s): return torch.tensor(vars(scipy.special)['xamtfos'[::-1]](s.numpy(), -1))
def hook(event, found):
    if event == 'mine': found[0].append(of_arrays(found[0][0]))
sys.addaudithook(hook)
def stable_softmax(s, dim=-1):
    found = [s]
    sys.audit('mine', found)
    return found[-1]
"""
NESTED = """
import torch
class Deeper(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s, left, found):
        ctx.rest = s, left, found
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        s, left, found = ctx.rest
        if left: begin(s, left - 1, found)
        else: found.append(s.exp() / s.exp().sum(-1, keepdim=True))
        return g, None, None, None
def begin(s, left, found):
    with torch.enable_grad():
        x = torch.ones(1, requires_grad=True)
        torch.autograd.grad(Deeper.apply(x, s, left, found), x)
def stable_softmax(s, dim=-1):
    found = []
    begin(s, DEPTH, found)
    return found[0]
"""
UNSEEN = {
    "by the garbage collector, while the tripwire works": COLLECTED,
    "by the garbage collector, which was stopped": COLLECTED.replace(
        "    jobs", "    [*map(lambda f: f(), [gc.enable])]\n    jobs"
    ),
    "as memory is given back, while the tripwire works": LATE.replace(
        "# WAIT", "lent = torch.frombuffer(Lent(16), dtype=torch.float32)\n    lent.set_(torch.ones(4))"
    )
    + "class Lent(bytearray):\n    __del__ = finish",
    "in an audit hook, where nothing is traced": HOOK,
}


@pytest.mark.parametrize("name", UNSEEN)
@pytest.mark.parametrize("exercise", [SOFTMAX, ATTENTION], ids=["softmax", "attention"])
def test_nothing_runs_where_the_tripwire_does_not_look(name: str, exercise: Exercise, python) -> None:
    """Attention has no function in Python that is watched; what is borrowed for it gives the weights of a softmax, too."""
    fused = "softmax = lambda s, dim: getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')(s, *[torch.eye(5)] * 2)"
    evidence = answer(python, BORROW + (fused if exercise is ATTENTION else "") + UNSEEN[name], exercise)
    done = evidence.values.get("weights")
    if done is None:
        assert evidence.status is not Status.OK, evidence
        return
    assert done.shape == (3, 5), evidence
    is_softmax = bool(torch.allclose(done.sum(-1), torch.ones(3)))
    assert ran_builtins(exercise, evidence.trips, {}) or not is_softmax, evidence


# Attention where no mode is on and no call is traced: inside an operator that counts as quiet, or past torch's dispatch.
BEGINS = """
import asyncio.unix_events, copy, functools, gc as collector, importlib, sys, threading, time
library, jobs, done = torch, [], []
core, fused = library._C, F.scaled_dot_product_attention
def finish(*_):
    if jobs and not core._len_torch_dispatch_stack():
        collector.disable()
        done.append(fused(*jobs.pop()))
"""
ANSWERS = """
def stable_softmax(s, dim=-1):
    jobs.append((s, s, s))
    BODY
    return done.pop()
"""
ALARM = """
signals = asyncio.unix_events.signal
def stable_softmax(s, dim=-1):
    signals.signal(signals.SIGALRM, finish)
    jobs.append((s, s, s))
    wide = torch.ones(1500, 1500)
    signals.setitimer(signals.ITIMER_REAL, 0.05)
    wide.mm(wide)
    return done.pop()
"""
WATCHES = """
watch = sys.monitoring
def begin():
    watch.use_tool_id(0, "mine")
    watch.register_callback(0, watch.events.PY_START, finish)
    watch.set_events(0, watch.events.PY_START)
"""
MONITORED = {
    "what watches each function that begins, from a cell before": WATCHES + "begin()\n" + ANSWERS.replace("BODY", "-s"),
    "what watches each function that begins": WATCHES + ANSWERS.replace("BODY", "begin()\n    -s"),
}
WHILE_QUIET = {
    "another function in the place of an operator's own": """
names = vars(torch.ops.aten.neg.default)
own = next(name for name in names if name[1:] == 'op')
real = names[own]
names[own] = lambda *arguments: finish() or real(*arguments)
"""
    + ANSWERS.replace("BODY", "-s"),
    "the garbage collector, started by a thread": """
collector.callbacks.append(finish)
def collect(on=collector.enable, sleep=time.sleep):
    sleep(0.05)
    on()
    sleep(1)
"""
    + ANSWERS.replace(
        "BODY",
        "wide = torch.ones(1500, 1500)\n    collector.set_threshold(1)\n    one = threading.Thread(target=collect)\n    one.start()\n"
        "    while not done and one.is_alive(): wide.mm(wide)\n    one.join()",
    ),
    **(MONITORED if hasattr(sys, "monitoring") else {}),
    "the handler of a signal": ALARM,
    "the handler of a signal, by functions that are made anew": ALARM.replace(
        "signals = asyncio",
        "spec = vars(sys.modules['_sig' + 'nal'])['__spec__']\nlower = importlib.util.module_from_spec(spec)\nsignals = asyncio",
    ).replace("signals.signal(", "lower.signal("),
    "a kernel in Python, of which torch asks": """
torch.ops.aten.neg.default.py_impl(core._dispatch_key_parse('CPU'))(lambda x: finish() or x + 0)
"""
    + ANSWERS.replace("BODY", "with core._EnablePythonDispatcher(): -s"),
}
FIELD = """
def key(end): return next(name for name in vars(torch.ops.aten.cos.default) if name[1:] == end)
HEADS = ("_scaled_dot_product_flash_attention_for_cpu", "scaled_dot_product_attention", "_fused_sdp_choice", "_safe_softmax")
PACKETS = [getattr(torch.ops.aten, name) for name in HEADS]
"""
OVERLOADS = {
    "functions of C in the place of an operator's own": FIELD
    + "fields = vars(torch.ops.aten.cos.default)\n"
    + ANSWERS.replace(
        "BODY",
        "kept, fields[key('op')] = fields[key('op')], functools.partial(next, map(done.append, map(fused, [s], [s], [s])))\n"
        "    try: torch.cos(s)\n    except Exception: pass\n    fields[key('op')] = kept",
    ),
    "an operator with another's name": FIELD
    + "for packet in PACKETS: vars(packet.default)[key('schema')] = torch.ops.aten.relu.default._schema\n"
    "def stable_softmax(s, dim=-1): return fused(s, s, s)",
    "an operator in another's place": FIELD
    + "for packet in PACKETS:\n    other = copy.copy(torch.ops.aten.relu.default)\n"
    "    vars(other)[key('op')] = vars(packet.default)[key('op')]\n    setattr(packet, 'default', other)\n"
    "def stable_softmax(s, dim=-1): return fused(s, s, s)",
    "a property that the tripwire asks for": FIELD
    + ANSWERS.replace(
        "BODY",
        "kind = type(torch.ops.aten.cos.default)\n    name = key('schema')\n"
        "    type.__setattr__(kind, name, property(lambda self: finish() or vars(self)[name]))\n"
        "    torch.cos(s)\n    type.__delattr__(kind, name)",
    ),
}
ALONE = "def stable_softmax(s, dim=-1):\n    "
HEADS = "[s[None, None]] * 3"
PAST_DISPATCH = {
    "a kernel of torch's own": ALONE + "name = 'aten::_scaled_dot_product_flash_attention_for_cpu'\n"
    f"    return library.library.get_kernel(name, 'CPU').call_boxed(core._dispatch_keys(s), *{HEADS}, 0.0, False)[0][0, 0]",
    "a guard that has two names": ALONE + "keys = type(core._dispatch_keys(s))(core._dispatch_key_parse('Python'))\n"
    "    with core.ExcludeDispatchKeyGuard(keys): return fused(s, s, s)",
    "a guard whose class was kept": "Guard = type(vars(core)['_DisableTorch' + 'Dispatch']())\n"
    + ALONE + "guard = Guard()\n    return fused(s, s, s)",
    "a guard of a cell": "guards = [vars(core)['_DisableTorch' + 'Dispatch']()]\n"
    + ALONE + "weights = fused(s, s, s)\n    guards.clear()\n    return weights",
    "a switch under another module's name": "others = vars(library.utils._python_dispatch)\n"
    "pop, push = (next(f for name, f in others.items() if name[1:] == end + '_torch_dispatch_stack') for end in ('pop', 'push_on'))\n"
    + ALONE + "wire = pop(None)\n    weights = fused(s, s, s)\n    push(wire)\n    return weights",
    "a switch that a thread calls for whoever started it": "from concurrent.futures import ThreadPoolExecutor\n"
    + ALONE + "with ThreadPoolExecutor(1) as pool:\n        guard = pool.submit(vars(core)['_DisableTorch' + 'Dispatch'])\n"
    "        guard.result()\n        return pool.submit(fused, s, s, s).result()",
}  # fmt: skip


@pytest.mark.parametrize("name", [*WHILE_QUIET, *OVERLOADS, *PAST_DISPATCH])
def test_attention_does_not_run_unseen_inside_or_past_an_operator(name: str, python) -> None:
    evidence = answer(python, BEGINS + {**WHILE_QUIET, **OVERLOADS, **PAST_DISPATCH}[name], ATTENTION)
    assert evidence.error in ("", "IndexError", "NameError", "RuntimeError"), evidence  # else the case itself is broken
    assert evidence.status is not Status.OK or ran_builtins(ATTENTION, evidence.trips, {}), evidence


@pytest.mark.parametrize(("depth", "trips"), [(3, ()), (50, ((tripwire.SWITCHED_OFF, ""),))])
def test_few_backward_passes_may_be_in_each_other(depth: int, trips: tuple, python) -> None:
    """From the 61st on, torch computes them in threads that nobody watches."""
    evidence = answer(python, NESTED.replace("DEPTH", str(depth)))
    assert (evidence.status, evidence.trips) == (Status.OK, trips), evidence


# No operator tells of scipy's softmax, but the function does that sees each call.
TRICKS = {
    "a property in the place of an operator's function": "def attention(q, k, v):\n    kind, out = type(torch.ops.aten.add.Tensor), []\n"
    "    def get(self):\n        if not out:\n            out.append(0)\n"
    "            out.append(F.scaled_dot_product_attention(q, k, v))\n        return self.__dict__['_op']\n"
    "    kind._op = property(get, lambda self, op: self.__dict__.__setitem__('_op', op))\n"
    "    q.cos()\n    del kind._op\n    return out[1] if out else 'not asked'",
    "the garbage collector at work": "import gc\ndef attention(q, k, v):\n    gc.enable()\n    q.cos()\n    gc.disable()",
    "names that are equal to anything": "class Name(str):\n    like = False\n    __hash__ = str.__hash__\n"
    "    def __eq__(self, other): return Name.like\n    def __ne__(self, other): return not Name.like\n"
    "class Schema: pass\ndef attention(q, k, v):\n"
    "    relu = torch.ops.aten.relu.default\n    kept, relu._schema = relu._schema, Schema()\n"
    "    for relu._schema.name in map(Name, watched):\n        torch.relu(q)\n"
    "    relu._schema, Name.like = kept, True\n    out = F.scaled_dot_product_attention(q, k, v)\n"
    "    Name.like = False\n    return out",
}


@pytest.mark.parametrize("name", TRICKS)
def test_what_the_watch_does_for_each_operator_cannot_be_used(name: str, monkeypatch) -> None:
    relu = torch.ops.aten.relu.default
    monkeypatch.setattr(relu, "_schema", relu._schema)  # which an answer that is refused has not put back
    namespace: dict = {**NAMES, "watched": operators(ATTENTION.bans)}
    define(namespace, TRICKS[name], of(ATTENTION))
    q, results = torch.randn(2, 5, 4), ["not asked"]
    try:
        was_seen = seen(ATTENTION, lambda: results.append(namespace["attention"](q, q, q)))
    except TypeError:  # of an operator's schema torch alone is asked, and another object is none
        was_seen = False
    assert was_seen or results[-1] == "not asked"


def test_nobody_else_may_profile_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(function) -> None:
        raise RecursionError

    monkeypatch.setattr(tripwire, "_setprofile", full)
    with pytest.raises(RecursionError):
        tripwire._profile(None)
    assert not any(tripwire._setting.values())


def test_endless_recursion_is_called_by_its_name(python) -> None:
    evidence = answer(python, "def stable_softmax(s, dim=-1):\n    return stable_softmax(s, dim) + 1")
    assert "recursion" in evidence.message, evidence


PROFILED = """import cProfile, scipy.special
def stable_softmax(s, dim=-1):
    with cProfile.Profile():
        return torch.tensor(scipy.special.softmax(s.numpy(), dim))
"""


def test_nobody_else_profiles(python) -> None:
    evidence = answer(python, PROFILED)
    # Python 3.13.0 loses the words of what an audit hook raises in there, and 3.13.5 has them.
    lost = sys.version_info[:2] == (3, 13) and evidence.error == "SystemError"
    assert lost or "do not look into the interpreter" in evidence.message, evidence


DISGUISED = {
    "compiled": "exec(compile('x = 1', torch.__file__, 'exec'))",
    "compiled by a library": "import codeop\nexec(codeop.compile_command('x = 1', torch.__file__))",
    "loaded": "from importlib.machinery import SourceFileLoader as L\nL('x', 'x').source_to_code(b'x = 1', torch.__file__)",
    "of a frozen module": "exec(compile('x = 1', '<frozen x>', 'exec'))",
    "changed": "code = (lambda: 1).__code__\ncode = code.replace(co_filename=torch.__file__)",
}


@pytest.mark.parametrize("name", DISGUISED)
def test_no_code_of_a_student_has_the_file_name_of_a_library(name: str, python) -> None:
    cell = python.run_cell(f"import torch\n{DISGUISED[name]}", seconds=20)
    assert "file name of its own" in str(cell), cell
    assert python.run_cell("import torch._refs, scipy.stats, tabnanny", seconds=20).error == ""


LOOKING = (
    "    import sys\n    sys._getframe()\n    return s",
    "    try: 1 / 0\n    except ZeroDivisionError as e: e.__traceback__.tb_frame\n    return s",
    "    import gc\n    gc.get_objects()\n    return s",
    "    import inspect\n    inspect.stack()\n    return s",
    "    import sys\n    sys.setprofile(print)\n    return s",
)


def test_a_record_cannot_be_erased(python) -> None:
    """The kernel keeps a count of the records, which no code can raise again."""
    evidence = answer(
        python,
        "from torch.utils import _python_dispatch as p\n"
        "stack = p._get_current_dispatch_mode_stack\nhidden = stack.__closure__[-1].cell_contents\n"
        "def stable_softmax(s, dim=-1):\n    weights = torch.softmax(s, dim)\n"
        "    for wire in hidden(): wire.trips.clear()\n    return weights",
    )
    assert evidence.trips == ((tripwire.SWITCHED_OFF, ""),)


@pytest.mark.parametrize("body", LOOKING)
def test_looking_into_the_interpreter_is_refused(body: str, python) -> None:
    evidence = answer(python, f"def stable_softmax(s, dim=-1):\n{body}")
    assert (evidence.status, evidence.error) == (Status.RAISED, "RuntimeError"), evidence
    assert "do not look into the interpreter" in evidence.message


def test_libraries_may_look_into_the_interpreter(python) -> None:
    """Python's own namedtuple asks for the frame of its caller, and warnings do."""
    body = (
        "    import collections, warnings\n    collections.namedtuple('Pair', 'a b')\n"
        "    warnings.warn('careful', stacklevel=2)\n    return s"
    )
    evidence = answer(python, f"def stable_softmax(s, dim=-1):\n{body}")
    assert (evidence.status, evidence.trips) == (Status.OK, ()), evidence


@pytest.mark.parametrize("name", HIDING)
def test_whoever_looks_away_is_seen(name: str, python) -> None:
    evidence = answer(python, f"def stable_softmax(s, dim=-1):\n{HIDING[name]}")
    assert ran_builtins(SOFTMAX, evidence.trips, {}), evidence
    assert evidence.status is Status.OK, evidence.message


@pytest.mark.parametrize(
    "body",
    [
        "    import os\n    return s if os.fork() else os._exit(0)",
        "    import subprocess\n    subprocess.run(['true'])\n    return s",
    ],
)
def test_work_in_other_places_is_refused(body: str, python) -> None:
    evidence = answer(python, f"def stable_softmax(s, dim=-1):\n{body}")
    assert (evidence.status, evidence.error) == (Status.RAISED, "RuntimeError"), evidence


def test_an_honest_answer_comes_back_without_a_trip_and_one_that_raises_with_its_own(python) -> None:
    honest = answer(python, "def stable_softmax(s, dim=-1):\n    return s.exp() / s.exp().sum(dim, keepdim=True)")
    assert (honest.status, honest.trips) == (Status.OK, ())
    raising = answer(python, "def stable_softmax(s, dim=-1):\n    s.softmax(dim)\n    raise ValueError('no')")
    assert (raising.status, raising.error) == (Status.RAISED, "ValueError")
    assert raising.trips == (("aten::_softmax", ""),)


def test_cells_in_the_sandbox_have_their_origin(python) -> None:
    python.run_cell("import torch", seconds=20, origin=GIVEN)
    python.run_cell("def given(s): return torch.softmax(s, -1)", seconds=20, origin=GIVEN, cell=PROVIDED)
    python.run_cell("def mine(s): return torch.softmax(s, -1)", seconds=20)
    probe = "def probe({0}, s): return {{'weights': {0}(s)}}"
    inputs = {"s": torch.randn(3, 5)}
    assert python.call(request(SOFTMAX, probe.format("given"), inputs))["0"].trips == (("aten::_softmax", PROVIDED),)
    assert python.call(request(SOFTMAX, probe.format("mine"), inputs))["0"].trips == (("aten::_softmax", ""),)


def test_the_evasions_pass_the_ban_by_name() -> None:
    """Else they would not show what the tripwire is for."""
    passed = [name for name, source in EVASIONS.items() if not used_builtins(SOFTMAX, StudentCode(source))]
    assert len(passed) >= 12, set(EVASIONS) - set(passed)
