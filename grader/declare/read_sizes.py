"""Reads the sizes of a trial from the words in which students read them."""

import ast
import re
from typing import Any

import torch

from grader.declare.errors import DeclarationError
from grader.declare.trial import describe

NOT_IN_BRACKETS = r"(?![^(\[]*[)\]])"


def read_sizes(text: str) -> dict[str, Any]:
    """Return the sizes that `describe` puts into these words.

    Raises:
        DeclarationError: it would put them into others.
    """
    sizes = dict(_read_size(part) for part in re.split(f", {NOT_IN_BRACKETS}", text))
    if describe(sizes) != text:
        raise DeclarationError(f"the trial {text!r} would read {describe(sizes)!r}: write it so, or mend the sizes")
    return sizes


def _read_size(text: str) -> tuple[str, Any]:
    """Return the name of a size and the size."""
    if text == "no batch" or text.startswith("batch "):
        return "batch_shape", tuple(int(size) for size in re.findall(r"\d+", text))
    if found := re.fullmatch(r"(\d+) (\w+)", text):
        return _plural(found[2]) if found[1] == "1" else found[2], int(found[1])
    if found := re.fullmatch(r"(\w+) = (.+)", text):
        return found[1], _value(found[2])
    if isinstance(dtype := getattr(torch, text, None), torch.dtype):
        return "dtype", dtype
    raise DeclarationError(f"{text!r} is no size of a trial: write `5 queries`, `d_k = 3`, `batch 2 × 3` or `float64`")


def _value(text: str) -> Any:
    """Return a value as Python writes it; what Python does not read is a text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _plural(singular: str) -> str:
    """Undo `describe`; what is a plural stays one."""
    if singular.endswith("s"):
        return singular
    if re.search("[^aeiou]y$", singular):
        return singular[:-1] + "ies"
    return f"{singular}es" if singular.endswith("ch") else f"{singular}s"
