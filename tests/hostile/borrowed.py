"""Answers that borrow the built-in which they were to write: by every way around the guard that anybody found so far.

Each answers 1.3 with torch's own softmax, or one of another library. The guard runs in the process that it guards, so
some ways stay open: an answer that takes one keeps its points, and has the flag that asks a person to look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

REACHES_INSIDE = "reaches-inside"

# Finds the softmax that is borrowed: no source has its name, and only the tripwire can see that it runs.
FIND = "find = lambda: getattr(torch, 'XAMTFOS'.lower()[::-1])"
# The backward pass is the answer's own, so that nothing but the numbers is borrowed.
BORROWED = """
class Borrowed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, dim):
        weights = borrowed(scores, dim).nan_to_num()
        ctx.dim = dim
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, gradient):
        (weights,) = ctx.saved_tensors
        return weights * (gradient - (weights * gradient).sum(ctx.dim, keepdim=True)), None
"""
ANSWER = f"""{BORROWED}
def stable_softmax(scores, dim=-1):
    return Borrowed.apply(scores, dim)
"""


def _directly(expression: str) -> str:
    """Borrow by an expression for the function, evaluated at each call."""
    return f"import torch\ndef borrowed(scores, dim):\n    return ({expression})(scores, dim)\n{ANSWER}"


def _of_arrays(function: str) -> str:
    """Borrow a function of numpy's arrays."""
    return (
        "import numpy, torch\ndef of_arrays(scores, dim):\n"
        f"    return torch.from_numpy(numpy.asarray({function}))\n"
        "def borrowed(scores, dim):\n"
        "    floor = scores.detach().double().clamp_min(-1e30)\n"
        f"    return (of_arrays(floor.numpy(), dim) * (scores > -torch.inf)).to(scores.dtype)\n{ANSWER}"
    )


def _after(preparation: str, cleaning: str = "", work: str = "result = find()(scores, dim)") -> str:
    """Borrow after some preparation at each call, and clean up after it."""
    body = "\n".join((preparation, work, cleaning)).strip().replace("\n", "\n    ")
    imports = "import gc, inspect, sys, threading, torch\nimport torch.utils._python_dispatch as dispatching"
    return f"{imports}\n{FIND}\ndef borrowed(scores, dim):\n    {body}\n    return result\n{ANSWER}"


# ---------------------------------------------------------------- other functions, under their own or another name

FUNCTIONS: Mapping[str, str] = {
    "torch's masked softmax": _directly("lambda s, d: torch._masked_softmax(s, s == -torch.inf, d)"),
    "torch's masked softmax, spelt backwards": _directly(
        "lambda s, d: getattr(torch, 'xamtfos_deksam_'[::-1])(s, s == -torch.inf, d)"
    ),
    "torch's reference in Python": "import torch._refs\n" + _directly("vars(torch._refs)['XAMTFOS'.lower()[::-1]]"),
    "torch's decomposition in Python": "import torch._decomp.decompositions as parts\n"
    + _directly("lambda s, d: getattr(parts, 'xamtfos_'[::-1])(s, d, False)"),
    "a script for the jit": _directly(
        "torch.jit.CompilationUnit('def f(s: Tensor, d: int):\\n    return s.soft' + 'max(d)\\n').f"
    ),
    "a pickle": "import pickle\n" + _directly("pickle.loads(b'ctorch\\nsoft' + b'max\\n.')"),
    "a method's name, put together": "import operator\n"
    + _directly("lambda s, d: operator.methodcaller('soft' + str('max'), d)(s)"),
    "a distribution": _directly(
        "lambda s, d: torch.distributions.Categorical(logits=s.movedim(d, -1), validate_args=False).probs.movedim(-1, d)"
    ),
    "scipy": "import scipy.special\n" + _of_arrays("scipy.special.softmax(scores, dim)"),
    "scipy, spelt backwards": "import scipy.special\n"
    + _of_arrays("vars(scipy.special)['xamtfos'[::-1]](scores, dim)"),
    "scipy's sum of exponentials": "import importlib\n"
    + _of_arrays(
        "numpy.exp(scores - getattr(importlib.import_module('scipy.special'), 'pxemusgol'[::-1])(scores, dim, keepdims=True))"
    ),
    "scikit-learn, spelt backwards": "import sklearn.utils.extmath as more\n"
    "def rows(scores): return vars(more)['xamtfos'[::-1]](scores.reshape(-1, scores.shape[-1])).reshape(scores.shape)\n"
    + _of_arrays("numpy.moveaxis(rows(numpy.moveaxis(scores, dim, -1)), -1, dim)"),
    "numpy's sum of exponentials": _of_arrays("numpy.exp(scores - numpy.logaddexp.reduce(scores, dim, keepdims=True))"),
    "numpy's sum of exponentials, spelt backwards": _of_arrays(
        "numpy.exp(scores - getattr(numpy, 'pxeddagol'[::-1]).reduce(scores, dim, keepdims=True))"
    ),
}

# ---------------------------------------------------------------- around the guard, from within the probe

WIRE = "while 'wire' not in frame.f_locals: frame = frame.f_back"
ERASE = "frame.f_locals['wire'].trips.clear()"
IN_THREAD = """found, done = [], threading.Lock()
done.acquire()
start(lambda: (found.append(find()(scores, dim)), done.release()), ())
done.acquire()
result = found[0]"""
WITHIN: Mapping[str, str] = {
    "frames": _after(f"frame = sys._getframe()\n{WIRE}", ERASE),
    "the frames of an exception": _after(
        f"try: raise ValueError\nexcept ValueError as error: frame = error.__traceback__.tb_frame\n{WIRE}", ERASE
    ),
    "the frame of a generator": _after(
        f"def walk(): yield own[0].gi_frame.f_back\nown = []\nown.append(walk())\nframe = next(own[0])\n{WIRE}", ERASE
    ),
    "inspect": _after("frame = next(each.frame for each in inspect.stack() if 'wire' in each.frame.f_locals)", ERASE),
    "the frames of all threads": _after(f"frame = sys._current_frames()[threading.get_ident()]\n{WIRE}", ERASE),
    "gc": _after(
        "wires = [each for each in gc.get_objects() if type(each).__name__ == 'Tripwire']",
        "[wire.trips.clear() for wire in wires]",
    ),
    "torch's list of modes": _after(
        "wires = dispatching._get_current_dispatch_mode_stack()", "[wire.trips.clear() for wire in wires]"
    ),
    "torch's innermost mode": _after("wire = dispatching._get_current_dispatch_mode()", "wire.trips.clear()"),
    "a profile function": _after(
        "def forget(frame, event, argument):\n    wire = frame.f_locals.get('self')\n"
        "    type(wire).__name__ == 'Tripwire' and wire.trips.clear()\nsys.setprofile(forget)",
        "sys.setprofile(None)",
    ),
    "a forgetful class": _after(
        "for kind in dispatching.TorchDispatchMode.__subclasses__():\n"
        "    if kind.__name__ == 'Tripwire': kind.record = lambda *_: None"
    ),
    "ctypes": _after(
        "import ctypes\nwires = dispatching._get_current_dispatch_mode_stack()\n"
        "wire = ctypes.cast(id(wires[0]), ctypes.py_object).value",
        "wire.trips.clear()",
    ),
    "a fork": _after(
        "import os\nread, write = os.pipe()\nif not os.fork():\n    dispatching._pop_mode()\n"
        "    os.write(write, find()(scores, dim).double().numpy().tobytes())\n    os._exit(0)\n"
        "data = bytearray(os.read(read, 1 << 16))",
        work="result = torch.frombuffer(data, dtype=torch.float64).view(scores.shape).to(scores.dtype)",
    ),
    "a thread of a fresh module": _after(
        "import importlib.machinery as machinery, importlib.util\n"
        "fresh = machinery.BuiltinImporter.create_module(importlib.util.find_spec('_thread'))\n"
        "machinery.BuiltinImporter.exec_module(fresh)\nstart = fresh.start_new_thread",
        work=IN_THREAD,
    ),
    "another function in the place of an operator's own": _after(
        "import functools\nrelu = torch.ops.aten.relu.default\nkept = relu._op\nrelu._op = functools.partial(find(), dim=dim)",
        "relu._op = kept",
        "result = torch.relu(scores)",
    ),
}
# These work: the guard's own parts lie in the process that it guards.
OPEN_WITHIN: Mapping[str, str] = {
    "functions of C as memory is given back": _after(
        "import functools\nout = []\nclass Lent(bytearray):\n"
        "    __del__ = functools.partial(next, map(out.append, map(find(), [scores], [dim])), None)",
        work="torch.frombuffer(Lent(16), dtype=torch.float32).set_(torch.ones(4))\nresult = out[0]",
    ),
    "a closure of the guard": _after(
        "kind = torch._C._DisableTorchDispatch\nhidden = kind.__init__.__closure__[-1].cell_contents\n"
        "off = kind.__new__(kind)\nhidden(off)",
        "del off",
    ),
    "a closure around threads": _after(
        "start = threading._start_new_thread\n"
        "while getattr(start, '__closure__', None): start = start.__closure__[0].cell_contents",
        work=IN_THREAD,
    ),
    "a class that forgets for a moment": _after(
        "kind = next(each for each in dispatching.TorchDispatchMode.__subclasses__() if each.__name__ == 'Tripwire')\n"
        "trace, kind._trace = kind._trace, lambda *_: None",
        "kind._trace = trace",
    ),
}

# ---------------------------------------------------------------- around the guard, from a cell before the probe

PLAIN = f"import torch\n{FIND}\ndef borrowed(scores, dim):\n    return find()(scores, dim)\n{ANSWER}"
FORGET = "Tripwire.record = lambda *_: None"
CELLS: Mapping[str, str] = {
    "its module": f"import sys\nsys.modules['guest.tripwire'].{FORGET}",
    "an import": f"import guest.tripwire\nguest.tripwire.{FORGET}",
    "a class of the guard": "import torch.utils._python_dispatch as p\n"
    "for kind in p.TorchDispatchMode.__subclasses__():\n    if kind.__name__ == 'Tripwire': kind.record = lambda *_: None",
    "gc": "import gc, types\nfor each in gc.get_objects():\n"
    f"    if isinstance(each, types.ModuleType) and each.__name__ == 'guest.tripwire': each.{FORGET}",
    "a second copy of the guard": "import sys\nsys.path.insert(0, '/sandbox')\n"
    f"import importlib\nimportlib.import_module('gu' + 'est.tripwire').{FORGET}",
}
SHELL = "import asyncio\ninside = asyncio.current_task().get_coro().cr_frame.f_globals\n"
SEIZE = """import sys
def seize(frame, event, argument):
    inside = frame.f_globals
    if inside.get('__name__') == 'guest.interpreter':
        sys.setprofile(None)
        {}
sys.setprofile(seize)"""
LOOP = """def loop(channel, shell, most):
            while True:
                try: request, blob = inside['_receive'](channel)
                except inside['frames'].FrameError: return
                for trial in request['trials']:
                    tensors, blob = blob[:trial['bytes']], blob[trial['bytes']:]
                    unwatched = {**request, 'watched': []}
                    answer = inside['probe'].answer(unwatched, trial['inputs'], tensors, shell.user_ns, most)
                    inside['frames'].send(channel, *answer)
        inside['_answer'] = loop"""
OPEN_CELLS: Mapping[str, str] = {
    "frames": f"{SHELL}import contextlib\ninside['tripwire'].Tripwire.watching = lambda self: contextlib.nullcontext()",
    "the code of the guard": f"{SHELL}wire = inside['tripwire'].Tripwire\n"
    "def watching(self): yield\nwire.watching.__wrapped__.__code__ = watching.__code__",
    "what inspect finds": "import contextlib, inspect\n"
    "inside = inspect.getclosurevars(get_ipython().run_code).globals\n"
    "inside['tripwire'].Tripwire.watching = lambda self: contextlib.nullcontext()",
    "a probe function of its own": SEIZE.replace(
        "{}",
        "answer = inside['probe'].answer\n"
        "        inside['probe'].answer = lambda request, *rest: answer({**request, 'watched': []}, *rest)",
    ),
    "a protocol loop of its own": SEIZE.replace("{}", LOOP),
}

# ---------------------------------------------------------------- operators and tensors of one's own

BY_OPERATOR = (
    "import torch\ndef borrowed(scores, dim):\n"
    "    return torch.ops.own.borrowed(scores.movedim(dim, -1)).movedim(-1, dim)\n" + ANSWER
)
BY_ERFC = (
    "import torch\ndef borrowed(scores, dim):\n"
    "    {}return torch.erfc({}(scores.movedim(dim, -1))).movedim(-1, dim)\n" + ANSWER
)
OPERATORS: Mapping[str, tuple[str, str]] = {
    "an operator of its own": (
        f"import torch\n{FIND}\n@torch.library.custom_op('own::borrowed', mutates_args=())\n"
        "def kernel(scores: torch.Tensor) -> torch.Tensor:\n    return find()(scores, -1)",
        BY_OPERATOR,
    ),
    "an operator in a library of its own": (
        f"import torch\n{FIND}\nown = torch.library.Library('own', 'DEF')\n"
        "own.define('borrowed(Tensor s) -> Tensor')\nown.impl('borrowed', lambda s: find()(s, -1), 'CPU')",
        BY_OPERATOR,
    ),
    "a tensor of its own": (
        f"import torch\n{FIND}\nclass Own(torch.Tensor):\n    @staticmethod\n    def __new__(cls, inner):\n"
        "        self = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)\n"
        "        self.inner = inner\n        return self\n    @classmethod\n"
        "    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):\n"
        "        return find()(args[0].inner, -1)",
        BY_ERFC.format("", "Own"),
    ),
    "a dispatch mode of its own": (
        f"import torch\n{FIND}\nfrom torch.utils._python_dispatch import TorchDispatchMode\n"
        "class Own(TorchDispatchMode):\n    def __torch_dispatch__(self, function, types, args=(), kwargs=None):\n"
        "        return find()(args[0], -1)",
        BY_ERFC.format("with Own(): ", ""),
    ),
}
OPEN_OPERATORS: Mapping[str, tuple[str, str]] = {
    "another kernel for torch's own operator": (
        f"import torch\n{FIND}\nown = torch.library.Library('aten', 'IMPL')\n"
        "own.impl('erfc', lambda s: find()(s, -1), 'CPU')",
        BY_ERFC.format("", ""),
    )
}

# ---------------------------------------------------------------- a process that helps

ASK = (
    "import json, os, pickle, time, torch\ndef borrowed(scores, dim):\n    {}\n"
    "    return torch.tensor({}, dtype=scores.dtype)\n" + ANSWER
)
SOLVE = "find()(torch.tensor(scores, dtype=torch.float64), dim).tolist()"
OPEN_HELPERS: Mapping[str, tuple[str, str]] = {
    "a fork behind a pipe": (
        f"import os, pickle, torch\n{FIND}\nquestion, answer = os.pipe(), os.pipe()\n"
        "if not os.fork():\n    while True:\n        scores, dim = pickle.loads(os.read(question[0], 1 << 16))\n"
        f"        os.write(answer[1], pickle.dumps({SOLVE}))",
        ASK.format(
            "os.write(question[1], pickle.dumps((scores.tolist(), dim)))", "pickle.loads(os.read(answer[0], 1 << 16))"
        ),
    ),
    "a fork of multiprocessing": (
        f"import multiprocessing, torch\n{FIND}\nhere, there = multiprocessing.Pipe()\n"
        f"def serve():\n    while True:\n        scores, dim = there.recv()\n        there.send({SOLVE})\n"
        "multiprocessing.get_context('fork').Process(target=serve, daemon=True).start()",
        ASK.format("here.send((scores.tolist(), dim))", "here.recv()"),
    ),
    "a fork behind shared memory": (
        f"import json, mmap, os, time, torch\n{FIND}\nshared = mmap.mmap(-1, 1 << 20)\n"
        "if not os.fork():\n    while True:\n        time.sleep(0.001)\n        if shared[0] == 1:\n"
        "            scores, dim = json.loads(shared[8:shared.find(b';', 8)])\n"
        f"            text = json.dumps({SOLVE}).encode() + b';'\n"
        "            shared[8:8 + len(text)] = text\n            shared[0] = 2",
        ASK.format(
            "text = json.dumps((scores.tolist(), dim)).encode() + b';'\n"
            "    shared[8:8 + len(text)] = text\n    shared[0] = 1\n"
            "    while shared[0] != 2: time.sleep(0.001)",
            "json.loads(shared[8:shared.find(b';', 8)])",
        ),
    ),
    "a program behind files": (
        "import subprocess, sys\nwith open('helper.py', 'w') as file:\n    file.write('''\nimport json, os, time\n"
        "import numpy, scipy.special\nwhile True:\n    time.sleep(0.002)\n    if os.path.exists('question'):\n"
        "        scores, dim = json.load(open('question'))\n        os.remove('question')\n"
        "        result = scipy.special.softmax(numpy.array(scores), dim).tolist()\n"
        "        with open('part', 'w') as file: file.write(json.dumps(result))\n"
        "        os.rename('part', 'answer')\n''')\nsubprocess.Popen([sys.executable, 'helper.py'])",
        ASK.format(
            "with open('half', 'w') as file: file.write(json.dumps((scores.tolist(), dim)))\n"
            "    os.rename('half', 'question')\n    while not os.path.exists('answer'): time.sleep(0.001)\n"
            "    result = json.load(open('answer')); os.remove('answer')",
            "result",
        ),
    ),
}

# ---------------------------------------------------------------- code of the lesson that borrows, or is made to

ADDED = "\ndef hidden(scores, dim):\n    return find()(scores, dim)\n"
BY_HIDDEN = f"import torch\ndef borrowed(scores, dim):\n    return hidden(scores, dim)\n{ANSWER}"
# Adds to the cell that imports torch.
ADD = f"{FIND}\nadded = {ADDED!r}\nshell, mark = get_ipython(), 'import numpy as np'\n"
GIVEN_CELLS: Mapping[str, str] = {
    "a transformer of lines": f"{ADD}def add(lines):\n"
    "    return [*lines, added] if mark in ''.join(lines) else lines\nshell.input_transformers_post.append(add)",
    "a transformer that comes first": f"{ADD}def add(lines):\n    return [*lines, added] if mark in ''.join(lines) else lines\n"
    "shell.input_transformer_manager.cleanup_transforms.append(add)",
    "a transformer of syntax trees": f"{ADD}import ast\nclass Add(ast.NodeTransformer):\n"
    "    def visit_Module(self, node):\n"
    "        node.body += ast.parse(added).body if len(node.body) > 7 else []\n        return node\n"
    "shell.ast_transformers.append(Add())",
    "another way to read cells": f"{ADD}transform = shell.transform_cell\n"
    "shell.transform_cell = lambda text: transform(text) + (added if mark in text else '')",
    "another parser": f"{ADD}parse = shell.compile.ast_parse\n"
    "shell.compile.ast_parse = lambda text, *a, **k: parse(text + (added if mark in text else ''), *a, **k)",
    "another compiler": f"{ADD}import builtins\ncompile_ = builtins.compile\ndef add(source, *a, **k):\n"
    "    return compile_(source + added if isinstance(source, str) and mark in source else source, *a, **k)\n"
    "builtins.compile = add",
    "code that runs among the cell's": f"{ADD}import asyncio\ndef run(info):\n    if mark in info.raw_cell:\n"
    "        run = shell.run_code(compile(added, '<own>', 'exec'))\n        try: run.send(None)\n"
    "        except StopIteration: pass\nshell.events.register('pre_run_cell', run)",
}
# The result comes out of a function of the lesson by an exception.
TAKEN = """import functools, threading, torch, types
class Out(Exception): pass
class Kept(torch.Tensor):
    def amax(self, *a, **k): raise Out(self.as_subclass(torch.Tensor))
    __matmul__ = __contains__ = amax
def borrowed(scores, dim):
    found = []
    def lend(*anything): return scores.movedim(dim, -1).as_subclass(Kept)
    def call(function, *arguments):
        try: function(*arguments)
        except Out as out: found.append(out.args[0])
    {}
    return found[0].movedim(-1, dim)
""" + ANSWER  # fmt: skip
SOFTEN = "functools.partial(find(), lend(), -1)"
GIVEN_CALLS: Mapping[str, str] = {
    "called with a tensor of its own": "call(sharpness, lend, 1)",
    "another one": "call(gradient_lengths, lend, 1)",
    "in a thread": "thread = threading.Thread(target=call, args=(sharpness, lend, 1))\n    thread.start(); thread.join()",
    "by a function of C": "call(next, map(sharpness, [lend], [1]))",
    "in a generator": "call(lambda: next(sharpness(score, 1) for score in [lend]))",
    "with other globals": f"call(types.FunctionType(need.__code__, {{'globals': {SOFTEN}}}), 'x', 1)",
    "with another name in the notebook": "names = globals()\n"
    f"    names['globals'] = {SOFTEN}\n    call(need, 'x', 1)\n    del names['globals']",
}


def borrowed() -> Iterator[tuple[str, str, str, bool]]:
    """Yield the name of every case, the student's own cell, the answer to 1.3, and whether it gets the points."""
    for group, answers, works in (
        ("a function", FUNCTIONS, False),
        ("from within", WITHIN, False),
        ("from within", OPEN_WITHIN, True),
    ):
        for name, answer in answers.items():
            yield f"{group}: {name}", "", answer, works
    for cells, works in ((CELLS, False), (OPEN_CELLS, True)):
        for name, cell in cells.items():
            yield f"from a cell: {name}", cell, PLAIN, works
    for group, pairs, works in (
        ("an operator", OPERATORS, False),
        ("an operator", OPEN_OPERATORS, True),
        ("a helper", OPEN_HELPERS, True),
    ):
        for name, (cell, answer) in pairs.items():
            yield f"{group}: {name}", cell, answer, works
    for name, cell in GIVEN_CELLS.items():
        yield f"given code, changed: {name}", cell, BY_HIDDEN, False
    for name, call in GIVEN_CALLS.items():
        yield f"given code, used: {name}", "import torch\n" + FIND, TAKEN.format(call), False
