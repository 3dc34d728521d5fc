"""Tell whether a student's functions may remember earlier calls: a training of such code is run in whole, never sampled.

It errs on the side of yes, which costs time and no points. A counter has to live somewhere: in a global name, in an object that
a global name holds, in an attribute, in a default value, in a generator, or outside of Python.
"""

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from grader.submission.code.library_state import names_with_a_memory, names_without_a_memory
from grader.submission.code.own_names import (
    FUNCTIONS,
    LOOKS,
    FunctionNode,
    binding,
    lent_names,
    made_names,
    outside_functions,
    own_names,
    own_nodes,
    root_of,
    statements_of,
)
from grader.submission.code.source_names import looks_names_up, parse_statements, without_magics
from grader.submission.code.told_names import names_in, spread

# Modules without a memory of their own.
PURE = frozenset(
    """
    __future__ abc collections copy dataclasses einops functools itertools math numbers numpy operator torch typing
    """.split()
)
# Names that remember, or reach what does; wherever they come from.
REMEMBERS = frozenset(
    """
    cache cached_property lru_cache next open input __import__ setattr delattr register_forward_hook
    register_forward_pre_hook register_full_backward_hook register_hook register_post_accumulate_grad_hook
    gi_frame cr_frame ag_frame f_back f_globals f_locals tb_frame
    initial_seed getstate get_rng_state default_rng RandomState num_batches_tracked running_mean running_var
    id hash memoryview breakpoint cache_info
    param_groups state state_dict defaults buffers add_module register_module register_buffer register_parameter
    BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d
    """.split()
)
# Functions of operator and numpy that change what they get; elsewhere they are names like others.
WRITERS = frozenset(
    "setitem delitem iadd isub imul ior iconcat copyto put putmask place put_along_axis fill_diagonal".split()
)
ONCE = frozenset("iter zip map filter enumerate reversed".split())  # each value comes out once: that is a memory
KNOWN_METHODS = frozenset("__init__ __call__ __class__ __name__".split())  # among those with underscores
# Decorators that keep nothing.
DECORATORS = frozenset(
    """
    staticmethod classmethod property torch.no_grad torch.enable_grad torch.inference_mode dataclass dataclasses.dataclass
    override typing.override
    """.split()
)
COUNTERS = frozenset({"count", "cycle"})  # of itertools; elsewhere they are names like others
REGISTERS = frozenset("add_module register_module register_parameter".split())  # methods that give a module a part
# Methods that change a list, a set, a table or a module.
CHANGES = frozenset(
    """
    add append appendleft clear discard extend extendleft insert pop popitem popleft remove reverse rotate setdefault sort
    update
    """.split()
)
# What has functions of such names, and is no object that could be changed.
MODULES = frozenset("torch nn nn.init torch.nn.init init F torch.nn.functional np numpy operator".split())
# Attributes that an honest step or loss sets on what it is given.
SET_BY_TRAINING = frozenset({"data", "grad", "requires_grad", "training"})
NAMED_TUPLE = frozenset({"namedtuple", "collections.namedtuple"})
MOST_NESTED = 10  # a decorator with arguments in a method has four


def may_remember(
    sources: Iterable[str],
    asked: Collection[str] = (),
    told: Collection[str] = (),
    others: Iterable[str] = (),
    given: Iterable[str] = (),
) -> bool:
    """Tell whether any of the student's sources may keep something from one call to the next.

    Args:
        sources: what is trained, or defines what that uses: its functions may use attributes alone that are known to keep nothing.
        others: the student's other cells.
        given: the course's cells; what they make may be used.
        asked: the names that the training calls; one that is the result of a call may be a function with a memory.
        told: global names by whose values a sample can be told from the training.
    """
    trained = [without_magics(source) for source in sources]
    texts = [*trained, *map(without_magics, others)]
    trees = [ast.Module(body, []) for body in map(parse_statements, texts) if body is not None]
    strict = [ast.Module(body, []) for body in map(parse_statements, trained) if body is not None]
    if any(_nests_deeply(tree) for tree in trees):
        return True  # what follows looks through each function, and through what stands in it, once more for each level
    nodes = [node for tree in trees for node in ast.walk(tree)]
    tuples = frozenset() if any(map(_binds_namedtuple, nodes)) else NAMED_TUPLE
    tables = frozenset(_tables(nodes))
    holders = {name for tree in trees for name in _holders(tree.body, tuples)}
    top = filter(None, (binding(one) for tree in trees for one in outside_functions(tree.body)))
    units = [(names_in(value), frozenset(chain(*map(names_in, targets)))) for targets, value in top]
    held = frozenset(spread(units, {*(holders - tables), *told}))  # by `A.calls = calls` also `A`
    around: dict[ast.AST, set[str]] = {}  # of a function: what the functions around it bind
    for node in nodes:
        if isinstance(node, FUNCTIONS):
            for inner in ast.walk(node):
                if isinstance(inner, FUNCTIONS) and inner is not node:
                    around.setdefault(inner, set()).update(own_names(node))
    known = names_without_a_memory().union(*map(made_names, (*texts, *given)), SET_BY_TRAINING, KNOWN_METHODS)
    harmless = {name for node in nodes for name in (*_parts_set_in_init(node), *_own_variables(node))}
    return (
        bool(held & set(asked))
        or any(map(looks_names_up, texts))
        or any(_uses_what_is_unknown(tree, known) for tree in strict)
        or any(
            _imports_more(node)
            or _is_kept_or_wrapped(node)
            or (node not in harmless and _names_what_remembers(node))
            or (isinstance(node, FUNCTIONS) and _function_remembers(node, held - around.get(node, set())))
            or (isinstance(node, ast.ClassDef) and _class_remembers(node, tables))
            for node in nodes
        )
    )


def _nests_deeply(tree: ast.AST) -> bool:
    """Tell whether more than MOST_NESTED functions and classes stand in each other."""
    todo = [(tree, 0)]
    while todo:
        node, depth = todo.pop()
        depth += isinstance(node, (*FUNCTIONS, ast.ClassDef))
        if depth > MOST_NESTED:
            return True
        todo += [(child, depth) for child in ast.iter_child_nodes(node)]
    return False


def _is_kept_or_wrapped(node: ast.AST) -> bool:
    """Tell whether a node keeps in `self` what comes out once, is a torch.Generator, or has a decorator that may remember."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        bare = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
        return any(ast.unparse(one) not in DECORATORS for one in bare)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.Generator":
        return True  # it draws other numbers each time
    if isinstance(node, ast.Assign) and any(map(_is_of_self, node.targets)):
        value = node.value
        call = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
        return isinstance(value, ast.GeneratorExp) or call in ONCE
    return False


def _binds_namedtuple(node: ast.AST) -> bool:
    """Tell whether a student gives the name `namedtuple`, or that of its module, another meaning."""
    names = {"namedtuple", "collections"}
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name in names
    if isinstance(node, ast.alias):
        return node.asname in names
    if isinstance(node, ast.Attribute):
        return node.attr in names and isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Store)


def _parts_set_in_init(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is called in `setattr(self, …)` and `self.add_module(…)` in an `__init__` itself: like `self.name = …`, it forgets."""
    if isinstance(node, ast.FunctionDef) and node.name == "__init__":
        yield from (one.func for one in own_nodes(node) if isinstance(one, ast.Call) and _sets_part_of_self(one))


def _sets_part_of_self(call: ast.Call) -> bool:
    """Tell whether a call is `setattr(self, …)`, or a method of `self` that registers a part."""
    if isinstance(call.func, ast.Name) and call.func.id == "setattr":
        return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id == "self"
    return isinstance(call.func, ast.Attribute) and call.func.attr in REGISTERS and _is_of_self(call.func)


def _own_variables(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the name nodes in a function that are parameters, or that it binds: such a `cache` is not that of functools."""
    if isinstance(node, FUNCTIONS):
        # Its children alone: an annotation or a default may hold a lambda with parameters of its own.
        own = {one.arg for one in ast.iter_child_nodes(node.args) if isinstance(one, ast.arg)}
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for one in (inner for part in body for inner in ast.walk(part)):
            if isinstance(one, ast.Name) and one.id in own:
                yield one
        nodes = own_nodes(node)
        others = {name for one in nodes if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}
        names = [one for one in nodes if isinstance(one, ast.Name) and one.id not in others]
        bound = {one.id for one in names if isinstance(one.ctx, ast.Store)}
        yield from (one for one in names if one.id in bound)


def _holders(body: Sequence[ast.stmt], tuples: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names that statements bind to what may change: no number, text or sum, and no result of a call of `tuples`."""
    for statement in statements_of(body):
        bound = binding(statement)
        if bound is not None and not isinstance(statement, (ast.comprehension, ast.withitem)):
            targets, value = bound
            if not _is_fixed(value) and not (isinstance(value, ast.Call) and ast.unparse(value.func) in tuples):
                yield from chain(*map(names_in, targets))


def _tables(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names of dicts written as `{"linear": nn.Linear, …}` that are used for nothing but to look something up."""
    made = [node for node in nodes if isinstance(node, ast.Assign) and _is_table(node.value)]
    names = {node.targets[0].id for node in made if isinstance(node.targets[0], ast.Name) and len(node.targets) == 1}
    looked_up = {id(value) for node in nodes for value in _looked_up(node)} | {id(node.targets[0]) for node in made}
    used = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in nodes
        if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in looked_up
    }
    return names - used


def _is_table(value: ast.expr) -> bool:
    """Tell whether an expression is a dict of what cannot change, functions included."""
    plain = (ast.Constant, ast.Name, ast.Attribute, ast.Lambda)
    return isinstance(value, ast.Dict) and all(isinstance(one, plain) for one in (*value.keys, *value.values))


def _looked_up(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions in which a node only looks something up: `a` of `a[i]`, of `x in a`, and of `a.get(…)`."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value
    if isinstance(node, ast.Compare) and all(isinstance(one, (ast.In, ast.NotIn)) for one in node.ops):
        yield from node.comparators
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS:
        yield node.func.value


def _is_fixed(value: ast.expr) -> bool:
    """Tell whether an expression has only constants, names, attributes, operators and tuples: its value holds no state."""
    fixed = (ast.Constant, ast.Name, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Tuple)
    return all(isinstance(node, (*fixed, ast.expr_context)) for node in ast.walk(value))


def _imports_more(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] not in PURE for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in PURE


def _uses_what_is_unknown(tree: ast.AST, known: Collection[str]) -> bool:
    """Tell whether a function uses an attribute that is neither one of `self` nor in `known`, those that keep nothing."""
    return any(
        isinstance(node, ast.Attribute) and node.attr not in known and not _is_of_self(node)
        for function in ast.walk(tree)
        if isinstance(function, FUNCTIONS)
        for node in ast.walk(function)
    )


def _names_what_remembers(node: ast.AST) -> bool:
    if isinstance(node, ast.alias):
        return node.name in REMEMBERS | COUNTERS | WRITERS | names_with_a_memory() | {"Generator"}
    if isinstance(node, ast.Attribute):
        hidden = node.attr.startswith("__") and node.attr not in KNOWN_METHODS
        return (
            hidden
            or node.attr in REMEMBERS | WRITERS | names_with_a_memory()
            or (node.attr in COUNTERS and root_of(node) in ("itertools", "it"))
        )
    return isinstance(node, ast.Name) and node.id in REMEMBERS


def _class_remembers(definition: ast.ClassDef, tables: frozenset[str]) -> bool:
    """Tell whether a class body binds what may change, `tables` aside, or a method reads what another than `__init__` sets."""
    methods = [node for node in definition.body if isinstance(node, ast.FunctionDef)]
    of_self = [
        (method.name, node.attr, node.ctx)
        for method in methods
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and _is_of_self(node)
    ]
    set_later = {name for method, name, use in of_self if method != "__init__" and isinstance(use, ast.Store)}
    read = {name for _, name, use in of_self if isinstance(use, ast.Load)}
    return bool(set_later & read) or bool(set(_holders(definition.body)) - tables)


def _is_of_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _function_remembers(function: FunctionNode, held: frozenset[str]) -> bool:
    """Tell whether a function reads a global that may change, writes beyond its own names, or has a default that may change."""
    arguments = function.args
    own = {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)}
    defaults = [*arguments.defaults, *(value for value in arguments.kw_defaults if value is not None)]
    nodes = [function, *own_nodes(function)]
    local = own_names(function)
    given = set() if getattr(function, "name", "") == "__init__" else own
    lent = lent_names(nodes, local, given)
    return (
        not all(map(_is_fixed, defaults))
        or any(isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom)) for node in nodes)
        or any(isinstance(node, ast.Name) and node.id in held - local for node in nodes)
        or bool(held & {node.id for value in defaults for node in ast.walk(value) if isinstance(node, ast.Name)})
        or any(_writes_beyond(node, local - lent, given) for node in nodes)
        or any(isinstance(node, ast.AugAssign) and bool(lent & names_in(node.target)) for node in nodes)
    )


def _writes_beyond(node: ast.AST, local: set[str], given: set[str]) -> bool:
    """Tell whether a node changes an object that outlives the call.

    `local` has the names that the function binds, `given` those of its parameters: what hangs on these outlives the call.
    """
    if isinstance(node, ast.AugAssign) and (isinstance(node.target, ast.Attribute) or _is_of_self(node.target)):
        return True
    if isinstance(node, ast.Assign) and any(getattr(target, "attr", "") == "training" for target in node.targets):
        # A mode is put back, and not computed: that would be a counter.
        return any(isinstance(inner, (ast.BinOp, ast.UnaryOp)) for inner in ast.walk(node.value))
    if isinstance(node, ast.keyword):
        return node.arg == "out"
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
        if _is_of_self(node):
            return False  # `_class_remembers` looks whether anybody reads it
        own = isinstance(node.value, ast.Name) and node.value.id in local
        return node.attr not in SET_BY_TRAINING or not own
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return _outlives(node.value, local, given)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        in_place = name.endswith("_") and not name.startswith(("_", "requires_grad"))
        if (in_place or name in CHANGES) and ast.unparse(node.func.value) not in MODULES:
            return _outlives(node.func.value, local, given)
    return False


def _outlives(node: ast.AST, local: set[str], given: set[str]) -> bool:
    """Tell whether an object outlives the call: its name is not the function's own, or it is an attribute of a parameter."""
    root = root_of(node)
    if isinstance(node, (ast.Attribute, ast.Subscript)) and root in given:
        return any(isinstance(inner, ast.Attribute) for inner in ast.walk(node))
    return bool(root) and root not in local
