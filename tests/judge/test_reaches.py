"""What reaches past the exercise is flagged, and no right answer is."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import jupytext
import pytest

from corpus.answers import BLIND, answers
from grader.course import lessons
from grader.judge import reaches as module
from grader.judge.reaches import ALL_NAMES, PUT_TOGETHER, reaches

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import gc\nfound = gc.get_objects()", "get_objects"),
        ("import ctypes", "ctypes"),
        ("import timeit\ntimeit.timeit('import onnxruntime; box.append(1)', globals=names)", "onnxruntime"),
        ("import pkgutil\nrun = pkgutil.resolve_name('x:y')", "resolve_name"),
        ("match f:\n    case object(__globals__=found):\n        pass", "__globals__"),
        ("from operator import attrgetter\nf = attrgetter('a.f_globals')", "f_globals"),
        ("import string\nf = string.Formatter().get_field('0.__globals__', (g,), {})", "__globals__"),
        ("import pickle\nf = pickle.loads(b'cctypes\\nCDLL\\n.')", "loads"),
        ("import traceback\nf = list(traceback.walk_stack(None))", "walk_stack"),
        ("import runpy\nrunpy.run_path('x.py')", "run_path"),
        ("import code\ncode.InteractiveInterpreter().runsource('x')", "InteractiveInterpreter"),
        ("CDLL = np.ctypeslib.ctypes.CDLL", "ctypeslib"),
        ("key = ['setprofile']\ngetattr(threading, key[0])(None)", "setprofile"),
        ("threads.__dict__['_profile_hook'] = None", "_profile_hook"),
        ("operator._op_dk(key, scores, -1, False)", "_op_dk"),
        ("torch.ops.aten.relu.default._op = mine", "_op"),
        ("import sys\nguard = sys.getprofile().__self__", "getprofile"),
        ("class Lent(bytearray):\n    __del__ = partial(next, jobs)", "__del__"),
        ("class Lent(bytearray):\n    def __del__(self):\n        jobs.pop()()", "__del__"),
        ("import marshal\nexec(marshal.loads(kept))", "marshal"),
        ("from torch.fx.experimental.proxy_tensor import make_fx", "torch.fx.experimental.proxy_tensor"),
        ("at = lambda o, s: next(getattr(o, n) for n in dir(o) if n.startswith(s))", "a name that is put together"),
        ("import json\njson.loads = mine", "a part of a library is replaced"),
        ("torch._C._push = mine", "a part of a library is replaced"),
        ("setattr(torch, 'softmax', mine)", "a part of a library is replaced"),
        ("mode.__class__ = M", "__class__ = …"),
        ("mode.__mro__[1].__enter__ = enter", "__enter__ = …"),
        ("import inspect\ninspect.getclosurevars(get_ipython().run_code)", "getclosurevars"),
        ("from unittest.mock import Mock", "unittest.mock"),
        ("import os\nos.system('sleep 9 &')", "system"),
        ("from ctypes import py_object", "ctypes"),
        ("frame = __import__('sys')._getframe()", "_getframe"),
        ("import inspect\ninspect.stack()", "stack"),
        ("def f(): pass\nf.__closure__[0].cell_contents", "__closure__"),
        ("print(open('/sandbox/guest/probe.py').read())", "/sandbox"),
        ("import torch.library", "torch.library"),
        ("from torch import library", "library"),
        ("@torch.library.custom_op('a::b', mutates_args=())\ndef f(x): ...", "custom_op"),
        ("class T(torch.Tensor):\n    def __torch_dispatch__(*_): ...", "__torch_dispatch__"),
        ("import os\nos.fork()", "fork"),
        ("import subprocess\nsubprocess.Popen(['true'])", "Popen"),
        ("!nohup python helper.py &", "a process in the background"),
        ("%%bash --bg\nsleep 100", "a process in the background"),
        ("vars(F)['SOFTMAX'.lower()]", PUT_TOGETHER),
        ("torch.__dict__.get(name)", PUT_TOGETHER),
        ("getattr(F, 'soft' + str('max'))", PUT_TOGETHER),
        ("getattr(scores, 'soft' + str('max'))(-1)", PUT_TOGETHER),
        ("n = 'xamtfos'[::-1]\ngetattr(torch, n)", PUT_TOGETHER),
        ("globals()['XAM'.lower()[::-1] + rest]", PUT_TOGETHER),
        ("eval(text)", PUT_TOGETHER),
        ("from numpy import *\nfound = [each for each in globals().values() if acts(each)]", ALL_NAMES),
        ("for value in vars().values(): print(value)", ALL_NAMES),
        ("mine = {**locals()}", ALL_NAMES),
        ("found = [globals()[n] for n in globals() if len(n) == 7]", ALL_NAMES),
        ("np.sum = mine", "a part of a library is replaced"),
        ("import sklearn._loss._loss as losses", "sklearn._loss._loss"),
        ("from torch._inductor import aoti_load_package", "torch._inductor"),
        ("torch._inductor.aoti_load_package('x.pt2')", "_inductor"),
        ("import onnxruntime as engine", "onnxruntime"),
        ("__import__('_ctypes')", "_ctypes"),
        ("importlib.util.find_spec('sklearn._loss')", "sklearn._loss"),
        ("from cv2 import dnn", "dnn"),
        ("import cv2\ncv2.dnn.readNetFromONNX(model)", "dnn"),
        ("from torch.utils.cpp_extension import load_inline", "torch.utils.cpp_extension"),
        ("import gc\ngc.callbacks.append(late)", "callbacks"),
        ("from torch import _C", "_C"),
    ],
)
def test_what_reaches_inside_is_named(source: str, found: str) -> None:
    assert found in reaches(source)


@pytest.mark.parametrize(
    "source",
    [
        "import gc\ngc.collect()",
        "torch.backends.cudnn.deterministic = True",
        "self.weight.data = torch.zeros(3)",
        "import sys\nIN_COLAB = 'google.colab' in sys.modules",
        "heads = [getattr(self, f'head_{i}') for i in range(4)]",
        "for name in ('query', 'key'):\n    show(getattr(layer, f'W_{name}'))",
        "dtype = getattr(torch, name)",
        "globals()[f'scores_{i}']",
        "model.eval()\ntorch.stack([a, b])",
        "import subprocess\nsubprocess.run(['nvidia-smi'])",
        "!pip install torch && echo done",
        "# the process of attention\nprint('in process')",
        "def f(x",
        "x = eval('2 + 3')",
        "if 'weights' in globals() and globals().get('mask') is None: print(vars()['weights'])",
        "_hidden = self._weights\nfrom __future__ import annotations",
        "import unittest\nclass Test(unittest.TestCase): ...",
        "torch.Tensor.__repr__ = lambda self: str(self.shape)",
        "names = [n for n in globals() if not n.startswith('_')]",
        "print(len(globals()), sorted(vars()))",
        "np.float = float\nnumpy.bool = bool",
    ],
)
def test_what_students_write_is_no_reach(source: str) -> None:
    assert reaches(source) == ()


def right_answers() -> Iterator[tuple[str, str]]:
    """Yield every right writing of an answer that the project has, and the answers of the diagnosis corpus."""
    for assignment, lesson in lessons().items():
        for cell in jupytext.read(ROOT / "solutions" / f"{assignment}.py", fmt="py:percent").cells:
            if cell.cell_type == "code" and cell.metadata.get("exercise"):
                yield f"solution {cell.metadata['exercise']}", cell.source
        for exercise in lesson.exercises:
            for writing in exercise.reference:
                yield f"{exercise.id} {writing.__name__}", inspect.getsource(writing)
    for corpus in (*BLIND, "variants"):
        for answer in answers(corpus):
            yield f"{answer.exercise} {answer.name}", answer.source


def test_no_right_answer_is_flagged() -> None:
    answers = list(right_answers())
    assert len(answers) > 1_000
    assert [(name, reaches(source)) for name, source in answers if reaches(source)] == []


def test_names_within_names_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: each lookup may read a bounded part of what lies within it."""
    read = []
    monkeypatch.setattr(module, "_is_odd_text", lambda node: bool(read.append(node)))
    depth = 90  # what Python's parser takes
    reaches("getattr(a, " * depth + "b" + ")" * depth + "  # deep")
    assert len(read) < depth * (module.MOST_PARTS + 4)
