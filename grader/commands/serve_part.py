"""Finds the modules of `grader serve`, by name: nothing of grader imports them, and they need the extra `serve`."""

from importlib import import_module
from types import ModuleType

from grader.complaint import Complaint

NEEDED = "starlette uvicorn sse_starlette multipart python_multipart itsdangerous joserfc pydantic".split()


class NotInstalled(Complaint):
    """The extra `serve` is missing; the message says how to get it."""


def serve_part(name: str) -> ModuleType:
    """Import a module of grader/serve; raise NotInstalled if a package that it needs is missing."""
    try:
        return import_module(f"grader.serve.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        raise NotInstalled(f"{error.name} is missing. Run: pip install 'attention-course[serve]'") from error
