"""Changes of one node of a syntax tree, in place."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

Node = Any  # of a syntax tree: which fields it has depends on its kind
Change = Callable[[Node], None]


def sets(field: str, value: object) -> Change:
    """Return a change that sets a field of a node."""
    return lambda node: setattr(node, field, value)


def puts(field: str, index: int, item: Node) -> Change:
    """Return a change that replaces an item in a field of a node."""
    return lambda node: getattr(node, field).__setitem__(index, item)


def drops(field: str, index: int) -> Change:
    """Return a change that takes an item out of a field of a node."""
    return lambda node: getattr(node, field).pop(index)


def become(node: Node, other: Node) -> None:
    """Make another node of one, in place."""
    attributes = dict(other.__dict__)
    node.__class__ = other.__class__
    node.__dict__.clear()
    node.__dict__.update(attributes)


def becomes_constant(value: int) -> Change:
    """Return a change that puts a constant in the place of a node."""
    return lambda node: become(node, ast.Constant(value))


def becomes(field: str) -> Change:
    return lambda node: become(node, getattr(node, field))


def swap_sides(node: Node) -> None:
    node.left, node.right = node.right, node.left


def negate(node: Node) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def unwrap_block(node: Node) -> None:
    body = node.body
    become(node, ast.If(test=ast.Constant(True), body=body, orelse=[], lineno=node.lineno, col_offset=0))


def out_of_place(node: Node) -> None:
    load = copy.deepcopy(node.target)
    load.ctx = ast.Load()
    value = ast.BinOp(load, node.op, node.value)
    become(node, ast.Assign(targets=[node.target], value=value, lineno=node.lineno, col_offset=node.col_offset))


def without_underscore(node: Node) -> None:
    node.func = ast.Attribute(node.func.value, node.func.attr[:-1], ast.Load())


def drop_method(node: Node) -> None:
    become(node, node.func.value)


def bracket_the_exponent(node: Node) -> None:
    power = node.left
    become(node, ast.BinOp(power.left, ast.Pow(), ast.BinOp(power.right, ast.Div(), node.right)))
