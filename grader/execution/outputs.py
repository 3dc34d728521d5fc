"""The outputs of a cell, as the sandbox tells them, made safe to keep in a notebook that a person will open.

HTML, SVG, JavaScript, LaTeX and widgets are not kept: nbconvert and formgrader show them unescaped. What IPython
displays has a plain-text twin, and that is kept, with pictures.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from grader.evidence.text import plain

STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
MOST_OUTPUTS = 1000


def clean(outputs: Any, raw: bytes, most: int) -> tuple[dict, ...]:
    """nbformat outputs of at most so many bytes.

    Args:
        outputs: what the sandbox says was shown; trusted in nothing.
        raw: what was written to the descriptors 1 and 2, past Python.
    """
    kept = []
    for output in outputs[:MOST_OUTPUTS] if isinstance(outputs, list) else ():
        made = _output(output, most) if isinstance(output, dict) else None
        if made is None:
            continue
        cost = _size(made)
        if cost > most:
            kept.append(_stream("stderr", "[The output was cut here: it is longer than what is kept.]\n"))
            return tuple(kept)
        most -= cost
        kept.append(made)
    if raw and (text := plain(raw[:most].decode("utf-8", "replace"), most)):
        kept.append(_stream("stdout", text))
    return tuple(kept)


def _output(output: dict, most: int) -> dict | None:
    match output:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return _stream(name, plain(text, most)) if text else None
        case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(lines)}:
            traceback = [plain(line) for line in lines[:200]]
            return {
                "output_type": "error",
                "ename": plain(name, 200),
                "evalue": plain(value),
                "traceback": traceback,
            }
        case {"output_type": "display_data", "data": dict(data)}:
            return {"output_type": "display_data", "data": _data(data, most), "metadata": {}}
        case {"output_type": "execute_result", "data": dict(data), "execution_count": int(count)}:
            count = min(max(count, 0), 10**6)
            return {
                "output_type": "execute_result",
                "data": _data(data, most),
                "metadata": {},
                "execution_count": count,
            }
    return None


def _stream(name: str, text: str) -> dict:
    return {"output_type": "stream", "name": name, "text": text}


def _data(data: dict, most: int) -> dict[str, str]:
    kept = {}
    for kind, value in data.items():
        if isinstance(value, str) and kind == "text/plain":
            kept[kind] = plain(value, most)
        elif isinstance(value, str) and kind in STARTS:
            try:
                picture = base64.b64decode("".join(value[: 2 * most].split()), validate=True)
            except (ValueError, binascii.Error):
                continue
            if picture.startswith(STARTS[kind]):
                kept[kind] = base64.b64encode(picture).decode()
    return kept


def _size(output: dict) -> int:
    parts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", ())]
    return 50 + sum(map(len, parts)) + sum(map(len, output.get("data", {}).values()))


def size(outputs: tuple[dict, ...]) -> int:
    """About how many bytes outputs take."""
    return sum(map(_size, outputs))
