"""The fork servers of a worker process: one for each thread that grades, started on first use or shared."""

import atexit
import socket
import threading

from grader.sandbox.process import ServerProcess, SharedServer
from grader.sandbox.server import Server

# Thread id → the fork server that this thread uses. A Dask worker may grade in several threads.
_servers: dict[int, Server] = {}


def share(control: socket.socket, tier: str, device: str) -> None:
    """Let this thread use a fork server of another process; `control` is a socket on which it takes requests."""
    _servers[threading.get_ident()] = Server(isolation=tier, device=device, shared=SharedServer(control))


def use(server: ServerProcess) -> None:
    """Let this thread use a fork server that was started early; the first submission waits until it is ready."""
    _servers[threading.get_ident()] = Server(isolation=server.tier, device=server.device, shared=server)


def thread_server(tier: str, device: str) -> Server:
    """Return this thread's fork server; start a new one if it has none with this tier and device."""
    import torch

    torch.set_num_threads(1)  # other jobs use the other cores
    thread = threading.get_ident()
    server = _servers.get(thread)
    if server is None or (server.isolation, server.device) != (tier, device):
        if server is not None:
            server.close()
        server = _servers[thread] = Server(isolation=tier, device=device)
    return server


@atexit.register
def close_servers() -> None:
    """End the fork servers that this process started, and its connections to shared ones."""
    while _servers:
        _servers.popitem()[1].close()
