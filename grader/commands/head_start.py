"""Start the fork server before this process imports torch, so that both import it at the same time."""

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

    Yield None if notebooks will run on a GPU, or if the server may not be needed because there are grades
    already and `force` is off. Yield None after an error, too: the workers start a server of their own, meet the same
    error, and report it.
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
    """Return True if the gradebook has no file yet; do not import nbgrader. Without a URL, it is the course's own."""
    file = Path(gradebook.removeprefix("sqlite:///")) if gradebook else root / "gradebook.db"
    return not file.exists()
