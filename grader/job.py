"""One submission as a job: all that a worker needs comes with it, and no file is shared.

The worker has the grader installed, in the coordinator's version; the submission's code, the student notebook that it
is put into and the course secret travel with the job.
"""

from __future__ import annotations

import atexit
import platform
import socket
import threading
import zlib
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache

import nbformat
from nbformat import NotebookNode

from grader import grading
from grader.cores import own_core
from grader.execution.interpreter import Server
from grader.execution.process import SharedServer
from grader.grading import Graded
from grader.store import code_digest
from grader.submission.found import Found


class OtherVersion(Exception):
    """This worker's grader is not the coordinator's: its grade would be another one."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """A submission, and what it is graded with."""

    found: Found  # with its code, or with the reason why it cannot be read
    released: bytes = field(repr=False)  # the student notebook, packed
    code: str  # digest of the coordinator's grader, declaration and packages
    secret: str = field(repr=False)
    device: str
    tier: str  # of isolation: this one, and no lower
    run_all: bool = False


def pack(notebook: bytes) -> bytes:
    """A notebook as it travels."""
    return zlib.compress(notebook, 9)


def run(job: Job) -> Graded:
    """Grade it, in this process.

    Raises:
        OtherVersion: the grader here is another one.
        IsolationError: this machine does not reach the tier that was asked for.
    """
    if _digest(job.released) != job.code:
        raise OtherVersion(
            f"{platform.node()} has another grader, course or Python packages than the machine that hands out the "
            "work. Install the same on both"
        )
    server = _server(job.tier, job.device)
    with own_core() if job.device == "cpu" else nullcontext():  # a GPU's driver has threads of its own
        return grading.grade(
            job.found,
            server=server,
            secret=job.secret,
            released=_notebook(job.released),
            device=job.device,
            run_all=job.run_all,
        )


@lru_cache(8)
def _notebook(released: bytes) -> NotebookNode:
    return nbformat.reads(zlib.decompress(released).decode("utf-8"), as_version=4)


@lru_cache(8)
def _digest(released: bytes) -> str:
    return code_digest(zlib.decompress(released))


# The fork servers of this process, by the thread that uses them: a Dask worker may have several.
_servers: dict[int, Server] = {}


def share(control: socket.socket, tier: str, device: str) -> None:
    """Use a fork server that runs already, rather than start one."""
    _servers[threading.get_ident()] = Server(isolation=tier, device=device, shared=SharedServer(control))


def _server(tier: str, device: str) -> Server:
    import torch

    torch.set_num_threads(1)  # the class runs side by side
    mine = threading.get_ident()
    held = _servers.get(mine)
    if held is None or (held.isolation, held.device) != (tier, device):
        if held is not None:
            held.close()
        held = _servers[mine] = Server(isolation=tier, device=device)
    return held


@atexit.register
def close_servers() -> None:
    """End this process's fork servers."""
    while _servers:
        _servers.popitem()[1].close()
