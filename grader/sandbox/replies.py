"""Turn the replies of a sandbox's init into cell results and evidence. Pure functions; a reply is not trusted."""

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from grader.records import CellResult, Evidence, Limits, Place, Request, Status
from grader.sandbox.effects import with_true_effects
from grader.sandbox.guest.codec import MOST_JSON, Refused, decode
from grader.sandbox.outputs import sanitize
from grader.sandbox.text import plain

MAX_TRIPS = 16  # built-ins that the tripwire may report for one probe
MAX_LINE = 10**6
MAX_ID = 100  # characters of a cell's id
MAX_SHAPES, MAX_NAME, MAX_AXES, MAX_SIZE = 6, 40, 8, 2**40  # of the tensors at a place
BUDGET_USED_UP = "the time for the whole submission was used up before"


@dataclass(frozen=True)
class Reply:
    """One reply of the init; `raw`, `head` and `body` come from the interpreter."""

    # The outcome that guest/init.py reports, without its suffix " lost"; or, from connection.py, "used up" (the time
    # for the submission has passed before the order was sent) and "over" (the sandbox has no connection any more).
    outcome: str
    raw: bytes = b""  # written to file descriptors 1 and 2
    head: bytes = b""
    body: bytes | memoryview = b""
    lost: bool = False  # the interpreter's state is gone, and its checkpoint too
    waited: float = 0.0  # seconds in which the interpreter was ready and no core was free for it


def parse_reply(header: bytes, body: memoryview) -> Reply:
    """Split the frame of one reply into its parts."""
    fields = json.loads(header)
    outcome = fields["outcome"]
    if outcome == "fault":
        return Reply(outcome, head=fields.get("message", "").encode())
    head_start, body_start = fields["raw"], fields["raw"] + fields["head"]
    return Reply(
        outcome.removesuffix(" lost"),
        bytes(body[:head_start]),
        bytes(body[head_start:body_start]),
        body[body_start:],
        lost=outcome.endswith("lost"),
        waited=fields.get("waited", 0.0),
    )


def cell_result(reply: Reply, limits: Limits, *, allowed: float, took: float, max_output: int) -> CellResult:
    """Return the result of a cell that was allowed `allowed` seconds and took `took`."""
    head: dict[str, Any] = {}
    status, message = _status(reply, limits, allowed)
    if reply.outcome == "answer":
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
    """Return the evidence in the reply to one trial of a request, and the bytes to subtract from the budget for evidence.

    `bytes_left` is what remains of that budget before this reply. Only values that a probe returns count against it, not
    exceptions; values that exceed it are refused.
    """
    common: dict[str, Any] = {"key": key, "seconds": took}
    status, message = _status(reply, limits, request.seconds)
    if reply.outcome != "answer":
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
    """Parse the JSON object with which an answer begins.

    Raises:
        Refused: the header is too large, or no JSON object.
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
    """Return a decoded value with all its text made fit to store and to show."""
    if isinstance(value, str):
        return plain(value, MOST_JSON)
    if isinstance(value, dict):
        return {plain(name, 200): _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def _status(reply: Reply, limits: Limits, allowed: float) -> tuple[Status, str]:
    """Return the status that follows from the reply's outcome, and the message for the student.

    For the outcome "answer" the status is a preliminary OK: the caller reads the real one from `reply.head`.
    """
    match reply.outcome:
        case "answer":
            return Status.OK, ""
        case "timeout":
            return Status.TIMEOUT, f"it took more than {allowed:g} s and was stopped"
        case "used up":
            return Status.TIMEOUT, f"{BUDGET_USED_UP} ({limits.seconds:g} s)"
        case "memory":
            memory = f"{limits.memory_bytes / 2**30:.1f} GB"
            return Status.DIED, f"it used more than {memory} of memory and was stopped"
        case "scratch":
            scratch = f"{limits.scratch_bytes / 2**30:.1f} GB or {limits.scratch_files} files"
            return Status.DIED, f"it wrote more than {scratch}"
        case "refused":
            head = {}
            with suppress(Refused):
                head = parse(reply.head)
            return Status.REFUSED, plain(head.get("message")) or "something that is no answer came back"
    return Status.DIED, "Python ended before it was finished: a crash, an exit, or a limit that was exceeded"


def _trips(reported: Any) -> tuple[tuple[str, str], ...]:
    """Return the built-ins that the tripwire reported, each with the exercise or the given cell that is responsible."""
    pairs = reported[:MAX_TRIPS] if isinstance(reported, list) else []
    return tuple(
        (plain(pair[0], 100), plain(pair[1], 100)) for pair in pairs if isinstance(pair, list) and len(pair) == 2
    )


def _lineage(reported: Any) -> tuple[str, ...]:
    """Return the names of an exception's class and its bases, at most 20; () if no list was reported."""
    return tuple(plain(name, 200) for name in reported[:20]) if isinstance(reported, list) else ()


def place(reported: Any) -> Place:
    """Return the place of an exception, which is only shown, without whatever is not of the expected type and size."""
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
    """Return a line or a column; 0, which stands for none, if it is no possible one."""
    return value if type(value) is int and 0 < value <= MAX_LINE else 0


def _shapes(reported: Any) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the names and shapes of up to MAX_SHAPES tensors, without entries of another form."""
    found = []
    for entry in reported[:MAX_SHAPES] if isinstance(reported, list) else ():
        match entry:
            case [str(name), list(sizes)] if name.isidentifier() and len(name) <= MAX_NAME:
                if len(sizes) <= MAX_AXES and all(type(n) is int and 0 <= n < MAX_SIZE for n in sizes):
                    found.append((plain(name, MAX_NAME), tuple(sizes)))
    return tuple(found)
