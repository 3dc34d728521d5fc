"""Nodes of a syntax tree: what they are, and copies of them with other fields."""

from __future__ import annotations

import ast
import copy
from typing import Any

LIBRARIES = ("torch", "F", "nn", "math", "np")


def changed(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other fields; the children are shared."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def literal(number: float) -> ast.expr:
    """Return the node of a number."""
    return ast.UnaryOp(ast.USub(), ast.Constant(-number)) if number < 0 else ast.Constant(number)


def method(node: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    """Return the node of a method's call."""
    return ast.Call(ast.Attribute(node, name, ast.Load()), list(arguments), [])


def called(node: ast.AST | None) -> str:
    """Return the last name of what a call calls; "" if it is no call."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def is_library(node: ast.AST) -> bool:
    """Tell whether this is torch, F, nn, math or np, or a part of them."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in LIBRARIES


def is_method(node: ast.Call) -> bool:
    """Tell whether a call is that of a tensor's method, and not of a library's function or of one's own layer."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return owner is not None and not is_library(owner) and getattr(owner, "id", "") != "self"


def is_text(node: ast.AST) -> bool:
    """Tell whether a statement is a docstring, or another constant that does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
