"""Starts the fork server before this process imports torch, so that both import it at the same time.

A fork server is a process that starts a sandbox for each submission.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from grader.sandbox.errors import IsolationError
from grader.sandbox.process import ServerProcess
from grader.sandbox.tiers import likely_tier
from grader.sandbox.visible_gpu import visible_gpu


@contextmanager
def head_start(
    root: Path, device: str, isolation: str, *, gradebook: str | None, force: bool
) -> Iterator[ServerProcess | None]:
    """Start a fork server for the CPU, yield it before it is ready, and close it at the end.

    Yield None if notebooks will run on a GPU. Also yield None if there are grades already and
    `force` is False, because then nothing may have to be graded. After an error, yield None, too:
    the workers start their own server, get the same error, and report it.
    """
    on_cpu = device == "cpu" or (device == "auto" and not visible_gpu().devices)
    if not on_cpu or not (force or is_new(root, gradebook)):
        yield None
        return
    try:
        server = ServerProcess(likely_tier(isolation), wait=False)
    except (IsolationError, OSError):
        yield None
        return
    with closing(server):
        yield server


def is_new(root: Path, gradebook: str | None) -> bool:
    """Return True if the file of the gradebook does not exist yet. Do not import nbgrader, which is slow.

    Args:
        gradebook: the gradebook's URL, or None for gradebook.db in the course's folder.
    """
    file = Path(gradebook.removeprefix("sqlite:///")) if gradebook else root / "gradebook.db"
    return not file.exists()
