"""Reserves a user for each sandbox, if the grader runs as root, and a folder for scratch files.

The kernel has limits for each user: on descriptors in flight, watches, pending signals, pages of pipes, and processes.
With a separate user, one submission cannot use up the share of another. In the lower tiers, each sandbox creates its
home in the folder for scratch files. This folder is removed even if the grader was killed.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path

from grader.sandbox.sandbox_description import UNPRIVILEGED

# User ids that neither distributions nor systemd give to anybody, small enough for containers with 65,536 users.
FIRST_USER, USERS = 60_800, 256
_next = count(os.getpid())


class SandboxUser:
    """A user that no other sandbox on this machine gets until `release`. `uid` is 0 if no such user is available."""

    def __init__(self) -> None:
        """Reserve a user if this process is root. Otherwise, or if all users are reserved, sandboxes share one user."""
        self.uid, self._name = 0, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        if os.getuid() != 0:
            return
        # Not the one that was released last: what it had in flight, the kernel may still have to clear away.
        start = next(_next)
        for uid in (FIRST_USER + (start + offset) % USERS for offset in range(USERS)):
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
        """The user id of the sandbox's processes, as seen from outside the sandbox."""
        return self.uid or shared_user()

    def release(self) -> None:
        """Let other sandboxes reserve this user. A second call does nothing."""
        self._name.close()


def shared_user() -> int:
    """Return the user id of the fork server. Sandboxes without a reserved user have the same id."""
    return UNPRIVILEGED if os.getuid() == 0 else os.getuid()


def is_mapped(uid: int, path: str = "/proc/self/uid_map") -> bool:
    """Return True if a process here can become this user. A container may have only few users."""
    with open(path) as file:
        ranges = [tuple(map(int, line.split())) for line in file]
    return any(first <= uid < first + size for first, _, size in ranges)


def _has_account(uid: int) -> bool:
    """Return True if there is an account with this user id on this machine."""
    import pwd  # which Windows does not have

    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


if sys.platform != "win32":
    import fcntl

SCRATCH_PREFIX = "grader-scratch-"


class Scratch:
    """A folder for the homes of one fork server's sandboxes. This process keeps a lock on it until it ends."""

    def __init__(self) -> None:
        """Create the folder among the system's temporary files, and lock it."""
        while True:
            folder = tempfile.mkdtemp(prefix=SCRATCH_PREFIX)
            self._lock = os.open(folder, os.O_RDONLY)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if os.path.isdir(folder):
                break
            os.close(self._lock)  # before it was locked, another grader took it for one that was left
        self.home = f"{folder}/home"
        os.mkdir(self.home, 0o700)
        if os.getuid() == 0:  # each child is a user of its own
            os.chmod(self.home, 0o1777)
        os.chmod(folder, 0o755)

    def remove(self) -> None:
        """Remove the folder, with everything that a sandbox's init could not remove. A second call does nothing."""
        if self._lock >= 0:
            _remove(os.path.dirname(self.home))
            os.close(self._lock)
            self._lock = -1


def remove_stale() -> None:
    """Remove folders left by this user's graders that no longer exist, because they were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH_PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid != os.getuid() or not folder.is_dir():
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError: its grader lives
                _remove(str(folder))
            finally:
                os.close(lock)


def _remove(folder: str) -> None:
    """Remove a folder with rm, which follows no links and can remove folders nested to any depth."""
    if rm := shutil.which("rm"):
        subprocess.run([rm, "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)
    else:
        shutil.rmtree(folder, ignore_errors=True)
