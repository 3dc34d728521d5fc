"""Small changes to names, statements, and to where the gradient flows: operators of mutants, as in mutation_operators."""

import ast
from collections.abc import Iterator

from grader.explain.mutants.operators import Change, Place, assigned_layer, parameters_of
from grader.explain.mutants.phrases import STEPS, sentence, signed
from grader.explain.nodes import called, changed, is_library, is_text, literal, method, rewritten
from grader.explain.patterns import Table

SAME_LAYERS = frozenset({"Linear", "LayerNorm"})

ROUNDS = Table("""
1 range(N) → range(N + -1)  # the loop went round once less than it should
1 range(N) → range(N + 1)  # the loop went round once more than it should
""")


def statement_changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield the changes of a name or a statement."""
    if isinstance(node, ast.If):
        yield from _conditions(node)
    elif isinstance(node, ast.For):
        yield from _loops(node)
    elif isinstance(node, ast.FunctionDef):
        yield from _functions(node, place)
    elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
        yield from _other_names(node, place)
        yield from _other_roles(node, place)
        yield from _other_masks(node, place)
        yield from _typed_in(node, place)
    yield from _statements(node, place)
    yield from _gradient(node, place)


def _conditions(node: ast.If) -> Iterator[Change]:
    """Negate a condition, do what it guards in any case, skip an empty mask, or swap `and` and `or` before a `raise`."""
    yield Change("condition negated", changed(node, test=ast.UnaryOp(ast.Not(), node.test)))
    test = node.test
    guards = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)
    collects = any(called(part) == "append" for part in ast.walk(node))
    if guards and collects:
        says = sentence("None were collected, too")
        yield Change("always done", changed(node, test=ast.Constant(True)), says, cost=1)
    if guards and isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and "mask" in test.left.id:
        some = method(test.left, "any")
        says = sentence("a mask without a single True were skipped")
        yield Change("empty mask skipped", changed(node, test=ast.BoolOp(ast.And(), [test, some])), says)
    if isinstance(test, ast.BoolOp) and all(isinstance(part, ast.Raise) for part in node.body):
        other = ast.And() if isinstance(test.op, ast.Or) else ast.Or()
        says = sentence("the exception came only where all conditions are violated (`and` for `or`)")
        yield Change("check: and/or", changed(node, test=changed(test, op=other)), says, cost=1)


def _functions(node: ast.FunctionDef, place: Place) -> Iterator[Change]:
    """Another default of `dim`; two layers exchanged throughout."""
    defaults = node.args.defaults
    for index, argument in enumerate(node.args.args[len(node.args.args) - len(defaults) :] if defaults else []):
        if argument.arg == "dim":
            for axis in (0, -2, 1):
                instead = [*defaults[:index], literal(axis), *defaults[index + 1 :]]
                says = sentence(f"the default of dim were {axis}")
                new = changed(node, args=changed(node.args, defaults=instead))
                yield Change(f"default dim={axis}", new, says.replace("-", "−"), cost=1)
    if node.name != "forward":
        return
    same = SAME_LAYERS | place.words.subject.layers
    names = [name for name, kind in place.layers.items() if kind in same and name in place.words.public]
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            if place.layers[one] == place.layers[other]:
                says, cost = sentence(f"{one} and {other} were exchanged"), _cost(one, other, place)
                yield Change(f"{one} ↔ {other}", _exchanged(node, one, other), says, cost=cost)


def _exchanged(node: ast.FunctionDef, one: str, other: str) -> ast.FunctionDef:
    """Return a copy of a function in which two attributes have changed places."""
    names = {one: other, other: one}
    return rewritten(node, lambda part: changed(part, attr=names.get(part.attr, part.attr)), ast.Attribute)


def _typed_in(node: ast.Name | ast.Attribute, place: Place) -> Iterator[Change]:
    """A number typed in where an argument is due."""
    name = _name(node)
    if name not in place.words.public or (isinstance(node, ast.Name) and name not in place.parameters):
        return
    for ending, numbers in {**place.words.subject.typed_in, "ignore_index": (-100,)}.items():
        for number in numbers if name.endswith(ending) else ():
            says = sentence(f"{name} were always {signed(number)}, whatever is handed in")
            yield Change(f"{name} → {number}", literal(number), says, joint=says)


def _cost(one: str, other: str, place: Place) -> int:
    """Return how far-fetched it is to take one layer for another."""
    return 3 if {one, other} & place.words.subject.seldom else 1


def _loops(node: ast.For) -> Iterator[Change]:
    """One round only, one round less, one round more."""
    once = [*node.body, ast.Break()]
    yield Change("one round only", changed(node, body=once), sentence("the loop went round once only"), cost=3)
    for found in ROUNDS.found(node.iter):
        yield Change(found.row.change, changed(node, iter=found.new({})), sentence(found.row.says), cost=1)


def _other_names(node: ast.Name | ast.Attribute, place: Place) -> Iterator[Change]:
    """Put another parameter in the place of a parameter, another layer in the place of a layer."""
    words, name = place.words, _name(node)
    if isinstance(node, ast.Name) and name in place.parameters:
        layer = assigned_layer(place)
        callee = words.callee(place.parent) if isinstance(place.parent, ast.Call) else ""
        where = f" in {layer or callee}" if layer or callee else ""
        kind = _kind(name, place.parameters[name])
        for other, its in place.parameters.items():
            if other != name and _kind(other, its) == kind and {other, name} <= words.public:
                says = f"{other} stood where {name} should stand"
                cost = 3 if kind[0] == "int" else 1
                yield Change(
                    f"{name} → {other}", changed(node, id=other), sentence(says + where), cost=cost,
                    joint=sentence(f"{says}, everywhere"),
                )  # fmt: skip
    if isinstance(node, ast.Attribute) and place.layers.get(name) in SAME_LAYERS | words.subject.layers:
        for other, its in place.layers.items():
            if other != name and its == place.layers[name] and {other, name} <= words.public:
                says = sentence(f"{other} stood where {name} should stand")
                yield Change(
                    f"{name} → {other}", changed(node, attr=other), says, cost=_cost(one=other, other=name, place=place)
                )


def _other_roles(node: ast.Name | ast.Attribute, place: Place) -> Iterator[Change]:
    """Put local queries, keys and values, or the projections of a layer that was handed in, in one another's place."""
    known = place.parameters.keys() | place.layers.keys()
    field = "id" if isinstance(node, ast.Name) else "attr"
    for names in place.words.subject.roles:
        for other in names if _name(node) in names and not known & set(names) else ():
            if other != _name(node):
                new = changed(node, **{field: other})
                nouns = place.words.noun(new), place.words.noun(node)
                says = sentence(f"{nouns[0]} stood where {nouns[1]} should stand") if all(nouns) else ""
                yield Change(f"{_name(node)} → {other}", new, says, cost=1)


def _other_masks(node: ast.Name | ast.Attribute, place: Place) -> Iterator[Change]:
    """Hand on a mask that was turned around, transposed or given another axis."""
    if "mask" not in _name(node) or not isinstance(place.parent, (ast.Call, ast.keyword)):
        return
    if isinstance(place.parent, ast.Call) and node is place.parent.func:
        return
    name = place.words.noun(node) or "the mask"
    turned = method(node, "transpose", literal(-2), literal(-1))
    for what, new, says in (
        ("~", ast.UnaryOp(ast.Invert(), node), "were turned around: True where it should be False"),
        ("transposed", turned, "were transposed"),
        ("unsqueeze(1)", method(node, "unsqueeze", literal(1)), "got a new axis at place 1, whatever its shape"),
    ):
        yield Change(f"{_name(node)} {what}", new, sentence(f"{name} {says}"), cost=1)


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _kind(name: str, annotation: str) -> tuple[str, bool, bool]:
    """Tell apart what nobody takes for one another: tensors and masks, widths and counts."""
    return annotation.split(" |")[0], "mask" in name, name.startswith("d_")


def _statements(node: ast.AST, place: Place) -> Iterator[Change]:
    """Drop a statement; make two layers one."""
    if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.With)):
        for index, statement in enumerate(node.body):
            if isinstance(statement, (ast.Return, ast.FunctionDef, ast.Raise)) or is_text(statement):
                continue
            body = [*node.body[:index], ast.Pass(), *node.body[index + 1 :]]
            if isinstance(node, ast.FunctionDef):  # its own parameters
                place = place._replace(parameters=parameters_of(node))
            yield Change(
                f"statement dropped: {ast.unparse(statement)[:50]}",
                changed(node, body=body), _dropped(statement, place), cost=1,
            )  # fmt: skip
    if isinstance(node, ast.Assign) and (name := assigned_layer(place._replace(above=[*place.above, node]))):
        for other in list(place.layers)[: list(place.layers).index(name)] if name in place.layers else ():
            if place.layers[other] == place.layers[name] and other in place.words.public:
                same = ast.Attribute(ast.Name("self", ast.Load()), other, ast.Load())
                says = sentence(f"{other} and {name} were one and the same layer")
                joint = sentence(f"{other} stood for all layers of its kind: they were one and the same")
                yield Change(f"{name} is {other}", changed(node, value=same), says, cost=1, joint=joint)


def _dropped(statement: ast.stmt, place: Place) -> str:
    """Say that a statement was left out; "" if there are no words for it."""
    if isinstance(statement, ast.Expr) and (step := STEPS.get(called(statement.value))):
        return sentence(f"{step} were left out")
    if isinstance(statement, ast.If) and any(isinstance(part, ast.Raise) for part in statement.body):
        tested = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)} & place.words.public
        about = " and ".join(name for name in place.parameters if name in tested)
        return sentence(f"{about} were not checked: no exception is raised") if about else ""
    if isinstance(statement, ast.If) and any(isinstance(part, ast.Break) for part in statement.body):
        return sentence("the loop never stopped early")
    if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "attr", "") == "training":
        return sentence("the modes of the model were not put back as they were")
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        again = statement.targets[0].id
        reads = [node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)]
        uses = [place.words.callee(node) for node in ast.walk(statement.value) if isinstance(node, ast.Call)]
        if again in reads and (used := next((name for name in uses if name), "")):
            return sentence(f"the step with {used} were left out")
    return ""


def _gradient(node: ast.AST, place: Place) -> Iterator[Change]:
    """Cut a tensor off from the gradient."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        for index, element in enumerate(node.value.elts):
            cut = [*node.value.elts[:index], method(element, "detach"), *node.value.elts[index + 1 :]]
            returned = changed(node, value=changed(node.value, elts=cut))
            noun = place.words.noun(element)
            known = noun in ("the weights", "the maps")
            which = f"{noun} that you return" if known else f"the {('first', 'second')[index]} result"
            yield Change(f"result {index} detached", returned, _cut_off(which), "gradient", 1)
    elif isinstance(node, (ast.Call, ast.Name, ast.Attribute)) and isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        name = place.words.noun(node)
        inside = isinstance(place.parent, (ast.Call, ast.BinOp, ast.keyword, ast.Return, ast.Assign))
        is_called = isinstance(place.parent, ast.Call) and node is place.parent.func
        if isinstance(node, ast.Attribute) and place.layers.get(node.attr) != "Parameter":
            return
        inside = inside or isinstance(place.parent, ast.Subscript)
        kind = place.parameters.get(node.id, "Tensor") if isinstance(node, ast.Name) else "Tensor"
        floats = kind.startswith("Tensor") and not any(word in name for word in ("mask", "root", "ids", "rate"))
        if name and inside and floats and not is_called and not is_library(node):
            yield Change(f"{name} detached", method(node, "detach"), _cut_off(name), "gradient")
    elif isinstance(node, ast.FunctionDef) and any("no_grad" in ast.unparse(each) for each in node.decorator_list):
        rest = [each for each in node.decorator_list if "no_grad" not in ast.unparse(each)]
        says = "It works with gradients, and so keeps every step in memory: none are needed here (no_grad)."
        yield Change("no_grad dropped", changed(node, decorator_list=rest), says, "gradient", 1)


def _cut_off(name: str) -> str:
    return f"The gradient is cut off at {name}: look there for .detach(), .data, .item(), .tolist(), numpy and no_grad."
