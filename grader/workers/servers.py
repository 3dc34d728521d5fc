"""The fork servers of a worker process: one for each thread that grades, started on first use or shared."""

from __future__ import annotations

import atexit
import socket
import threading

from grader.execution.process import SharedServer
from grader.execution.server import Server

# The fork servers of this process, by the thread that uses them: a Dask worker may have several.
_servers: dict[int, Server] = {}


def share(control: socket.socket, tier: str, device: str) -> None:
    """Use a fork server that runs already, rather than start one."""
    _servers[threading.get_ident()] = Server(isolation=tier, device=device, shared=SharedServer(control))


def thread_server(tier: str, device: str) -> Server:
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
