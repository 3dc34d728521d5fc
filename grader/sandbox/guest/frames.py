"""Send and receive frames over a socket. Both sides of the sandbox use this module.

A frame consists of magic bytes, two lengths, a header and a body. The receiver checks the lengths against its limits
before it reads the rest. `Ending` lists the endings that the headers contain.
"""

import socket
import struct
import time
from enum import StrEnum, auto

MAGIC = b"att1"
PRELUDE = struct.Struct("!4sIQ")


class Ending(StrEnum):
    """The ways in which an order for a cell or a probe can end. The init reports them."""

    READY = auto()  # the interpreter runs; the first reply, before any order
    ANSWER = auto()  # the interpreter has answered
    TIMEOUT = auto()
    DIED = auto()
    MEMORY = auto()  # the sandbox used more than it may
    SCRATCH = auto()  # its files are larger or more than they may be
    REFUSED = auto()  # what the interpreter sent is not an answer
    NOT_BEGUN = auto()  # no interpreter was there to begin with it
    FAULT = auto()  # the init itself failed
    # Endings that no init reports:
    USED_UP = auto()  # the time for the submission had passed before the order was sent
    OVER = auto()  # the sandbox has no connection any more


class FrameError(Exception):
    """The bytes are not a frame, or the frame is too large."""


class Closed(FrameError):
    """The other side has closed the socket."""


class Late(FrameError):
    """The deadline passed before the frame was complete."""


class Inbox:
    """Assembles one frame from the pieces that arrive."""

    def __init__(self, most_header: int, most_body: int) -> None:
        """Accept a frame whose header and body have at most these numbers of bytes."""
        self._most = most_header, most_body
        self._got = bytearray()
        self._sizes: tuple[int, int] | None = None

    @property
    def missing(self) -> int:
        """The number of bytes that are missing from the prelude or, once it is complete, from the frame.

        The prelude is the magic bytes and the lengths. Reading this many bytes never reads beyond the frame.
        """
        size = PRELUDE.size + (sum(self._sizes) if self._sizes else 0)
        return size - len(self._got)

    def feed(self, data: bytes) -> tuple[bytes, memoryview] | None:
        """Add bytes. Return header and body if the frame is complete, and None otherwise.

        The body, which may be large, is not copied.

        Raises:
            FrameError: the bytes are not a frame, or the frame is larger than allowed.
        """
        self._got += data
        if self._sizes is None and len(self._got) >= PRELUDE.size:
            magic, header, body = PRELUDE.unpack_from(self._got)
            if magic != MAGIC:
                raise FrameError("not a frame")
            if header > self._most[0] or body > self._most[1]:
                raise FrameError(f"an answer of {(header + body) / 2**20:.0f} MiB, more than is accepted")
            self._sizes = header, body
        if self._sizes is None or self.missing:
            return None
        cut = PRELUDE.size + self._sizes[0]
        frame = memoryview(self._got)
        return bytes(frame[PRELUDE.size : cut]), frame[cut:]


def pack(header: bytes | memoryview, body: bytes | memoryview = b"") -> bytes:
    """Return the bytes of one frame."""
    return b"".join((PRELUDE.pack(MAGIC, len(header), len(body)), header, body))


def send(sock: socket.socket, header: bytes, body: bytes | memoryview = b"", *, deadline: float | None = None) -> None:
    """Send one frame.

    Args:
        deadline: a time of time.monotonic(); None for no deadline.

    Raises:
        Closed: the other side has closed the socket.
        Late: the other side did not read the frame in time.
    """
    view = memoryview(pack(header, body))
    try:
        while view:
            sock.settimeout(_left(deadline))
            view = view[sock.send(view) :]
    except TimeoutError as error:
        raise Late("the frame was not taken in time") from error
    except OSError as error:
        raise Closed(str(error)) from error


def receive(
    sock: socket.socket, *, most_header: int, most_body: int, deadline: float | None = None
) -> tuple[bytes, memoryview]:
    """Receive the next frame and return its header and body.

    Args:
        most_header, most_body: the largest allowed numbers of bytes.
        deadline: a time of time.monotonic(); None for no deadline.

    Raises:
        Closed: the other side has closed the socket.
        Late: the frame did not arrive in time.
        FrameError: the bytes are not a frame, or the frame is larger than allowed.
    """
    inbox = Inbox(most_header, most_body)
    while True:
        try:
            sock.settimeout(_left(deadline))
            data = sock.recv(min(inbox.missing, 1 << 20))
        except TimeoutError as error:
            raise Late("no answer in time") from error
        except OSError as error:
            raise Closed(str(error)) from error
        if not data:
            raise Closed("the other side is gone")
        if (frame := inbox.feed(data)) is not None:
            return frame


def _left(deadline: float | None) -> float | None:
    """Return the seconds until the deadline, or None without a deadline.

    Raises:
        TimeoutError: the deadline has passed.
    """
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
