"""All code that relies on the internals of other libraries, in one module. Both sides of the sandbox import it.

Each function saves time that every submission of a class would need again. If a library lacks the internal, the
function still works but saves no time (tests/sandbox/test_library_internals.py). Tested with torch 2.13.0,
IPython 9.18.1, jsonschema 4.26.0 and rfc3987-syntax 1.1.0 on Python 3.11. At its top this module imports only the
standard library, because `import grader` imports it at every start.
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
    """Make jsonschema, which nbformat uses, check notebooks without its grammar of internationalised addresses.

    Loading the grammar takes a second, at every start and in every worker, and no notebook
    contains such an address. `None` in `sys.modules` makes the import fail, and jsonschema then
    leaves this one format unchecked. If jsonschema has no such import, the entry has no effect.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault(IRI_GRAMMAR, None)


# ---------------------------------------------------------------- inspect, as IPython's tracebacks use it


def skip_module_search() -> None:
    """Make `inspect.getmodule` return None for a cell's code without searching all modules.

    For each frame of a traceback, IPython calls `getmodule`. It compares the frame's file name with those of all loaded
    modules, here thousands. A cell belongs to no module, so the search finds nothing. Skipping it saves 60 of a
    traceback's 80 ms. If `inspect` has no such function, nothing is replaced.
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
    """Make multiprocessing fork its workers by default, as it did before Python 3.14.

    The newer default sends descriptors, which the sandbox refuses. It also imports the
    workers' code, which is impossible for code of a cell. If multiprocessing has no such
    internal, nothing is replaced.
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
    """Make torch run a mode's operators without searching for rules that replace the mode.

    For each operator, torch calls a Python function, which calls three more. torch stores this
    function when it first calls it, so call `skip_dispatch_rules` before any mode is used. If torch
    has no such function, nothing is replaced.
    """
    rules: Any = importlib.import_module("torch._library.simple_registry")
    search = getattr(rules, "find_torch_dispatch_rule", None)
    if search is not None:
        rules.find_torch_dispatch_rule = lambda operator, asking: None if asking is mode else search(operator, asking)


class NotCompiled:
    """A base class for modes that are never used inside compiled code. List it before `TorchDispatchMode`.

    Without this class, torch wraps the mode's `__torch_dispatch__` in a guard, so that
    the compiler skips it. The guard imports the compiler and takes longer than the
    mode's own work. A version of torch without such guards ignores the method below.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that torch adds no guard."""
        return False


# ---------------------------------------------------------------- torch: the compiler


def defer_compiler() -> bool:
    """Replace torch's compiler by a stand-in that imports the compiler only when code uses it.

    The first step of any optimizer imports the compiler, only to mark the points at which a compiled program must be
    interrupted. The import takes 1.4 s and 70 MB, and no lesson compiles anything.

    Returns:
        False if nothing is replaced, because the compiler is already imported or torch has none.
    """
    if DYNAMO in sys.modules or importlib.util.find_spec(DYNAMO) is None:
        return False
    torch: Any = importlib.import_module("torch")
    torch._dynamo = sys.modules[DYNAMO] = _UnimportedCompiler()
    return True


class _UnimportedCompiler(ModuleType):
    """`torch._dynamo` before it is imported.

    It has the two functions that optimizers call; outside of compiled code they do
    nothing. Access to any other name imports the compiler and returns its value.
    `torch.compile` causes such access, and so may optimizers of another version of torch.
    """

    def __init__(self) -> None:
        super().__init__(DYNAMO)
        # Functions that torch keeps unwrapped, because the stand-in returned them unchanged.
        self._unwrapped: list[Callable] = []

    def graph_break(self, msg: str = "") -> None:
        """Do nothing, because nothing is being compiled."""

    def disable(self, fn: Any = None, recursive: bool = True, *, wrapping: bool = True, **options: Any) -> Any:
        """Return the function unchanged if torch calls this for its own functions: then `wrapping` is False.

        Any other caller is about to compile. For it, import the compiler and call the compiler's `disable`.
        """
        if wrapping:
            return self._import().disable(fn, recursive, **options)
        self._unwrapped.append(fn)
        return fn

    def __getattr__(self, name: str) -> Any:
        """Import the compiler and return its attribute with this name.

        Raises:
            AttributeError: the name begins with two underscores and is not __path__.
        """
        # Code that looks through all modules reads __file__; an import of one of this module's parts reads __path__.
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        return getattr(self._import(), name)

    def _import(self) -> ModuleType:
        """Remove this stand-in, import the compiler, and return it."""
        if sys.modules.get(DYNAMO) is self:
            torch: Any = importlib.import_module("torch")
            del sys.modules[DYNAMO], torch._dynamo
            for function in self._unwrapped:
                function.__dict__.pop("__dynamo_disable", None)  # torch wraps it at its next call
        return importlib.import_module(DYNAMO)
