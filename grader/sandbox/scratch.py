"""The folder in which each child of a lower tier makes its own home; removed also after a grader that was killed."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = "grader-scratch-"


class Scratch:
    """A folder for the homes of one fork server's children. This process holds a lock on it as long as it lives."""

    def __init__(self) -> None:
        """Make the folder, where the system has its temporary files, and lock it."""
        while True:
            folder = tempfile.mkdtemp(prefix=PREFIX)
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
        """Remove the folder, with what a sandbox's init could not remove; a second call does nothing."""
        if self._lock >= 0:
            _remove(os.path.dirname(self.home))
            os.close(self._lock)
            self._lock = -1


def remove_stale() -> None:
    """Remove the folders of this user's graders that no longer exist: a killed grader leaves its folder."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
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
    """Remove a folder; rm follows no link and removes folders nested to any depth."""
    if rm := shutil.which("rm"):
        subprocess.run([rm, "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)
    else:
        shutil.rmtree(folder, ignore_errors=True)
