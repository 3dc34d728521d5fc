"""The channels between a sandbox's init and its interpreters, each with the process at its other end."""

import os
import select
import socket
import struct
from dataclasses import dataclass

CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True)
class InterpreterProcess:
    """An interpreter, a fork of it, or a checkpoint, with the channel to it."""

    channel: socket.socket
    pid: int  # from the kernel, not from the process
    pidfd: int

    def ended(self) -> bool:
        """Tell whether the process has ended."""
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def close(self) -> None:
        """Close the channel; an interpreter that waits for orders then exits."""
        self.channel.close()
        os.close(self.pidfd)


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Return the init's end of a new channel, which receives the sender's process id, and the interpreter's end."""
    init_end, interpreter_end = socket.socketpair()
    init_end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return init_end, interpreter_end


def receive_greeting(channel: socket.socket) -> InterpreterProcess | None:
    """Receive the first byte of an interpreter, to which the kernel attaches the interpreter's process id.

    Return None if no byte arrives or the process has ended.
    """
    data, ancillary, _, _ = channel.recvmsg(1, socket.CMSG_SPACE(CREDENTIALS.size))
    for level, kind, value in ancillary:
        if data and level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            pid = CREDENTIALS.unpack(value)[0]
            try:
                return InterpreterProcess(channel, pid, os.pidfd_open(pid))
            except OSError:
                return None
    return None


def send_part(channel: socket.socket, data: memoryview) -> memoryview:
    """Send as much as the channel takes without waiting; return the rest, empty if the process has ended."""
    try:
        return data[channel.send(data[: 1 << 20]) :]
    except BlockingIOError:
        return data
    except OSError:
        return memoryview(b"")  # the caller learns from the process's pidfd that it has ended
