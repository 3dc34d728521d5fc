"""Frames over a socket: magic, two lengths, a header and a body. Sizes are bounded before anything is read."""

from __future__ import annotations

import socket
import struct
import time

MAGIC = b"att1"
QUESTION = b"ask1"  # for a stand-in: the answer to what was asked comes later
PRELUDE = struct.Struct("!4sIQ")


class FrameError(Exception):
    """What came over the socket is no frame of ours, or too large."""


class Closed(FrameError):
    """The other side is gone."""


class Late(FrameError):
    """The deadline passed first."""


class Inbox:
    """One frame, put together from pieces as they arrive."""

    def __init__(self, most_header: int, most_body: int, kinds: tuple[bytes, ...] = (MAGIC,)) -> None:
        self._most, self._kinds = (most_header, most_body), kinds
        self.kind = b""
        self._got = bytearray()
        self._sizes: tuple[int, int] | None = None

    @property
    def missing(self) -> int:
        """How many bytes to ask for next; never more than belong to this frame."""
        whole = PRELUDE.size + (sum(self._sizes) if self._sizes else 0)
        return whole - len(self._got)

    def feed(self, data: bytes) -> tuple[bytes, memoryview] | None:
        """Header and body once the frame is whole; the body, which may be large, is not copied.

        Raises:
            FrameError: it is no frame, or larger than allowed.
        """
        self._got += data
        if self._sizes is None and len(self._got) >= PRELUDE.size:
            magic, header, body = PRELUDE.unpack_from(self._got)
            if magic not in self._kinds:
                raise FrameError("not a frame")
            self.kind = magic
            if header > self._most[0] or body > self._most[1]:
                raise FrameError(f"an answer of {(header + body) / 2**20:.0f} MiB, more than is accepted")
            self._sizes = header, body
        if self._sizes is None or self.missing:
            return None
        cut = PRELUDE.size + self._sizes[0]
        frame = memoryview(self._got)
        return bytes(frame[PRELUDE.size : cut]), frame[cut:]


def pack(header: bytes, body: bytes | memoryview = b"", magic: bytes = MAGIC) -> bytes:
    """The bytes of one frame."""
    return b"".join((PRELUDE.pack(magic, len(header), len(body)), header, body))


def send(
    sock: socket.socket,
    header: bytes,
    body: bytes | memoryview = b"",
    *,
    magic: bytes = MAGIC,
    deadline: float | None = None,
) -> None:
    """Send one frame; deadline is in time.monotonic()'s seconds.

    Raises:
        Closed: the other side is gone.
        Late: it did not take the frame in time.
    """
    view = memoryview(pack(header, body, magic))
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
    """Header and body of the next frame.

    Raises:
        Closed: the other side is gone.
        Late: the frame was not there in time.
        FrameError: it is no frame, or larger than allowed.
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
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
