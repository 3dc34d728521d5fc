"""Reserve a user of its own for each sandbox, where the grader runs as root.

The kernel counts many things for each user: descriptors in flight, watches, pending signals, pages of pipes, processes.
What one submission uses up is then missing to no other.
"""

import os
import socket
from itertools import count

from grader.sandbox.sandbox_description import UNPRIVILEGED

# User ids that neither distributions nor systemd give to anybody, small enough for containers with 65,536 users.
FIRST, COUNT = 60_800, 256
_next = count(os.getpid())


class SandboxUser:
    """A user whom no other sandbox on this machine has until `release`; `uid` is 0 if there is none to be had."""

    def __init__(self) -> None:
        """Reserve a user if this process is root. If it is not, or all are reserved, sandboxes share a user."""
        self.uid, self._name = 0, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        if os.getuid() != 0:
            return
        # Not the one that was released last: what it had in flight, the kernel may still have to clear away.
        start = next(_next)
        for uid in (FIRST + (start + offset) % COUNT for offset in range(COUNT)):
            try:  # the kernel frees the name when this process ends
                self._name.bind(f"\0attention-grader-user-{uid}")
            except OSError:
                continue
            if is_mapped(uid) and not _has_account(uid):
                self.uid = uid
                return
            self._name.close()
            self._name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    @property
    def outside(self) -> int:
        """The user id that the sandbox's processes have on this machine."""
        return self.uid or shared_user()

    def release(self) -> None:
        """Let other sandboxes have this user; a second call does nothing."""
        self._name.close()


def shared_user() -> int:
    """Return the user id of the fork server, and of sandboxes without a user of their own."""
    return UNPRIVILEGED if os.getuid() == 0 else os.getuid()


def is_mapped(uid: int, path: str = "/proc/self/uid_map") -> bool:
    """Tell whether a process here can become this user: a container may have few."""
    with open(path) as file:
        ranges = [tuple(map(int, line.split())) for line in file]
    return any(first <= uid < first + size for first, _, size in ranges)


def _has_account(uid: int) -> bool:
    """Tell whether this machine knows somebody with this user id."""
    import pwd  # which Windows does not have

    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
