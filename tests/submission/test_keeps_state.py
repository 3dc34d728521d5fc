"""Which code may remember earlier calls: a training of it is run in whole."""

import nbformat
import pytest

from corpus.answers import variants
from grader.course import lessons
from grader.paths import course_root
from grader.submission.code.keeps_state import may_remember
from grader.submission.code.told_names import HISTORY, told_names

REMEMBERS = {
    "global": "calls = 0\ndef f(x):\n    global calls\n    calls += 1\n    return x",
    "list": "calls = []\ndef f(x):\n    calls.append(x)\n    return x",
    "dict": "seen = dict()\ndef f(x):\n    return seen.get(x, x)",
    "item": "def g(): pass\ndef f(x):\n    table[0] = x\n    return x",
    "attribute of the function": "def f(x):\n    f.calls = 1\n    return x",
    "attribute of an argument": "def f(model, x):\n    model.calls = 1\n    return x",
    "default": "def f(x, calls=[]):\n    return x",
    "default call": "def f(x, *, calls=dict()):\n    return x",
    "closure": "def make():\n    calls = 0\n    def f(x):\n        nonlocal calls\n        calls += 1\n        return x\n    return f",
    "iterator": "numbers = iter(range(9))\ndef f(x):\n    return [x for x in numbers]",
    "next": "def f(x):\n    return next(numbers)",
    "yield": "def f(x):\n    while True:\n        yield x",
    "count": "from itertools import count",
    "itertools": "import itertools\nnumbers = 1\ndef f(x):\n    return itertools.count()",
    "cache": "from functools import lru_cache",
    "cache from functools by a star": "from functools import *\ndef g(x):\n    return cache(f)(x)",
    "cache as a default": "def f(x, cache=cache):\n    return cache(x)",
    "cache of another function": "def g(cache):\n    return cache\ndef f(x):\n    return cache(g)(x)",
    "a parameter of an annotation": "numbers = 1\ndef f(x: (lambda next: 0)):\n    return next(numbers)",
    "a parameter of a default": "def f(x, g=lambda next: 0):\n    return next(numbers)",
    "a parameter of a lambda inside": "def f(x):\n    g = lambda next: next\n    return next(x)",
    "self": "class A:\n    def forward(self, x):\n        self.calls += 1\n        return x",
    "self, written out": "class A:\n    def forward(self, x):\n        self.calls = self.calls + 1\n        return x",
    "buffer": "class A:\n    def forward(self, x):\n        self.calls.add_(1)\n        return x",
    "mode as a counter": "def f(model, x):\n    for part in model.children():\n        part.training = part.training + 1",
    "mode counted on": "def f(model, x):\n    for part in model.children():\n        part.training += 1",
    "view of a buffer": "class A:\n    def forward(self, x):\n        calls = self.calls.view(-1)\n        calls += 1",
    "turned queue": "class A:\n    def forward(self, x):\n        self.turn.rotate(-1)\n        return x",
    "more layers by a function of __init__": "class A:\n    def __init__(self):\n        self.f = lambda x: self.add_module(str(x), self.part)",
    "a name of one's own for the optimizer's table": "def step(model, optimizer, x):\n    state = optimizer.state\n    state['calls'] = 1",
    "a name that is global": "def f(x):\n    global state\n    state = x\n    return state",
    "a name of the function around": "def g():\n    state = 0\n    def f(x):\n        nonlocal state\n        state = state + 1\n        return x * state\n    return f",
    "more layers": "class A:\n    def forward(self, x):\n        self.add_module(str(x), self.part)\n        return x",
    "buffer item": "class A:\n    def forward(self, x):\n        self.calls[0] = 1\n        return x",
    "class attribute": "class A:\n    calls = []\n    def forward(self, x):\n        return x",
    "through the class": "class A:\n    def forward(self, x):\n        type(self).calls = 1\n        return x",
    "time": "import time\ndef f(x):\n    return x",
    "file": "def f(x):\n    open('/tmp/x', 'a')\n    return x",
    "dynamic": "def f(x):\n    globals()['calls'] = 1\n    return x",
    "hook": "def f(model):\n    model.register_forward_hook(print)",
    "list of a layer": "class A:\n    def __init__(self):\n        self.calls = []\n    def forward(self, x):\n        self.calls.append(1)\n        return x",
    "list of a closure": "def make():\n    calls = []\n    def f(x):\n        calls.append(1)\n        return x\n    return f",
    "default from elsewhere": "calls = []\ndef f(x, seen=calls):\n    return x",
    "the optimizer's table": "def step(model, optimizer, x):\n    optimizer.state['calls'] = 1",
    "the optimizer's groups": "def step(model, optimizer, x):\n    optimizer.param_groups[0].update(calls=1)",
    "a buffer of the model": "def step(model, optimizer, x):\n    model.calls.add_(1)",
    "list of a module": "torch.calls = []\ndef f(x):\n    torch.calls.append(1)\n    return x",
    "out": "class A:\n    def forward(self, x):\n        torch.add(self.calls, 1, out=self.calls)\n        return x",
    "a namedtuple of one's own": "def namedtuple(*names):\n    return iter(range(9))\nN = namedtuple('N')\ndef f(x):\n    return [x for n in N]",
    "another module's": "import itertools as collections\nN = collections.namedtuple('N')\ndef f(x):\n    return [x for n in N]",
    "table that is written": "T = {'a': 1}\ndef f(x):\n    T['a'] = x\n    return T['a']",
    "table that is emptied": "T = {'a': 1, 'b': 1}\ndef f(x):\n    del T['a']\n    return x if 'b' in T else -x",
    "table that is handed on": "import operator\nT = {'a': 1}\ndef f(x):\n    operator.setitem(T, 'a', x)\n    return T['a']",
    "table of another name": "T = {'a': 1}\nS = T\ndef f(x):\n    operator.setitem(S, 'a', x)\n    return T['a']",
    "table by its method": "T = {'a': 1}\ndef f(x):\n    g = T.__setitem__\n    return T['a']",
    "table of lists": "T = {'a': []}\ndef f(x):\n    T['a'].append(x)\n    return len(T['a'])",
    "table that is made twice": "T = {'a': 1}\nT = dict(T)\ndef f(x):\n    return T['a']",
    "table of a class that is handed on": "class A:\n    T = {'a': 1}\n    def forward(self, x):\n        operator.setitem(self.T, 'a', x)\n        return x",
    "setattr on another": "class A:\n    def __init__(self, other):\n        setattr(other, 'calls', 1)",
    "setattr later": "class A:\n    def forward(self, x):\n        setattr(self, 'calls', 1)\n        return x",
    "setattr by a function of __init__": "class A:\n    def __init__(self):\n        self.f = lambda: setattr(self, 'n', self.n + 1)",
    "another name for it": "calls = [0]\nalias = calls\ndef f(x):\n    print(alias)\n    return x",
    "hung on a class": "class A: pass\ncalls = [0]\nA.calls = calls\ndef f(x):\n    print(A.calls)\n    return x",
    "decorator": "def counted(g):\n    calls = [0]\n    def h(x):\n        print(calls)\n        return g(x)\n    return h\n@counted\ndef f(x):\n    return x",
    "setitem of a layer": "class A:\n    def __init__(self):\n        self.n = [0]\n    def forward(self, x):\n        operator.setitem(self.n, 0, self.n[0] + 1)\n        return x",
    "copyto": "class A:\n    def __init__(self):\n        self.n = np.zeros(1)\n    def forward(self, x):\n        np.copyto(self.n, self.n + 1)\n        return x",
    "method by its hidden name": "class A:\n    def __init__(self):\n        self.n = [0]\n    def forward(self, x):\n        self.n.__setitem__(0, 1)\n        return x",
    "iterator of a layer": "class A:\n    def __init__(self):\n        self.n = iter(range(20))\n    def forward(self, x):\n        return [x for _ in self.n]",
    "generator of a layer": "class A:\n    def __init__(self):\n        self.n = (i for i in range(20))\n    def forward(self, x):\n        return [x for _ in self.n]",
    "random numbers of its own": "class A:\n    def __init__(self):\n        self.g = torch.Generator()\n    def forward(self, x):\n        return torch.rand(1, generator=self.g)",
    "batch norm": "class A:\n    def __init__(self):\n        self.n = nn.BatchNorm1d(1)\n    def forward(self, x):\n        return self.n(x)",
    "item removed": "class A:\n    def __init__(self):\n        self.n = [0, 1]\n    def forward(self, x):\n        del self.n[0]\n        return x",
    "threads": "def f(x):\n    torch.set_num_threads(torch.get_num_threads() + 1)\n    return x",
    "numpy prints": "def f(x):\n    np.set_printoptions(precision=np.get_printoptions()['precision'] + 1)\n    return x",
    "numpy's errors": "def f(x):\n    return x * np.geterr()['over']",
    "a setting by another name": "from torch import get_num_threads as sqrt\ndef f(x):\n    return sqrt() * x",
    "a module by another name": "t = torch\ndef f(x):\n    t.set_default_dtype(t.float64)\n    return x",
    "a backend": "def f(x):\n    torch.backends.mkldnn.enabled = False\n    return x",
    "a seed of one's own": "torch.manual_seed(0)\ndef f(x):\n    return x * torch.rand(1)",
    "the seed": "def f(x):\n    return x * torch.initial_seed()",
    "random numbers in place": "def f(x):\n    return x + np.random.default_rng(0).random()",
    "a list in an if": "if True:\n    d = [0]\ndef f(x):\n    k = d\n    return x",
    "a tensor by the way": "print(d := torch.zeros(()))\ndef f(x):\n    k = d\n    k += 1\n    return x",
    "data of a function": "def f(x):\n    f.data = 1\n    return x",
    "training of a class": "class A:\n    training = 0\ndef f(x):\n    A.training += 1\n    return x",
    "a frame": "def f(x):\n    g = (g.gi_frame.f_back for _ in [0])\n    return x",
    "an address": "def f(x):\n    return x * (x.data_ptr() % 2)",
    "figures": "def f(x):\n    plt.figure()\n    return x * len(plt.get_fignums())",
    "warnings": "import warnings\ndef f(x):\n    warnings.simplefilter('ignore')\n    return x * len(warnings.filters)",
    "classes of a base": "import numbers\ndef f(x):\n    numbers.Number.register(type('A', (), {}))\n    return x",
    "a library's table by a name": "def f(x):\n    k = mpl.colors.CSS4_COLORS\n    k['n'] = 1\n    return x",
    "by two names": "def f(x):\n    j = mpl.colors\n    k, n = j.CSS4_COLORS, 1\n    k.update(n=n)\n    return x",
    "in a choice": "def f(x):\n    k = None or mpl.colors.CSS4_COLORS\n    k['n'] = 1\n    return x",
    "in a loop": "def f(x):\n    for k in [mpl.colors.CSS4_COLORS]:\n        k['n'] = 1\n    return x",
    "in a comprehension": "def f(x):\n    return [k.update(n=1) for k in (mpl.colors.CSS4_COLORS,)]",
    "by the way": "def f(x):\n    (k := mpl.colors.CSS4_COLORS)['n'] = 1\n    print(k := mpl.colors.CSS4_COLORS)\n    k['m'] = 1",
    "of a with": "def f(x):\n    with held.open_now as k:\n        k.append(1)\n    return x",
    "an item of it": "def f(x):\n    k = mpl.rcParams['a']\n    k += [1]\n    return x",
    "what get returns": "def f(x):\n    k = mpl.held.get('a')\n    k.append(1)\n    return x",
    "a name that only a function inside has": "calls = []\ndef f(x):\n    g = lambda calls: calls\n    def h():\n        calls = 0\n    return x * len(calls)",
    "what hangs on a parameter": "class A:\n    def forward(self, x):\n        k = self.calls\n        k[0] += 1\n        return x",
    "an item of what hangs on a parameter": "def f(model, x):\n    k = model.table['a']\n    k.append(1)\n    return x",
    "the optimizer's rate": "def step(model, optimizer, x):\n    return x * optimizer.param_groups[0]['lr']",
    "the optimizer's steps": "def step(model, optimizer, x):\n    return x * len(optimizer.state)",
    "a table of a library, handed on": "def bump(t):\n    t['n'] = 1\ndef f(x):\n    bump(F.GRID_SAMPLE_INTERPOLATION_MODES)\n    return x",
    "a method of such a table": "grow = np.typecodes.update\ndef f(x):\n    grow(n=1)\n    return x",
    "matplotlib": "import matplotlib.colors\ndef f(x):\n    return x * len(matplotlib.colors.CSS4_COLORS)",
    "another name in a block": "d = [0]\nwith torch.no_grad():\n    k: list = d\ndef f(x):\n    return x * k[0]",
    "a count that Python keeps of a given function": "def f(x):\n    return x * digits.cache_info().hits",
    "a count of autograd's": "def f(x):\n    return x * x.grad_fn._sequence_nr()",
    "an attribute that nobody knows": "def f(x):\n    return x * digits.hits",
    "a hash": "def f(x):\n    return x * hash(x)",
    "lambda": "calls = []\nf = lambda x: calls.append(x)",
}
FORGETS = {
    "plain": "def f(x):\n    y = x + 1\n    y += 1\n    return y",
    "constants": "EPS = 1e-9\nROOT = 8 ** 0.5\ndef f(x, eps=EPS, scale=-1.0):\n    return x * ROOT + eps",
    "own table": "def f(x):\n    seen = {}\n    seen[x] = 1\n    return seen",
    "a name of one's own": "def f(x):\n    state = x + 1\n    for next in (1, 2):\n        state = state * next\n    return state",
    "layers in a loop": "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        for name in ('W_Q', 'W_K'):\n            self.add_module(name, nn.Linear(2, 3))\n    def forward(self, x):\n        return self.W_Q(x)",
    "in place on its own": "def f(x):\n    y = x.clone()\n    y.add_(1)\n    y[0] = 2\n    return y",
    "training step": "def step(model, optimizer, x):\n    model.train()\n    for p in model.parameters():\n        p.grad = None\n    optimizer.step()",
    "layers": "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.W = nn.Linear(2, 3)\n        self.W.weight.data.mul_(2)\n    def forward(self, x):\n        return self.W(x)",
    "kept for a look, never read": "class A(nn.Module):\n    def forward(self, x):\n        self.weights = x.softmax(-1)\n        return x",
    "rows of its own": "def f(x):\n    rows = []\n    for row in x:\n        rows.append(row.exp().div_(row.sum()))\n    return torch.stack(rows)",
    "gradients by hand": "def step(model, optimizer, x):\n    for p in model.parameters():\n        p.grad.zero_()\n        p.data.sub_(p.grad)",
    "first weights": "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.parts = []\n        self.parts.append(1)\n        self.W = nn.Linear(2, 3)\n        self.W.weight.data[0] = 1",
    "functions of a module": "def f(x, layer):\n    nn.init.normal_(layer)\n    return torch.add(x, 1)",
    "named tuple": "from collections import namedtuple\nPair = namedtuple('Pair', ['output', 'weights'])\ndef f(x):\n    return Pair(x, x)",
    "table": "T = {'linear': nn.Linear, 'none': lambda a, b: None}\ndef f(x, kind):\n    return T[kind](2, 3) if kind in T else None",
    "table of a class": "class A(nn.Module):\n    KINDS = {'linear': nn.Linear}\n    def __init__(self, kind):\n        super().__init__()\n        if kind not in self.KINDS:\n            raise ValueError(', '.join(self.KINDS.keys()))\n        self.W = self.KINDS[kind](2, 3)\n    def forward(self, x):\n        return self.W(x)",
    "decorators": "class A:\n    @staticmethod\n    @torch.no_grad()\n    def f(x):\n        return x",
    "attributes by name": "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        for name in ('W_Q', 'W_K'):\n            setattr(self, name, nn.Linear(2, 3))\n    def forward(self, x):\n        return self.W_Q(x)",
    "a parameter like another": "def f(x, cache=None):\n    if cache is not None:\n        x = cat([cache[0], x])\n    return x, (x,)",
    "a name like another": "def f(x):\n    count = len(x)\n    return count",
    "operations": "def f(x, n):\n    y = torch.einsum('ij->ji', x) + torch.zeros(2, n, dtype=torch.float64).fill_(torch.pi)\n    return F.normalize(torch.linalg.norm(y)), np.tril(np.ones((n, n))).astype(np.float32)",
    "names for what is handed in": "def f(x, pair):\n    q, k = pair\n    n = x.shape[-1]\n    y = q.clone()\n    y[0] = n\n    rows = [y for y in x]\n    rows += [n]\n    mask = torch.ones(n, dtype=torch.bool)\n    mask[0] = False\n    return y",
    "a draw in a cell": "x = torch.randn(2, 2)\nprint(x.shape)",
    "imports": "import math\nfrom itertools import pairwise\nimport torch.nn.functional as F\ndef f(x):\n    return F.softmax(x, -1)",
    "does not parse": "def f(x:\n",
}


@pytest.mark.parametrize("source", REMEMBERS.values(), ids=REMEMBERS)
def test_what_may_remember(source: str) -> None:
    assert may_remember([source])


@pytest.mark.parametrize("source", FORGETS.values(), ids=FORGETS)
def test_what_forgets(source: str) -> None:
    assert not may_remember([source])


@pytest.mark.parametrize("reads", ["steps", "len(record)", "(record or {}).get('losses')", "str(steps)"])
def test_what_tells_a_sample_from_a_training_counts(reads: str) -> None:
    source = f"def f(x):\n    return x * bool({reads})"
    assert may_remember([source], told={"steps", "record"})
    assert not may_remember([source])
    assert not may_remember(["def f(x, steps):\n    return x * steps"], told={"steps"})


TELLS = {
    "itself": "n = train_steps is None",
    "with an annotation": "n: int = train_steps",
    "by the way": "print(n := train_steps)",
    "a loop": "for n in (train_steps,):\n    pass",
    "added": "n = 0\nn += seed",
    "with": "with torch.no_grad():\n    n = train_steps",
    "a choice": "n = 3\nif train_steps:\n    def n(x): return x",
    "a class": "class n:\n    calls = train_steps",
    "a cell that stops": "n = 3\n1 / (seed == 0)\nn = 4",
    "what IPython keeps": "n = In[-1]",
    "a cell by its number": "n = _i1",
    "match": "match train_steps:\n    case n:\n        pass",
    "an error": "try:\n    1 / seed\nexcept Exception as n:\n    pass",
    "a default": "def n(x=seed): return x",
    "a decorator": "@(print if seed else len)\ndef n(): pass",
    "a given name": "n = steps",
}


@pytest.mark.parametrize("source", TELLS.values(), ids=TELLS)
def test_what_is_computed_from_what_tells_counts(source: str) -> None:
    answer, given = "def f(x):\n    return x * bool(n)", ["seed = 0", "import torch\nsteps = train_steps or 400"]
    assert "n" in told_names(given, [source, answer], {"seed", "train_steps"})
    assert told_names(given, ["n = 3", answer], {"seed", "train_steps"}) == {*HISTORY, "seed", "train_steps", "steps"}


def test_a_look_at_the_training_does_not_count() -> None:
    look, answer = "fig, ax = plt.subplots()\nax.plot(record)", "def f(x):\n    return x * EPS"
    told = told_names(["from matplotlib import pyplot as plt"], [look, "EPS = 1e-6", answer], {"record"})
    assert not may_remember([look, "EPS = 1e-6", answer], told=told)


def test_what_one_cell_holds_another_may_use() -> None:
    assert may_remember(["seen = []", "def f(x):\n    return seen + [x]"])


def given_cells(assignment: str) -> list:
    return nbformat.read(course_root() / "solutions" / assignment / f"{assignment}.ipynb", as_version=4).cells


@pytest.mark.parametrize("assignment", lessons())
def test_no_solution_may_remember(assignment: str) -> None:
    cells = given_cells(assignment)
    answers = [cell.source for cell in cells if cell.id.startswith("exercise-")]
    assert not may_remember(answers, given=[cell.source for cell in cells if cell.cell_type == "code"])


def test_few_right_answers_may_remember() -> None:
    right = [(name, variant) for name in lessons() for variant in variants(name)]
    given = {name: [cell.source for cell in given_cells(name) if cell.cell_type == "code"] for name in lessons()}
    odd = [one.name for name, one in right if may_remember([one.source], given=given[name])]
    assert len(odd) <= len(right) * 0.06, odd


def test_what_no_training_calls_may_use_anything() -> None:
    look = "def show(figure):\n    figure.canvas.draw_idle()"
    assert may_remember([look])
    assert not may_remember([], others=[look])
    assert not may_remember(["def f(layer):\n    return layer.canvas"], given=["figure.canvas = None"])


def test_a_name_that_the_training_calls_is_no_result_of_a_call() -> None:
    source = "from functools import partial\ndef g(calls, x):\n    return x\nf = partial(g, [0])"
    assert may_remember((source,), {"f"})
    assert not may_remember((source,), {"g"})
