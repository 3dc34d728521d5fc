"""Slips that belong to one function of PyTorch: operators of mutants, as in mutation_operators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.explain.mutants.calls import method
from grader.explain.mutants.operators import Change, Place, assigned_layer, changed, literal
from grader.explain.mutants.phrases import called, is_library, number_of, sentence, signed

EPSILONS = (0.1, 0.01, 0.001, 1e-6)  # "so small that it changes nothing", people think


def slips(node: ast.AST, place: Place) -> Iterator[Change]:
    """Yield the slips that belong to one function of PyTorch, or to one way of writing."""
    if isinstance(node, ast.Call):
        yield from _single_calls(node, place)
        yield from _small_constants(node)
        yield from _fused(node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _added_inside(node, place)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        if isinstance(node.right, ast.Call) and called(node.right) in ("masked_fill", "sum"):
            for epsilon in EPSILONS:
                divisor = ast.BinOp(node.right, ast.Add(), ast.Constant(epsilon))
                says = sentence(f"{epsilon:g} were added to the divisor, which changes the result")
                yield Change(f"/ (… + {epsilon:g})", changed(node, right=divisor), says)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from _unshifted(node, place)


def _single_calls(node: ast.Call, place: Place) -> Iterator[Change]:
    """A triangle, a count, a length, an activation, a chain of layers."""
    name = called(node)
    if name in ("tril", "triu") and not node.args:
        for shift, words in ((-1, "left out the diagonal"), (1, "reached one place beyond the diagonal")):
            new = changed(node, args=[literal(shift)])
            yield Change(f"{name}({shift})", new, sentence(f"the triangle {words}"), cost=1)
    if name == "arange" and len(node.args) == 1:
        stop = ast.BinOp(node.args[0], ast.Add(), ast.Constant(1))
        new = changed(node, args=[ast.Constant(1), stop])
        yield Change("arange from 1", new, sentence("the positions were counted from 1, not from 0"), cost=1)
    if name == "norm" and not node.args:
        new = changed(node, args=[ast.Constant(1)])
        says = sentence("absolute values were added up where the Euclidean length is due")
        yield Change("norm p=1", new, says)
    if name == "cat" and node.args and isinstance(node.args[0], ast.List):
        for element, which in ((node.args[0].elts[0], "first"), (node.args[0].elts[-1], "last")):
            says = sentence(f"only the {which} part were kept and nothing joined to it")
            yield Change(f"cat: only the {which}", element, says)
    if place.layers.get(name) == "Linear" and len(node.args) == 1:
        active = ast.Call(ast.parse("__import__('torch').nn.functional.gelu", mode="eval").body, [node], [])
        says = sentence(f"a GELU followed {place.words.callee(node)}") if place.words.callee(node) else ""
        joint = sentence("a GELU followed every linear layer")
        yield Change("GELU after a layer", active, says, cost=3, joint=joint if says else "")
    if name == "Sequential":
        yield from _chains(node, place)


def _chains(node: ast.Call, place: Place) -> Iterator[Change]:
    """One activation more, or another width inside."""
    layer, links = assigned_layer(place), node.args
    active = [link for link in links if called(link) in ("GELU", "ReLU")]
    if layer and active:
        says = sentence(f"another GELU followed at the end of {layer}")
        longer = changed(node, args=[*links, active[0]])
        yield Change("activation at the end", longer, says, cost=1)
    linear = [link for link in links if isinstance(link, ast.Call) and called(link) == "Linear"]
    if not layer or len(linear) != 2 or len(links) != 3 or not isinstance(linear[0].args[1], ast.Name):
        return
    hidden = linear[0].args[1].id
    for name in place.parameters:
        if name.startswith("d_") and name != hidden:
            width = ast.Name(name, ast.Load())
            first = changed(linear[0], args=[linear[0].args[0], width])
            second = changed(linear[1], args=[width, linear[1].args[1]])
            new = changed(node, args=[first, links[1], second])
            says = sentence(f"the hidden layer of {layer} were {name} wide")
            yield Change(f"hidden width {name}", new, says, cost=1)


def _small_constants(node: ast.Call) -> Iterator[Change]:
    """A constant added inside a logarithm against log 0; a logarithm to another base."""
    if called(node) == "log" and isinstance(node.func, ast.Name):
        base = changed(node, func=ast.parse("__import__('math').log2", mode="eval").body)
        yield Change("log → log2", base, sentence("a logarithm to base 2 stood where the natural one is due"))
    if called(node) == "entr" and len(node.args) == 1:
        weights = node.args[0]
        for epsilon in EPSILONS:
            logs = method(ast.BinOp(weights, ast.Add(), ast.Constant(epsilon)), "log")
            terms = ast.UnaryOp(ast.USub(), ast.BinOp(weights, ast.Mult(), logs))
            says = sentence(f"{epsilon:g} were added inside the logarithm, which changes the result")
            yield Change(f"entr: log(… + {epsilon:g})", terms, says)
    inner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if called(node) != "log" or inner is None or is_library(inner):
        return
    for epsilon in EPSILONS:
        lifted = changed(node, func=changed(node.func, value=ast.BinOp(inner, ast.Add(), ast.Constant(epsilon))))
        says = sentence(f"{epsilon:g} were added inside the logarithm, which changes the result")
        yield Change(f"log(… + {epsilon:g})", lifted, says)


def _fused(node: ast.Call) -> Iterator[Change]:
    """Slips in the fused kernel's arguments."""
    if called(node) != "scaled_dot_product_attention":
        return
    unscaled = [*node.keywords, ast.keyword("scale", ast.Constant(1.0))]
    says = sentence("the scores were not divided by the root of the width")
    yield Change("scale=1", changed(node, keywords=unscaled), says, cost=2)
    without = [keyword for keyword in node.keywords if keyword.arg != "attn_mask"]
    causal = [*without, ast.keyword("is_causal", ast.Constant(True))]
    says = sentence("every query saw only the keys up to its own place (a causal mask), which nobody asked for")
    yield Change("is_causal", changed(node, keywords=causal), says, cost=2)
    if isinstance(node.args[0], ast.Starred):
        return
    width = ast.Subscript(ast.Attribute(node.args[0], "shape", ast.Load()), literal(-1), ast.Load())
    divided = ast.BinOp(node.args[0], ast.Div(), ast.BinOp(width, ast.Pow(), ast.Constant(0.5)))
    says = sentence("the queries were divided by the root of the width, which the kernel does itself")
    yield Change("scaled twice", changed(node, args=[divided, *node.args[1:]]), says, cost=2)


def _added_inside(node: ast.BinOp, place: Place) -> Iterator[Change]:
    """f(x) + 1 as f(x + 1); x + y as both side by side."""
    number, call = number_of(node.right), node.left
    if number is not None and isinstance(call, ast.Call) and len(call.args) == 1 and place.words.callee(call):
        inside = changed(call, args=[changed(node, left=call.args[0])])
        says = sentence(f"{signed(number)} were added inside {place.words.callee(call)}, not to what it returns")
        yield Change("added inside", inside, says, cost=1, joint=says)
        says = sentence(f"{signed(number)} were not added to {place.words.callee(call)}")
        yield Change("nothing added", call, says, cost=1, joint=says)
    left, right = place.words.noun(node.left), place.words.noun(node.right)
    if number is None and {left, right} <= place.words.public:
        function = ast.parse("__import__('torch').cat", mode="eval").body
        both = ast.List([node.left, method(node.right, "expand_as", node.left)], ast.Load())
        joined = ast.Call(function, [both, literal(-1)], [])
        says = sentence(f"{right} were put beside {left} (concatenated), not added to it")
        yield Change("concatenated", joined, says)


def _unshifted(node: ast.Name, place: Place) -> Iterator[Change]:
    """A parameter where something made of it is due; weights that go through a softmax again; an index from 1."""
    if node.id == "weights" and node.id in place.parameters and isinstance(place.parent, (ast.Attribute, ast.Call)):
        if getattr(place.parent, "attr", "") in ("shape", "device", "dtype"):
            return
        says = sentence("weights went through a softmax once more")
        yield Change("softmax again", method(node, "softmax", literal(-1)), says, cost=1)
    if not isinstance(place.parent, ast.Compare):
        return
    with_parameter = isinstance(place.parent.comparators[0], ast.Name)
    if place.parameters.get(node.id) == "int" and node.id == "head":
        earlier = ast.BinOp(node, ast.Sub(), ast.Constant(1))
        says = sentence(f"{node.id} were counted from 1, not from 0")
        yield Change(f"{node.id} from 1", earlier, says, cost=1)
    noun = place.words.noun(node)
    for name, kind in place.parameters.items():
        if (
            with_parameter
            and node.id not in place.parameters
            and noun
            and kind == "Tensor"
            and name in place.words.public
        ):
            says = sentence(f"{name} stood where {noun} should stand")
            yield Change(f"{node.id} → {name}", changed(node, id=name), says)
