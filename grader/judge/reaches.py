"""Find code that reaches outside the exercise: into the interpreter, the sandbox, other processes or hidden names.

Such code can get around a guard that runs in the student's process, so a person looks at each piece of it (the flag
`reaches-inside`). It costs no points by itself: there may be a good reason for it. The lists below contain only names
that no answer needs and that none of the right answers in the tests uses.
"""

import ast
import re
from collections.abc import Collection, Iterator
from itertools import islice

from grader.submission.code.source import cached_by_source, names_bound_by, parsed

# The last two run a network whose operators are named by texts.
MODULES = frozenset("marshal ctypes cffi guest signal onnx onnxruntime".split())
PARTS_OF_TORCH = frozenset({"library", "fx", "cpp_extension"})
# Names of functions, classes and attributes, whatever they are taken from.
NAMES = frozenset(
    """
    _getframe _current_frames currentframe getouterframes f_back f_locals f_globals f_builtins
    tb_frame gi_frame cr_frame ag_frame gi_yieldfrom
    getclosurevars getmembers getattr_static redispatch decomposition_table _profile_hook _schema DispatchKey
    DispatchKeySet _op_dk _op
    redispatch_boxed _get_operation_overload _dispatch_key_parse py_impl py_kernels get_kernel call_boxed
    ExcludeDispatchKeyGuard module_from_spec BuiltinImporter
    _push_on_torch_dispatch_stack _dispatch_tls_set_dispatch_key_included _AutoDispatchBelowAutograd higher_order
    _get_loss ast_transformers input_transformers_post get_objects get_referrers get_referents setprofile
    getprofile settrace addaudithook __del__
    __closure__ cell_contents __subclasses__ __globals__ __code__ __torch_dispatch__ TorchDispatchMode
    _DisableTorchDispatch _disable_current_modes _pop_mode _pop_mode_temporarily _get_dispatch_mode
    _get_current_dispatch_mode _get_current_dispatch_mode_stack _pop_torch_dispatch_stack
    _dispatch_library custom_op make_fx get_decompositions core_aten_decompositions
    resolve_name get_field walk_stack run_path run_module InteractiveInterpreter InteractiveConsole runsource
    runcode ctypeslib run_cell
    fork forkpty posix_spawn posix_spawnp Popen ProcessPoolExecutor create_subprocess_exec create_subprocess_shell
    """.split()
)
# Names that also mean something harmless, with their modules.
OF_MODULES = frozenset(
    """
    pickle.loads inspect.stack inspect.trace multiprocessing.Process multiprocessing.Pool multiprocessing.get_context
    mp.Process mp.Pool mp.get_context torch.library cv2.dnn unittest.mock gc.callbacks gc.enable os.system
    os.spawnv os.spawnve os.spawnvp os.spawnvpe os.spawnl os.spawnle os.spawnlp os.spawnlpe
    """.split()
)
IMPORTED = re.compile(r"\b(?:import|from)\s+(\w+)")  # in a text that is run
PLACES = re.compile(r"/sandbox\b|/proc/(?:self|\d)|\bguest\.\w+")
IN_BACKGROUND = re.compile(r"^[ \t]*(?:%%.*--bg\b|!.*(?:\bnohup\b|\bsetsid\b|[^&]&[ \t]*$))", re.MULTILINE)

# To which code may assign: they say what something is called, or how it is shown.
HARMLESS = frozenset("__name__ __doc__ __qualname__ __module__ __repr__ __str__ _repr_html_".split())
# numpy once had these names for Python's own types, and old code puts them back: `np.float = float`.
OLD_NAMES = frozenset("bool int float complex object str".split())
LIBRARIES = frozenset({"torch", "nn", "F", "np", "numpy", "scipy", "builtins", "sys", "os"})
# Functions that find something by its name, which may be put together: the position of the name.
LOOKUPS = {"getattr": 1, "attrgetter": 0, "methodcaller": 0, "import_module": 0, "__import__": 0}
IMPORTS = ("import_module", "__import__", "find_spec")
CHANGES = frozenset(
    "lower upper swapcase title capitalize casefold replace translate join format decode strip removeprefix".split()
)
SOFTMAX = ("softmax", "logsumexp", "logaddexp", "logcumsumexp")
# Nodes of an expression for a name that are read: names that nest in names would take time with their square.
MOST_PARTS = 40
PUT_TOGETHER = "a name that is put together"
ALL_NAMES = "all names of the notebook at once"
REPLACED = "a part of a library is replaced"


@cached_by_source
def reaches(source: str) -> tuple[str, ...]:
    """Return what code uses to reach into the interpreter, the sandbox or other processes, without repetitions.

    The result is empty if the code uses nothing of the kind.
    """
    found = dict.fromkeys(match.group() for match in PLACES.finditer(source))
    if IN_BACKGROUND.search(source):
        found["a process in the background"] = None
    nodes = [node for statement in parsed(source).statements or () for node in ast.walk(statement)]
    libraries = LIBRARIES.union(*(names_bound_by(node) for node in nodes if isinstance(node, ast.Import)))
    # One of the names that `dir` lists can be picked without being written.
    odd = any(_is_odd_text(node) or _calls(node, "dir", with_arguments=True) for node in nodes)
    asked = {id(part) for node in nodes for part in _asked_for_a_name(node)}
    listed = {id(part) for node in nodes for part in _listed(node)}
    picks = any(_picks(node) for node in nodes)
    for node in nodes:
        found.update(dict.fromkeys(_names(node)))
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and _root(node) in libraries:
            found[node.attr] = None
        if _looks_up(node, libraries, odd=odd):
            found[PUT_TOGETHER] = None
        # From all names of the notebook one can be picked by what it does.
        is_table = _calls(node, "globals", "locals", "vars", with_arguments=False)
        if is_table and id(node) not in asked and (picks or id(node) not in listed):
            found[ALL_NAMES] = None
        if _replaces(node, libraries):
            found[REPLACED] = None
    return tuple(found)


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names in the lists above that a node contains, without its children."""
    match node:
        case ast.Import(names=aliases):
            for alias in aliases:
                yield from _of_module(alias.name)
        case ast.ImportFrom(module=module, names=aliases):
            yield from _of_module(module or "")
            for alias in aliases:
                if alias.name in NAMES or f"{module}.{alias.name}" in OF_MODULES or _is_private(alias.name):
                    yield alias.name
        case ast.Attribute(attr=name, ctx=ast.Store()) if name.startswith("__") and name not in HARMLESS:
            yield f"{name} = …"
        case ast.Attribute(attr=name, value=value):
            if name in NAMES or (isinstance(value, ast.Name) and f"{value.id}.{name}" in OF_MODULES):
                yield name
        case ast.Name(id=name) | ast.FunctionDef(name=name):
            if name in NAMES:
                yield name
        case ast.Constant(value=str(text)):  # in a list, or as a key, it names as well as in a call
            yield from (part for part in text.split(".") if part in NAMES)
            yield from (module for module in IMPORTED.findall(text) if module in MODULES)
        case ast.MatchClass(kwd_attrs=names):  # case object(__globals__=found)
            yield from (name for name in names if name in NAMES)
        case ast.Call(func=func, args=[*arguments]) if arguments:
            for argument in arguments:
                if isinstance(argument, ast.Constant) and argument.value in MODULES:
                    yield str(argument.value)
            if getattr(func, "id", getattr(func, "attr", "")) in IMPORTS and isinstance(arguments[0], ast.Constant):
                yield from _of_module(str(arguments[0].value))


def _of_module(path: str) -> Iterator[str]:
    """Yield a module's path if it is in one of the lists above, or if a part of it is private."""
    parts = path.split(".")
    if (
        parts[0] in MODULES
        or ".".join(parts[:2]) in OF_MODULES
        or (parts[0] == "torch" and PARTS_OF_TORCH & {*parts})
        or any(map(_is_private, parts))
    ):
        yield path


def _is_private(name: str) -> bool:
    """Return True if a name begins with exactly one underscore.

    A library uses such a name only internally.
    """
    return name.startswith("_") and not name.startswith("__")


def _calls(node: ast.AST, *functions: str, with_arguments: bool) -> bool:
    """Return True if a node is a call of one of these functions by its name.

    Args:
        with_arguments: True for a call with positional arguments, False for a call without any.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id in functions and bool(node.args) == with_arguments


def _asked_for_a_name(node: ast.AST) -> list[ast.expr]:
    """Return the tables in which a node looks up a single name.

    Examples are `names` in `"x" in names`, in `names["x"]` and in `names.get("x")`.
    """
    match node:
        case ast.Compare(comparators=asked):
            return asked
        case ast.Subscript(value=asked) | ast.Attribute(value=asked, attr="get" | "pop" | "setdefault" | "update"):
            return [asked]
    return []


def _picks(node: ast.AST) -> bool:
    """Return True if a node looks something up by a name that the code does not write out.

    An example is `globals()[name]`.
    """
    match node:
        case ast.Subscript(value=ast.Call(func=ast.Name(id="globals" | "locals" | "vars")), slice=name):
            return not isinstance(name, ast.Constant)
        case ast.Call(func=ast.Attribute(attr="get" | "pop" | "__getitem__"), args=[name, *_]):
            return not isinstance(name, ast.Constant)
        case ast.Call(func=ast.Name(id="getattr" | "eval" | "exec")):
            return True
    return False


def _listed(node: ast.AST) -> list[ast.expr]:
    """Return the expressions whose items a node goes through one by one. Going through mere names is harmless."""
    match node:
        case ast.comprehension(iter=names) | ast.For(iter=names):
            return [names]
        case ast.Call(func=ast.Name(id="sorted" | "list" | "len" | "set"), args=[names]):
            return [names]
    return []


def _looks_up(node: ast.AST, libraries: Collection[str], *, odd: bool) -> bool:
    """Return True if a node runs text, or reaches a library or a softmax by a name that the code puts together.

    Args:
        odd: the code contains an altered string, such as one spelt backwards, or calls `dir`. Then every lookup by
            the name in a variable is suspicious.
    """
    match node:
        case ast.Call(func=ast.Name(id="eval" | "exec"), args=[ast.AST() as text, *_]):
            return not isinstance(text, ast.Constant)
        case ast.Call(func=ast.Name(id="vars"), args=[owner]):
            return _root(owner) in libraries
        case ast.Attribute(attr="__dict__", value=owner):
            return _root(owner) in libraries
        case ast.Call(func=ast.Name(id=function) | ast.Attribute(attr=function), args=arguments) if (
            function in LOOKUPS and len(arguments) > LOOKUPS[function]
        ):
            name = arguments[LOOKUPS[function]]
            of_library = _root(arguments[0]) in libraries if function == "getattr" else True
            if isinstance(name, ast.Name):
                return odd
            return _is_put_together(name) and (of_library or _hides_softmax(name))
        case ast.Subscript(slice=name):
            return _is_put_together(name) and _hides_softmax(name)
    return False


def _replaces(node: ast.AST, libraries: Collection[str]) -> bool:
    """Return True if a node assigns to an attribute of a library.

    Settings in torch.backends are allowed.
    """
    match node:
        case ast.Attribute(ctx=ast.Store(), attr=name) if name in HARMLESS:
            return False
        case ast.Attribute(ctx=ast.Store(), attr=name, value=ast.Name(id="np" | "numpy")) if name in OLD_NAMES:
            return False
        case ast.Attribute(ctx=ast.Store(), value=owner):
            return _root(owner) in libraries and "backends" not in ast.unparse(owner)
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, *_]):
            return _root(owner) in libraries
    return False


def _root(node: ast.AST) -> str:
    """Return the name at the left of the dots in `name.a.b`, or "" if the expression does not begin with a name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_put_together(name: ast.AST) -> bool:
    """Return True if an expression computes a string: by a sum, an f-string, a slice or a method of strings."""
    return isinstance(name, (ast.BinOp, ast.JoinedStr)) or any(map(_is_odd_text, islice(ast.walk(name), MOST_PARTS)))


def _is_odd_text(node: ast.AST) -> bool:
    """Return True if a node alters a literal string by a slice or by a method of strings."""
    match node:
        case ast.Subscript(value=ast.Constant(value=str() | bytes()), slice=ast.Slice()):
            return True
        case ast.Subscript(value=ast.Call(func=ast.Attribute(attr=method)), slice=ast.Slice()):
            return method in CHANGES
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() | bytes()), attr=method)):
            return method in CHANGES - {"format", "join"}
        case ast.Call(func=ast.Attribute(value=ast.Name(id="str" | "bytes"), attr=method)):
            return method in CHANGES | {"fromhex"}
        case ast.Call(func=ast.Name(id="chr")):
            return True
    return False


def _hides_softmax(name: ast.AST) -> bool:
    """Return True if a string in an expression is a part of the name of a softmax, forwards or backwards."""
    parts_of_name = islice(ast.walk(name), MOST_PARTS)
    texts = [node.value for node in parts_of_name if isinstance(node, ast.Constant)]
    parts = [text.lower().strip("_") for text in texts if isinstance(text, str)]
    return any(len(part) >= 3 and (part in name or part[::-1] in name) for part in parts for name in SOFTMAX)
