"""The fork servers of a worker process: one for each thread that grades, started on first use or shared."""

from __future__ import annotations

import atexit
import socket
import threading

from grader.execution.process import SharedServer
from grader.execution.server import Server

# By id of the thread that uses it: a Dask worker may have several.
_servers: dict[int, Server] = {}


def share(control: socket.socket, tier: str, device: str) -> None:
    """Let this thread use a fork server that another process started.

    Args:
        control: the socket on which that server takes requests.
    """
    _servers[threading.get_ident()] = Server(isolation=tier, device=device, shared=SharedServer(control))


def thread_server(tier: str, device: str) -> Server:
    """Return this thread's fork server; start one where it has none of this tier and device."""
    import torch

    torch.set_num_threads(1)  # submissions are graded side by side
    thread = threading.get_ident()
    server = _servers.get(thread)
    if server is None or (server.isolation, server.device) != (tier, device):
        if server is not None:
            server.close()
        server = _servers[thread] = Server(isolation=tier, device=device)
    return server


@atexit.register
def close_servers() -> None:
    """End this process's fork servers."""
    while _servers:
        _servers.popitem()[1].close()
