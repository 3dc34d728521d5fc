"""What honest notebooks do still works inside."""

from __future__ import annotations

import random
import textwrap

import pytest
from guest.shell import Sink

from grader.records import GIVEN, Status

WORKS = {
    "DataLoader with workers": (
        """
        import torch
        from torch.utils.data import DataLoader, TensorDataset
        batches = DataLoader(TensorDataset(torch.arange(60.0).reshape(20, 3)), batch_size=7, num_workers=2)
        print(sum(batch[0].sum().item() for batch in batches))
        """,
        "1770.0",
    ),
    "multiprocessing": (
        """
        import multiprocessing
        def square(x):
            return x * x
        with multiprocessing.Pool(2) as pool:
            print(pool.map(square, range(5)))
        """,
        "[0, 1, 4, 9, 16]",
    ),
    "%%bash": ("%%bash\necho from $((1 + 1)) bash", "from 2 bash"),
    "!ls": ("open('here.txt', 'w').close()\n!ls", "here.txt"),
    "! into a variable": ("found = !echo one two\nprint(found)", "['one two']"),
    "%matplotlib inline": (
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nfigure = plt.figure()\nplt.plot([1, 2])\nplt.show()",
        "<Figure size 640x480 with 1 Axes>",
    ),
    **{
        f"%matplotlib {name}": (
            f"%matplotlib {name}\nimport matplotlib.pyplot as plt\nfigure = plt.figure()\nplt.plot([1, 2])\nplt.show()",
            "<Figure size 640x480 with 1 Axes>",
        )
        for name in ("widget", "notebook", "qt")
    },
    "tqdm": ("from tqdm.auto import tqdm\nprint(sum(tqdm(range(4))))", "6"),
    "ipywidgets": ("import ipywidgets\nipywidgets.IntSlider(value=3)", "IntSlider(value=3)"),
    "inspect.getsource": (
        "import inspect\ndef one():\n    return 'the source'\nprint(inspect.getsource(one))",
        "return 'the source'",
    ),
    "top-level await": ("import asyncio\nprint(await asyncio.sleep(0.01, 'slept'))", "slept"),
    "%timeit": ("%timeit -n1 -r1 sum(range(10))", "per loop"),
    "%%time": ("%%time\nx = 1", "Wall time"),
    "%%writefile and import": ("%%writefile mine.py\nvalue = 31", "Writing mine.py"),
    "display": ("from IPython.display import display\ndisplay({'a': 1})", "{'a': 1}"),
    "the last value": ("import torch\ntorch.arange(3)", "tensor([0, 1, 2])"),
    "torch.save and load": (
        "import torch\ntorch.save({'a': torch.ones(3)}, 'm.pt')\nprint(torch.load('m.pt')['a'].sum().item())",
        "3.0",
    ),
    "a script of its own": (
        "import sys\n!{sys.executable} -c 'import torch; print(torch.ones(2).sum().item())'",
        "2.0",
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(3) as pool:\n    print(list(pool.map(str, range(3))))",
        "['0', '1', '2']",
    ),
    "digits": ("from sklearn.datasets import load_digits\nprint(load_digits().data.shape)", "(1797, 64)"),
    "hidden temporary files": ("import tempfile\nwith tempfile.NamedTemporaryFile() as f:\n    print(f.name)", "/tmp/"),
    "input() without anybody": ("try:\n    input()\nexcept EOFError:\n    print('nobody')", "nobody"),
    "%%capture": ("%%capture kept\nprint('kept')", ""),
    "compiled regions": (
        "import torch\n@torch.jit.script\ndef f(x):\n    return x * 2\nprint(f(torch.ones(2)).sum())",
        "4.",
    ),
    "torch.compile, and an optimizer before and after": (
        """
        import sys, torch
        weight = torch.zeros(2, requires_grad=True)
        optimizer = torch.optim.AdamW([weight], lr=1.0)
        def step():
            optimizer.zero_grad()
            weight.sum().backward()
            optimizer.step()
        def left_alone():
            return vars(torch.optim.Optimizer.zero_grad.__wrapped__)["__dynamo_disable"]
        step()
        print("asleep:", "torch._dynamo.eval_frame" not in sys.modules, hasattr(left_alone(), "_torchdynamo_disable"))
        left_out = torch.compiler.disable(torch.compiler.is_compiling)
        @torch.compile(backend="eager")
        def twice(x):
            step()
            return x * 2, left_out()
        print(twice(torch.ones(2)))
        step()
        import torch._dynamo.utils
        print("compiled:", torch._dynamo.utils.counters["frames"]["ok"] > 0, left_alone()._torchdynamo_disable)
        print(weight.detach().round().tolist())
        """,
        "asleep: True False\n(tensor([2., 2.]), False)\ncompiled: False True\n[-3.0, -3.0]\n",  # see TORCHDYNAMO_DISABLE
    ),
    "activation checkpoints, which ask the compiler": (
        """
        import torch
        from torch.utils.checkpoint import checkpoint
        weight = torch.ones(2, requires_grad=True)
        checkpoint(lambda x: x * x, weight, use_reentrant=False).sum().backward()
        print(weight.grad)
        """,
        "tensor([2., 2.])",
    ),
    "a look through all modules": (
        """
        import sys
        print(sum(hasattr(module, "__file__") for module in list(sys.modules.values())) > 1000)
        print("asleep:", "torch._dynamo.eval_frame" not in sys.modules)
        """,
        "True\nasleep: True",
    ),
}

TRAINING = """
import torch
torch.set_num_threads({threads})
layer = torch.nn.Sequential(torch.nn.Linear(300, 400), torch.nn.ReLU(), torch.nn.Linear(400, 10))
optimizer = torch.optim.AdamW(layer.parameters(), lr=3e-3)
inputs, labels = torch.randn(512, 300), torch.randint(10, (512,))
for _ in range(12):
    loss = torch.nn.functional.cross_entropy(layer(inputs), labels)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
print('trained' if loss < 2 else loss)
"""


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", WORKS)
def test_works(name, python, said):
    source, expected = WORKS[name]
    result = python.run_cell(textwrap.dedent(source).strip(), seconds=60)
    assert result.status is Status.OK, result
    # What PyTorch warns of stands between, where a library is newer.
    shown = [output for output in result.outputs if output.get("name") != "stderr"]
    texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in shown]
    assert expected in "".join(texts)


@pytest.mark.parametrize("threads", [1, 2])
def test_training_works_in_several_cells(threads, spawn, said):
    """A cell after it too: the fork that runs it must not wait for threads that stayed behind."""
    python = spawn(threads=threads)
    for _ in range(2):
        assert said(python, TRAINING.format(threads=threads), seconds=60).strip() == "trained"


def test_bash_in_several_cells(python, said):
    for number in range(3):
        assert said(python, f"%%bash\necho {number}", seconds=10) == f"{number}\n"


def test_a_task_started_without_await(python, said):
    python.run_cell("import asyncio\ntask = asyncio.create_task(asyncio.sleep(0.05, 'done'))", seconds=20)
    assert said(python, "print(await task)").strip() == "done"


def test_random_numbers_go_on_from_cell_to_cell(python, said):
    """Python's own generator is seeded anew in every fork, and every cell is one."""
    python.run_cell("import random\nrandom.seed(3)", seconds=20)
    generator = random.Random(3)
    assert [float(said(python, "print(random.random())")) for _ in range(3)] == [generator.random() for _ in range(3)]


def test_a_task_outlives_its_cell(python, said):
    python.run_cell("import asyncio\ntask = asyncio.ensure_future(asyncio.sleep(0.05, 'done'))", seconds=20)
    assert said(python, "print(await task)").strip() == "done"


def test_figures_come_back_as_pictures(python):
    result = python.run_cell("import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()", seconds=30)
    assert result.outputs[-1]["data"]["image/png"].startswith("iVBOR")


def test_clear_output_and_updates(python, said):
    assert (
        said(python, "from IPython.display import clear_output\nprint('old')\nclear_output()\nprint('new')") == "new\n"
    )
    source = "from IPython.display import display\nshown = display('before', display_id=True)\nshown.update('after')"
    assert "after" in said(python, source)


def test_an_update_counts_what_it_adds():
    """Many small updates, as of a progress bar, are kept; a large one does not get past the limit by being an update."""
    sink = Sink()
    sink.per_cell, sink.left_in_all = 1_000, 10_000
    sink.begin()
    sink.show({"output_type": "display_data", "data": {"text/plain": ""}, "metadata": {}, "id": "bar"})
    for step in range(2_000):
        sink.update("bar", {"text/plain": f"step {step}"}, {})
    assert sink.take()[0]["data"] == {"text/plain": "step 1999"}
    sink.update("bar", {"text/plain": "x" * 100_000}, {})
    assert len(str(sink.take())) < 1_000
    assert "cut here" in str(sink.take())


def test_what_a_cell_switched_off_does_not_reach_the_lesson(python, said):
    """An answer, or a cell of the student's own, that leaves gradients off would fail every training below."""
    off = "import torch\ntorch.set_grad_enabled(False)\ntorch.set_default_dtype(torch.float64)"
    python.run_cell(off, seconds=20)
    state = "print(torch.is_grad_enabled(), torch.get_default_dtype())"
    assert said(python, state) == "False torch.float64\n"  # as in Jupyter, among the student's own
    result = python.run_cell(state, seconds=20, origin=GIVEN)
    assert result.outputs[-1]["text"] == "True torch.float32\n"


def test_what_a_program_prints_is_kept(python, said):
    assert "from a program" in said(python, "import subprocess\n_ = subprocess.run(['echo', 'from a program'])")


def test_every_run_draws_the_same_numbers(spawn, said):
    source = "import random, numpy, torch\nprint(random.random(), numpy.random.rand(), torch.rand(1).item(), hash('a'))"
    assert said(spawn(), source) == said(spawn(), source)
