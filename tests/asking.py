"""A Jupyter client that asks for a message every few seconds, instead of waiting once for as long as it may take.

Among other tests nbclient was seen to wait all of its 300 seconds for the reply of a cell that takes one, and then to go on
with that reply: it had been there, and the event loop was not woken. pyzmq waits for an edge of a socket's file descriptor, and
others have seen it miss one (zeromq/pyzmq issues 1085, 1203 and 2173); that this is the cause here is likely, and was not shown.
Asked again, the client has the reply at once.
"""

from __future__ import annotations

from contextlib import suppress
from math import inf
from queue import Empty
from time import monotonic
from typing import Any

from jupyter_client.channels import AsyncZMQSocketChannel

SECONDS = 5.0
get_once = AsyncZMQSocketChannel.get_msg


async def ask(channel: AsyncZMQSocketChannel, timeout: float | None = None) -> dict[str, Any]:
    """Stand in for `AsyncZMQSocketChannel.get_msg`."""
    stop = inf if timeout is None else monotonic() + timeout
    while stop - monotonic() > SECONDS:
        with suppress(Empty):
            return await get_once(channel, timeout=SECONDS)
    return await get_once(channel, timeout=max(stop - monotonic(), 0))
