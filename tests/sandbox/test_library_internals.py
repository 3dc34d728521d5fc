"""Each function that relies on another library's internals gives the same result when the internal is missing."""

from __future__ import annotations

import inspect
import multiprocessing.context
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.sandbox.guest import library_internals


def run_in_new_python(code: str) -> str:
    """Run code in a Python of its own, which has imported nothing yet, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


# ---------------------------------------------------------------- multiprocessing


def test_workers_are_forked_unless_another_way_is_asked_for(monkeypatch) -> None:
    default = multiprocessing.context._default_context
    monkeypatch.setattr(default, "_default_context", multiprocessing.get_context("spawn"))
    monkeypatch.setattr(default, "_actual_context", None)
    library_internals.fork_workers()
    assert multiprocessing.get_start_method() == "fork"
    multiprocessing.set_start_method("spawn", force=True)
    assert multiprocessing.get_start_method() == "spawn"


def test_a_multiprocessing_without_a_default_is_left_alone(monkeypatch) -> None:
    monkeypatch.delattr(multiprocessing.context, "_default_context")
    library_internals.fork_workers()


# ---------------------------------------------------------------- jsonschema

# Prints why a notebook with a wrong field is invalid, and whether the grammar was imported.
VALIDATE = """
import sys
{before}
import nbformat
from nbformat.v4 import new_code_cell, new_notebook
book = new_notebook(cells=[new_code_cell("1", id="a")])
nbformat.validate(book)
book.cells[0].source = 3
try:
    nbformat.validate(book)
except nbformat.ValidationError as error:
    print(error.message)
print(sys.modules.get("rfc3987_syntax") is not None)
"""


def test_notebooks_are_validated_with_and_without_the_grammar() -> None:
    without, with_grammar = (
        run_in_new_python(VALIDATE.format(before=before)).splitlines()
        for before in ("import grader", "import rfc3987_syntax")
    )
    assert without[:-1] == with_grammar[:-1] != []
    assert (without[-1], with_grammar[-1]) == ("False", "True")


def test_a_jsonschema_that_has_no_such_grammar_is_left_alone(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, library_internals.IRI_GRAMMAR, raising=False)
    library_internals.skip_iri_grammar()
    assert sys.modules[library_internals.IRI_GRAMMAR] is None  # an entry that nothing reads
    module = ModuleType(library_internals.IRI_GRAMMAR)
    monkeypatch.setitem(sys.modules, library_internals.IRI_GRAMMAR, module)
    library_internals.skip_iri_grammar()
    assert sys.modules[library_internals.IRI_GRAMMAR] is module  # imported before: stays


# ---------------------------------------------------------------- inspect


def of_a_cell() -> Callable:
    namespace: dict = {}
    exec(compile("def f(): pass", "<ipython-input-1-0>", "exec"), namespace)
    return namespace["f"]


def test_the_module_of_code_is_the_same_without_the_search(monkeypatch) -> None:
    searched: list[object] = []
    real = inspect.getmodule

    def search(object, *arguments):
        searched.append(object)
        return real(object, *arguments)

    monkeypatch.setattr(inspect, "getmodule", search)
    library_internals.skip_module_search()
    cell = of_a_cell().__code__
    assert inspect.getmodule(cell) is real(cell) is None
    assert searched == []
    assert inspect.getmodule(test_a_mode_sees_the_same_operators.__code__) is sys.modules[__name__]
    assert searched == [test_a_mode_sees_the_same_operators.__code__]


def test_an_inspect_without_the_search_stays_as_it_is(monkeypatch) -> None:
    monkeypatch.delattr(inspect, "getmodule")
    library_internals.skip_module_search()
    assert not hasattr(inspect, "getmodule")


# ---------------------------------------------------------------- torch: modes without a guard


class Guarded:
    """A base that leaves torch's guard in place."""


def count_adds(base: type) -> int:
    """Count the additions that a mode sees."""

    class Counter(base, TorchDispatchMode):
        adds = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.adds += func is torch.ops.aten.add.Tensor
            return func(*args, **(kwargs or {}))

    with Counter() as counter:
        torch.ones(2) + torch.ones(2)
    return counter.adds


def test_a_mode_sees_the_same_operators(monkeypatch) -> None:
    """A mode sees the same operators with the guard, without it, and in a torch that knows no guard."""
    assert count_adds(library_internals.NotCompiled) == 1
    assert count_adds(Guarded) == 1
    monkeypatch.delattr(TorchDispatchMode, "__init_subclass__")
    assert count_adds(library_internals.NotCompiled) == 1


def test_a_mode_without_a_guard_does_not_import_the_compiler() -> None:
    code = """
import sys, torch
from torch.utils._python_dispatch import TorchDispatchMode
from grader.sandbox.guest.library_internals import NotCompiled
for bases in ((NotCompiled, TorchDispatchMode), (TorchDispatchMode,)):
    class Mode(*bases):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))
    with Mode():
        torch.ones(2) + 1
    print("torch._dynamo" in sys.modules)
"""
    assert run_in_new_python(code) == "False\nTrue\n"


# ---------------------------------------------------------------- torch: the compiler

# Prints the weights after a step of an optimizer, and whether the compiler was imported.
STEP = """
import importlib.util, sys, torch
from grader.sandbox.guest import library_internals
{before}
weight = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.AdamW([weight], lr=1.0)
(weight * torch.tensor([1.0, -1.0])).sum().backward()
optimizer.step()
optimizer.zero_grad()
print(weight.detach().round().tolist(), weight.grad)
print("torch._dynamo.eval_frame" in sys.modules)
"""
# What runs before the step, and whether the step imports the compiler.
CASES = {
    "torch alone": ("", True),
    "deferred": ("assert library_internals.defer_compiler()", False),
    "a torch without a compiler": (
        "importlib.util.find_spec = lambda name: None\nassert not library_internals.defer_compiler()",
        True,
    ),
    "a torch whose compiler is imported already": (
        "import torch._dynamo\nassert not library_internals.defer_compiler()",
        True,
    ),
    "an optimizer that calls other functions of the compiler": (
        "del library_internals._UnimportedCompiler.graph_break\n"
        "del library_internals._UnimportedCompiler.disable\nassert library_internals.defer_compiler()",
        True,
    ),
}


@pytest.mark.fast_cases("deferred")
@pytest.mark.parametrize("case", CASES)
def test_an_optimizer_takes_the_same_step(case: str) -> None:
    before, imported = CASES[case]
    assert run_in_new_python(STEP.format(before=before)) == f"[-1.0, 1.0] None\n{imported}\n"
