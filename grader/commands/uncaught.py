"""Shows an uncaught error of a course's own `lessons` without the frames of the grader above them."""

import sys
from pathlib import Path
from types import TracebackType

from grader.paths import OWN_LESSONS


def show_from_lessons(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an uncaught error; if the course's lessons raised it, begin the traceback at their first frame.

    An author reads what they wrote, and not how the command line got there. Any other error keeps all of its traceback.
    """
    folders = [Path(folder) for folder in getattr(sys.modules.get(OWN_LESSONS), "__path__", ())]

    def is_own(file: str) -> bool:
        return any(Path(file).is_relative_to(folder) for folder in folders)

    first = trace
    while first is not None and not is_own(first.tb_frame.f_code.co_filename):
        first = first.tb_next
    if first is not None or (isinstance(error, SyntaxError) and is_own(error.filename or "")):
        error, trace = error.with_traceback(first), first
    sys.__excepthook__(kind, error, trace)
