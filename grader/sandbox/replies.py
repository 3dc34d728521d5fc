"""Convert the replies of a sandbox's init to cell results and evidence. A reply is not trusted.

All functions are pure. A cell's outputs are sanitised for a notebook that a person will open. HTML, SVG, JavaScript,
LaTeX and widgets are dropped, because nbconvert and formgrader show them unescaped. Plain text, which IPython sends
with everything that it displays, and pictures are kept. Whether a probe changed its inputs is checked here, because
student code inside the sandbox could replace the function that compares them.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any

from torch import Tensor

from grader.records import CellResult, Evidence, Inputs, Limits, Place, Request, Status, Value
from grader.sandbox.guest.codec import MOST_JSON, Refused, decode
from grader.sandbox.guest.frames import Ending, FrameError
from grader.sandbox.text import plain

PICTURE_STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
MAX_OUTPUTS = 1000


def sanitize(outputs: Any, raw: bytes, max_bytes: int) -> tuple[dict, ...]:
    """Return outputs in nbformat's form, with at most `max_bytes` in total.

    Args:
        outputs: the outputs that the sandbox reports for the cell; not trusted.
        raw: bytes that the cell wrote to file descriptors 1 and 2 without using sys.stdout or sys.stderr.
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
    """Return one output with only the fields and types that nbformat defines, or None if its form is not allowed."""
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
    """Return an output of printed text. `name` is "stdout" or "stderr"."""
    return {"output_type": "stream", "name": name, "text": text}


def _text_and_pictures(data: dict, max_bytes: int) -> dict[str, str]:
    """Return the plain text of an output, and its pictures if their first bytes are those of their format."""
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
    """Return an estimate of the bytes that an output takes in a notebook. `sanitize` must have returned the output."""
    parts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", ())]
    return 50 + sum(map(len, parts)) + sum(map(len, output.get("data", {}).values()))


UNCHANGED, CHANGED = "inputs unchanged", "changed"  # what `side_effects` in declare/probes.py reports


def with_true_effects(values: dict[str, Value], after: Sequence[Any], inputs: Inputs) -> dict[str, Value]:
    """Return a probe's report. Correct it if it claims that changed inputs are unchanged.

    A claim is the entry {"inputs unchanged": True}. A probe that tries changed answers reports one for each of them.

    Args:
        values: the probe's report.
        after: for each call that the probe checked, the inputs after the call by name, as the sandbox returned them.
        inputs: the inputs that were sent. Inputs that a probe derives from them
            have other names and are not compared.
    """
    claims = _claims(values)
    if not claims:
        return values
    # By name: two may have one, as an input and the direction of a result's gradient.
    sent: dict[str, list[Tensor]] = {}
    for name, tensor in _tensors(inputs):
        sent.setdefault(name, []).append(tensor)
    changed = {
        name: None
        for call in after
        for name, value in (call.items() if isinstance(call, dict) else ())
        if name in sent and not any(_is_same(value, tensor) for tensor in sent[name])
    }
    if changed or len(after) < claims:  # of a call that the probe looked at, the inputs are missing
        return _corrected(values, list(changed))
    return values


def _claims(value: Value) -> int:
    """Return the number of claims in a reported value that inputs are unchanged."""
    if isinstance(value, dict):
        return (value.get(UNCHANGED) is True) + sum(map(_claims, value.values()))
    return sum(map(_claims, value)) if isinstance(value, list) else 0


def _corrected(value: Any, changed: list[str]) -> Any:
    """Return a reported value with each claim that inputs are unchanged replaced by the names of changed inputs."""
    if isinstance(value, dict):
        report = {UNCHANGED: False, CHANGED: changed} if value.get(UNCHANGED) is True else {}
        return {**{name: _corrected(inner, changed) for name, inner in value.items()}, **report}
    return [_corrected(inner, changed) for inner in value] if isinstance(value, list) else value


def _tensors(inputs: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    """Yield name and tensor for all tensors among inputs, including those in nested mappings."""
    for name, value in inputs.items():
        if isinstance(value, Tensor):
            yield name, value
        elif isinstance(value, Mapping):
            yield from _tensors(value)


def _is_same(value: Any, sent: Tensor) -> bool:
    """Return True if a value is a tensor with the same dtype, shape and numbers as the sent tensor."""
    if not isinstance(value, Tensor) or value.dtype != sent.dtype or value.shape != sent.shape:
        return False
    sent = sent.detach().cpu()
    return bool(((value == sent) | ((value != value) & (sent != sent))).all())  # NaN is not equal to itself


MAX_TRIPS = 16  # built-ins that the tripwire may report for one probe
MAX_LINE = 10**6
MAX_ID = 100  # characters of a cell's id
MAX_SHAPES, MAX_NAME, MAX_AXES, MAX_SIZE = 6, 40, 8, 2**40  # of the tensors at a place
BUDGET_USED_UP = "the time for the whole submission was used up before"


@dataclass(frozen=True)
class Reply:
    """One reply of the init. The fields `raw`, `head` and `body` come from the interpreter."""

    ending: Ending
    raw: bytes = b""  # written to file descriptors 1 and 2
    head: bytes = b""
    body: bytes | memoryview = b""
    lost: bool = False  # the interpreter's state is gone, and its checkpoint too
    waited: float = 0.0  # seconds in which the interpreter was ready and no core was free for it


def parse_reply(header: bytes, body: memoryview) -> Reply:
    """Split the frame of a reply into its parts.

    Raises:
        FrameError: an init does not send such a header.
    """
    try:
        fields = json.loads(header)
        raw, head, waited = int(fields["raw"]), int(fields["head"]), float(fields.get("waited", 0.0))
        ending = Ending(fields["ending"])
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise FrameError("the header of a reply cannot be read") from error
    if ending in (Ending.USED_UP, Ending.OVER) or raw < 0 or head < 0 or not 0.0 <= waited < inf:
        raise FrameError("the header of a reply says what no init reports")
    parts = bytes(body[:raw]), bytes(body[raw : raw + head]), body[raw + head :]
    return Reply(ending, *parts, lost=bool(fields.get("lost")), waited=waited)


def cell_result(reply: Reply, limits: Limits, *, allowed: float, took: float, max_output: int) -> CellResult:
    """Return the result of a cell.

    Args:
        allowed: the cell's time limit in seconds.
        took: the cell's time in seconds.
        max_output: the largest allowed number of bytes of its outputs.
    """
    head: dict[str, Any] = {}
    status, message = _status(reply, limits, allowed)
    if reply.ending is Ending.ANSWER:
        try:
            head = parse(reply.head, len(reply.head))
            status = Status.RAISED if head.get("status") == "raised" else Status.OK
            message = plain(head.get("message"))
        except Refused as error:
            status, message = Status.OK, str(error)
    count = head.get("execution_count")
    return CellResult(
        status=status,
        outputs=sanitize(head.get("outputs"), reply.raw, max_output),
        error=plain(head.get("error"), 200),
        message=message,
        place=place(head.get("place")),
        seconds=took,
        execution_count=count if isinstance(count, int) and 0 <= count < 10**6 else None,
    )


def evidence(
    request: Request, key: str, reply: Reply, limits: Limits, *, took: float, bytes_left: int
) -> tuple[Evidence, int]:
    """Return the evidence in the reply to one trial of a request, and its size in bytes.

    The size is subtracted from the submission's budget for evidence. The size of an exception is 0.
    Values that exceed the budget are refused.

    Args:
        took: the time of the trial in seconds.
        bytes_left: the rest of the budget before this reply.
    """
    common: dict[str, Any] = {"key": key, "seconds": took}
    status, message = _status(reply, limits, request.seconds)
    if reply.ending is not Ending.ANSWER:
        return Evidence(**common, status=status, message=message), 0
    size = 0
    try:
        head = parse(reply.head)
        common["trips"] = _trips(head.get("trips"))
        if head.get("status") == "raised":
            raised = Evidence(
                **common,
                status=Status.RAISED,
                error=plain(head.get("error"), 200),
                lineage=_lineage(head.get("lineage")),
                message=plain(head.get("message")),
                place=place(head.get("place")),
            )
            return raised, 0
        if head.get("status") != "ok":
            raise Refused(plain(head.get("message")) or "something that is no answer came back")
        size = len(reply.head) + len(reply.body)
        if size > bytes_left:
            raise Refused("more came back, over all checks together, than is accepted")
        match _cleaned(decode(head.get("tree"), reply.body)):
            case [dict(values), list(after)]:
                values = with_true_effects(values, after, request.trials[key])
            case _:
                raise Refused("something that is no answer of a check came back")
    except Refused as error:
        return Evidence(**common, status=Status.REFUSED, message=plain(str(error))), size
    return Evidence(**common, status=Status.OK, values=values), size


def parse(header: bytes, most: int = MOST_JSON) -> dict[str, Any]:
    """Parse the JSON object at the beginning of an answer.

    Raises:
        Refused: the header is too large, or is not a JSON object.
    """
    if len(header) > most:
        raise Refused(f"an answer of {len(header) / 2**20:.0f} MiB beside its tensors came back")
    try:
        answer = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise Refused("the answer of the sandbox is not JSON: something wrote into its channel") from error
    if not isinstance(answer, dict):
        raise Refused("the answer of the sandbox is not an object: something wrote into its channel")
    return answer


def _cleaned(value: Any) -> Any:
    """Return a decoded value in which all text is cleaned, so that it can be stored and shown."""
    if isinstance(value, str):
        return plain(value, MOST_JSON)
    if isinstance(value, dict):
        return {plain(name, 200): _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def _status(reply: Reply, limits: Limits, allowed: float) -> tuple[Status, str]:
    """Return the status for a reply's ending, and the message for the student.

    For the ending ANSWER the status is OK for now: the caller reads the final status from `reply.head`.
    """
    match reply.ending:
        case Ending.ANSWER:
            return Status.OK, ""
        case Ending.TIMEOUT:
            return Status.TIMEOUT, f"it took more than {allowed:g} s and was stopped"
        case Ending.USED_UP:
            return Status.TIMEOUT, f"{BUDGET_USED_UP} ({limits.seconds:g} s)"
        case Ending.MEMORY:
            memory = f"{limits.memory_bytes / 2**30:.1f} GB"
            return Status.DIED, f"it used more than {memory} of memory and was stopped"
        case Ending.SCRATCH:
            scratch = f"{limits.scratch_bytes / 2**30:.1f} GB or {limits.scratch_files} files"
            return Status.DIED, f"it wrote more than {scratch}"
        case Ending.REFUSED:
            head = {}
            with suppress(Refused):
                head = parse(reply.head)
            return Status.REFUSED, plain(head.get("message")) or "something that is no answer came back"
    return Status.DIED, "Python ended before it was finished: a crash, an exit, or a limit that was exceeded"


def _trips(reported: Any) -> tuple[tuple[str, str], ...]:
    """Return the built-ins that the tripwire reported, as pairs (built-in, caller).

    The caller is the exercise or the provided cell whose code called the built-in, or "" for the exercise's own code.
    """
    pairs = reported[:MAX_TRIPS] if isinstance(reported, list) else []
    return tuple(
        (plain(pair[0], 100), plain(pair[1], 100)) for pair in pairs if isinstance(pair, list) and len(pair) == 2
    )


def _lineage(reported: Any) -> tuple[str, ...]:
    """Return the names of an exception's class and its bases, at most 20, or () if the report is not a list."""
    return tuple(plain(name, 200) for name in reported[:20]) if isinstance(reported, list) else ()


def place(reported: Any) -> Place:
    """Return the reported place of an exception, which is only shown. Leave out parts of the wrong type or size."""
    if not isinstance(reported, dict):
        return Place()
    given = reported.get("given")
    given_cell, given_line = given if isinstance(given, list) and len(given) == 2 else ("", 0)
    return Place(
        cell=plain(reported.get("cell"), MAX_ID),
        line=_number(reported.get("line")),
        column=_number(reported.get("column")),
        shapes=_shapes(reported.get("shapes")),
        given_cell=plain(given_cell, MAX_ID),
        given_line=_number(given_line),
    )


def _number(value: Any) -> int:
    """Return a reported line or column, or 0 (unknown) if it is not a possible number."""
    return value if type(value) is int and 0 < value <= MAX_LINE else 0


def _shapes(reported: Any) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the reported names and shapes of up to MAX_SHAPES tensors. Leave out entries of the wrong form."""
    found = []
    for entry in reported[:MAX_SHAPES] if isinstance(reported, list) else ():
        match entry:
            case [str(name), list(sizes)] if name.isidentifier() and len(name) <= MAX_NAME:
                if len(sizes) <= MAX_AXES and all(type(n) is int and 0 <= n < MAX_SIZE for n in sizes):
                    found.append((plain(name, MAX_NAME), tuple(sizes)))
    return tuple(found)
