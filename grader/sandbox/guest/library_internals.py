"""Everything that relies on the internals of other libraries, in one module; both sides of the sandbox import it.

Each function saves time that every submission of a class would take again. Where a library lacks the
internal, the function works too and only saves no time (tests/sandbox/test_library_internals.py). Tried
with torch 2.13.0, IPython 9.18.1, jsonschema 4.26.0 and rfc3987-syntax 1.1.0 on Python 3.11. At its top this
module imports only the standard library: `import grader` imports it at every start.
"""

import importlib.util
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

IRI_GRAMMAR = "rfc3987_syntax"
DYNAMO = "torch._dynamo"
CELL_FILE = "<ipython-input-"  # how the file name of a cell's code begins

# ---------------------------------------------------------------- jsonschema


def skip_iri_grammar() -> None:
    """Let jsonschema, below nbformat, check notebooks without its grammar of internationalised addresses.

    Loading the grammar takes a second, at every start and in every worker, and no notebook
    contains such an address. `None` in `sys.modules` makes the import fail, and jsonschema then
    leaves this one format unchecked. If jsonschema has no such import, the entry has no effect.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault(IRI_GRAMMAR, None)


# ---------------------------------------------------------------- inspect, as IPython's tracebacks use it


def skip_module_search() -> None:
    """Let `inspect.getmodule` return None for code of a cell without looking through all modules.

    IPython calls `getmodule` for each frame of a traceback, and `getmodule` compares the frame's file name with those
    of all loaded modules, thousands here. A cell belongs to no module, so that search finds nothing: skipping it saves
    60 of a traceback's 80 ms. Where `inspect` has no such function, this replaces nothing.
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


# ---------------------------------------------------------------- multiprocessing


def fork_workers() -> None:
    """Let multiprocessing fork its workers unless it is asked for another way, as it did before Python 3.14.

    The default since then sends descriptors, which the sandbox refuses. It also imports the
    workers' code, which is impossible for code of a cell. If multiprocessing has no such
    internal, this function replaces nothing.
    """
    import multiprocessing.context

    default = getattr(multiprocessing.context, "_default_context", None)
    if default is not None and "fork" in multiprocessing.get_all_start_methods():
        default._default_context = multiprocessing.get_context("fork")


# ---------------------------------------------------------------- torch: modes

# Functions of torch._C, and of torch.utils._python_dispatch, that switch modes off.
SWITCHES_OF_TORCH = """_DisableTorchDispatch _ExcludeDispatchKeyGuard ExcludeDispatchKeyGuard
    _SetExcludeDispatchKeyGuard _ForceDispatchKeyGuard _SafeKernelFunction
    _dispatch_tls_set_dispatch_key_excluded _dispatch_tls_set_dispatch_key_included _AutoDispatchBelowAutograd
    _pop_torch_dispatch_stack _unset_dispatch_mode _get_dispatch_mode _get_dispatch_stack_at"""
SWITCHES_OF_MODES = """_pop_mode _pop_mode_temporarily _disable_current_modes _disable_infra_mode
    _get_current_dispatch_mode _get_current_dispatch_mode_stack"""


def skip_dispatch_rules(mode: type) -> None:
    """Let torch run a mode's operators without a search for rules that replace the mode.

    Torch asks a function in Python for each operator, which asks three more. It keeps this
    function from the first time on, so call `skip_dispatch_rules` before any mode is used. A
    version of torch without this function is left as it is.
    """
    rules: Any = importlib.import_module("torch._library.simple_registry")
    search = getattr(rules, "find_torch_dispatch_rule", None)
    if search is not None:
        rules.find_torch_dispatch_rule = lambda operator, asking: None if asking is mode else search(operator, asking)


class NotCompiled:
    """A base class, to list before `TorchDispatchMode`, for modes that are never used inside compiled code.

    Without this class torch wraps the mode's `__torch_dispatch__` in a guard, so that the compiler skips it. The guard
    imports the compiler and takes longer than the mode's own work. A torch without such guards ignores the method.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return a value that makes torch add no guard."""
        return False


# ---------------------------------------------------------------- torch: the compiler


def defer_compiler() -> bool:
    """Replace torch's compiler by a stand-in, which imports the compiler when code uses it.

    The first step of any optimizer imports the compiler, only to mark where a compiled program must be
    interrupted. That takes 1.4 s and 70 MB, and no lesson compiles anything. This replaces nothing, and returns
    false, if the compiler is already imported, or if torch has none.
    """
    if DYNAMO in sys.modules or importlib.util.find_spec(DYNAMO) is None:
        return False
    torch: Any = importlib.import_module("torch")
    torch._dynamo = sys.modules[DYNAMO] = _UnimportedCompiler()
    return True


class _UnimportedCompiler(ModuleType):
    """`torch._dynamo` before it is imported.

    It has the two functions that optimizers call, which do nothing outside of compiled code. Access to any other name
    imports the compiler and takes the name from it: `torch.compile` does this, and a torch whose optimizers use others.
    """

    def __init__(self) -> None:
        super().__init__(DYNAMO)
        # Functions that torch keeps unwrapped, because the stand-in returned them unchanged.
        self._unwrapped: list[Callable] = []

    def graph_break(self, msg: str = "") -> None:
        """Do nothing: nothing is being compiled."""

    def disable(self, fn: Any = None, recursive: bool = True, *, wrapping: bool = True, **options: Any) -> Any:
        """Return the function unchanged if torch calls this for its own functions (`wrapping` is then false).

        Any other caller is about to compile: for it, import the compiler and call the compiler's `disable`.
        """
        if wrapping:
            return self._import().disable(fn, recursive, **options)
        self._unwrapped.append(fn)
        return fn

    def __getattr__(self, name: str) -> Any:
        """Import the compiler and return what it has under this name; know no special name but __path__."""
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
