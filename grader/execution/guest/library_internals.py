"""Everything that relies on the internals of other libraries, in one module; both sides of the sandbox import it.

Each function saves time that a class of submissions would pay again and again, and works without the internal too: only
the time is lost then (tests/execution/test_library_internals.py). Tried with torch 2.13.0, IPython 9.18.1, jsonschema
4.26.0 and rfc3987-syntax 1.1.0 on Python 3.11. At its top this module imports only the standard library: `import grader`
imports it at every start.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

IRI_GRAMMAR = "rfc3987_syntax"
DYNAMO = "torch._dynamo"
CELL_FILE = "<ipython-input-"  # how the file name of a cell's code begins

# ---------------------------------------------------------------- jsonschema


def skip_iri_grammar() -> None:
    """Let jsonschema, below nbformat, check notebooks without its grammar of internationalised addresses.

    Loading the grammar takes a second, at every start and in every worker, and no notebook contains such an address.
    `None` in `sys.modules` makes the import fail, and jsonschema then leaves that one format unchecked. Where jsonschema
    has no such import, the entry has no effect.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault(IRI_GRAMMAR, None)


# ---------------------------------------------------------------- inspect, as IPython's tracebacks use it


def skip_module_search() -> None:
    """Let `inspect.getmodule` return None for code of a cell without looking through all modules.

    IPython calls it for each frame of a traceback, and it compares the file name with those of all loaded modules,
    thousands here. A cell belongs to no module, so the search finds none: this saves 60 of a traceback's 80 ms. Where
    `inspect` has no such function, nothing is replaced.
    """
    library: Any = inspect
    search = getattr(library, "getmodule", None)
    if search is None:
        return

    def getmodule(object: Any, *arguments: Any, **options: Any) -> Any:
        code = getattr(object, "f_code", None) or getattr(getattr(object, "tb_frame", None), "f_code", object)
        if inspect.iscode(code) and code.co_filename.startswith(CELL_FILE):
            return None
        return search(object, *arguments, **options)

    library.getmodule = getmodule


# ---------------------------------------------------------------- torch: gradients


def gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], grad_outputs: Sequence[Tensor]
) -> list[Tensor | None]:
    """Return the gradients of the inputs, None where an input does not influence the outputs.

    This calls the function in which `torch.autograd.grad` ends. `grad` itself imports sympy first when it gets
    `grad_outputs`, for 0.4 s; where that function is missing, `grad` is called.
    """
    import torch

    engine = getattr(torch.autograd.Variable, "_execution_engine", None)
    run_backward = getattr(engine, "run_backward", None)
    if run_backward is None:
        return list(torch.autograd.grad(outputs, inputs, grad_outputs, allow_unused=True))
    return list(
        run_backward(
            tuple(outputs),
            tuple(grad_outputs),
            keep_graph=False,
            create_graph=False,
            inputs=tuple(inputs),
            allow_unreachable=True,
            accumulate_grad=False,
        )
    )


# ---------------------------------------------------------------- torch: the compiler


class NotCompiled:
    """A base, before `TorchDispatchMode`, for modes that are never used inside compiled code.

    Without it torch wraps `__torch_dispatch__` in a guard against being compiled, which imports the compiler and takes
    longer than the mode's own work. A torch without such guards ignores the method.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


def defer_compiler() -> bool:
    """Put a stand-in where torch finds its compiler; the compiler is imported when something really uses it.

    The first step of any optimizer imports the compiler, only to mark where a compiled program must be interrupted.
    That takes 1.4 s and 70 MB, and no lesson compiles anything. Nothing is replaced where the compiler is imported
    already, and where torch has none.

    Returns:
        Whether the stand-in is in place.
    """
    if DYNAMO in sys.modules or importlib.util.find_spec(DYNAMO) is None:
        return False
    torch: Any = importlib.import_module("torch")
    torch._dynamo = sys.modules[DYNAMO] = _UnimportedCompiler()
    return True


class _UnimportedCompiler(ModuleType):
    """`torch._dynamo` before it is imported.

    It has the two functions that optimizers call, which do nothing outside of compiled code. Every other name imports
    the compiler and comes from it: that serves `torch.compile`, and a torch whose optimizers use other names.
    """

    def __init__(self) -> None:
        super().__init__(DYNAMO)
        # Functions that torch keeps unwrapped, because the stand-in returned them unchanged.
        self._unwrapped: list[Callable] = []

    def graph_break(self, msg: str = "") -> None:
        """Do nothing: nothing is being compiled."""

    def disable(
        self, fn: Any = None, recursive: bool = True, *, wrapping: bool = True, **options: Any
    ) -> Any:
        """Return the function unchanged if torch calls this for itself; any other caller is about to compile."""
        if wrapping:
            return self._import().disable(fn, recursive, **options)
        self._unwrapped.append(fn)
        return fn

    def __getattr__(self, name: str) -> Any:
        # Code that looks through all modules reads __file__; an import of one of this module's parts reads __path__.
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        return getattr(self._import(), name)

    def _import(self) -> ModuleType:
        """Remove this stand-in and import the compiler."""
        if sys.modules.get(DYNAMO) is self:
            torch: Any = importlib.import_module("torch")
            del sys.modules[DYNAMO], torch._dynamo
            for function in self._unwrapped:
                function.__dict__.pop("__dynamo_disable", None)  # torch wraps it at its next call
        return importlib.import_module(DYNAMO)
