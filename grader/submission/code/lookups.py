"""Find the names that code looks up as text, as `getattr(F, "softmax")` does."""

import ast

# Functions that look something up by its name; the name may be put together from constants.
LOOKUPS = frozenset("getattr __getattribute__ attrgetter methodcaller import_module __import__ find_spec".split())
# Calls and attributes that return a table of names: vars(F)["softmax"], globals().get("softmax").
TABLES = frozenset("vars globals locals __dict__ modules".split())
RUNS_TEXT = frozenset("eval exec".split())
MOST_PARTS = 200  # nodes of a sum of string constants that are read: no name has a hundred letters


def looked_up(node: ast.AST) -> list[str]:
    """Return the names that a node looks up as text: in `getattr(F, "softmax")`, `vars(F)["softmax"]` and the like."""
    match node:
        case ast.Call(func=ast.Name(id=function) | ast.Attribute(attr=function), args=arguments):
            if function in RUNS_TEXT:
                texts = filter(None, map(_constant_text, arguments))
                return [word for text in texts for word in _words(text)]
            asks_table = function in ("get", "pop", "__getitem__") and _is_table(node.func)
            if function in LOOKUPS or asks_table:
                return [part for text in map(_constant_text, arguments) if text for part in text.split(".")]
        case ast.Subscript(value=value, slice=key) if _is_table(value) and (text := _constant_text(key)):
            return [text]
    return []


def _words(text: str) -> list[str]:
    """Return the words of a text that may be names."""
    return "".join(letter if letter.isidentifier() or letter.isdigit() else " " for letter in text).split()


def _is_table(node: ast.AST) -> bool:
    """Tell whether an expression begins with a table of names, as `vars(F)` or `torch.__dict__`."""
    while True:
        match node:
            case ast.Call(func=ast.Name(id=name)) | ast.Attribute(attr=name) if name in TABLES:
                return True
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return False


def _constant_text(node: ast.AST) -> str:
    """Return the text of a string constant, of a sum of string constants, or of an f-string of them.

    Return "" for any other node, where any part is empty, and for more nodes than a name that is banned has.
    """
    parts: list[str] = []
    todo = [node]
    for _ in range(MOST_PARTS):  # a loop: a sum of a thousand terms is too deep for a call
        if not todo:
            return "".join(parts)
        match todo.pop():
            case ast.Constant(value=str(text)) if text:
                parts.append(text)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                todo += (right, left)
            case ast.JoinedStr(values=[_, *_] as values):
                todo += reversed(values)
            case ast.FormattedValue(value=value):
                todo.append(value)
            case _:
                return ""
    return ""
