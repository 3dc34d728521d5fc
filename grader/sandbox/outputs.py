"""Sanitise a cell's outputs, as the sandbox reports them, for a notebook that a person will open.

HTML, SVG, JavaScript, LaTeX and widgets are dropped: nbconvert and formgrader show them unescaped. IPython sends plain
text with everything that it displays; that text is kept, and so are pictures.
"""

import base64
import binascii
from typing import Any

from grader.sandbox.text import plain

PICTURE_STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
MAX_OUTPUTS = 1000


def sanitize(outputs: Any, raw: bytes, max_bytes: int) -> tuple[dict, ...]:
    """Return the outputs as nbformat stores them, with at most `max_bytes` in all.

    Args:
        outputs: the sandbox's report of what the cell displayed; not trusted.
        raw: what the cell wrote to file descriptors 1 and 2 without going through sys.stdout and sys.stderr.
    """
    kept = []
    for reported in outputs[:MAX_OUTPUTS] if isinstance(outputs, list) else ():
        output = _sanitize(reported, max_bytes) if isinstance(reported, dict) else None
        if output is None:
            continue
        size = bytes_in_notebook(output)
        if size > max_bytes:
            kept.append(_stream("stderr", "[The output was cut here: it is longer than what is kept.]\n"))
            return tuple(kept)
        max_bytes -= size
        kept.append(output)
    if raw and (text := plain(raw[:max_bytes].decode("utf-8", "replace"), max_bytes)):
        kept.append(_stream("stdout", text))
    return tuple(kept)


def _sanitize(output: dict, max_bytes: int) -> dict | None:
    """Return one output with only the fields and types that nbformat knows; None if it has another form."""
    match output:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return _stream(name, plain(text, max_bytes)) if text else None
        case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(lines)}:
            traceback = [plain(line) for line in lines[:200]]
            return {"output_type": "error", "ename": plain(name, 200), "evalue": plain(value), "traceback": traceback}
        case {"output_type": "display_data", "data": dict(data)}:
            return {"output_type": "display_data", "data": _text_and_pictures(data, max_bytes), "metadata": {}}
        case {"output_type": "execute_result", "data": dict(data), "execution_count": int(count)}:
            shown = {"output_type": "execute_result", "data": _text_and_pictures(data, max_bytes), "metadata": {}}
            return shown | {"execution_count": min(max(count, 0), 10**6)}
    return None


def _stream(name: str, text: str) -> dict:
    """Make an output of printed text; `name` is stdout or stderr."""
    return {"output_type": "stream", "name": name, "text": text}


def _text_and_pictures(data: dict, max_bytes: int) -> dict[str, str]:
    """Keep the plain text of a display, and pictures whose first bytes are those of their format."""
    kept = {}
    for kind, value in data.items():
        if isinstance(value, str) and kind == "text/plain":
            kept[kind] = plain(value, max_bytes)
        elif isinstance(value, str) and kind in PICTURE_STARTS:
            try:
                picture = base64.b64decode("".join(value[: 2 * max_bytes].split()), validate=True)
            except (ValueError, binascii.Error):
                continue
            if picture.startswith(PICTURE_STARTS[kind]):
                kept[kind] = base64.b64encode(picture).decode()
    return kept


def bytes_in_notebook(output: dict) -> int:
    """Estimate the bytes that one output, as `sanitize` returns it, takes in a notebook."""
    parts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", ())]
    return 50 + sum(map(len, parts)) + sum(map(len, output.get("data", {}).values()))
