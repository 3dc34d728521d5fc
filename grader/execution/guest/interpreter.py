"""The process that student code runs in: it forks itself before a cell or a probe.

The process that forked waits, untouched, as the checkpoint; the fork runs the cell and goes on from there. Two
exceptions run in the process itself, without a checkpoint: what it is told to run "here", and everything once it has
used CUDA, for then it cannot be forked.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import signal
import socket
import sys
import threading
from contextlib import nullcontext

import torch
from guest import frames, gpu, linux, probe, stand_in, tripwire
from guest.shell import SINK, Shell, said

_exit, _fork, _getpid = os._exit, os.fork, os.getpid


def serve(control: socket.socket, shell: Shell, limits: dict) -> None:
    """Answer orders until the init closes the channel; never returns."""
    SINK.per_cell, SINK.left_in_all = limits["cell_output_bytes"], limits["output_bytes"]
    greet(control)
    children: list[int] = []
    while True:
        order, channel = _next(control)
        if order == b"ping":
            greet(channel)
            channel.close()
            continue
        children = [child for child in children if not _gone(child)]
        in_place = order == b"here" or (limits["cuda"] and gpu.in_use())
        try:
            child = 0 if in_place else _fork_cleanly(shell)
        except OSError:
            channel.close()  # the init sees it, makes room, and asks again
            continue
        if child:
            children.append(child)
            channel.close()
            continue
        if not in_place:
            children = []
        greet(channel)
        if order == b"call":
            if not in_place and limits["landlock"]:
                linux.landlock_apart()
            with gpu.same_random_numbers() if in_place else nullcontext():
                _answer(channel, shell, limits["evidence_bytes"])
            channel.close()
            if not in_place:
                _exit(0)
        else:
            control.close()
            control = channel
            _run_cell(control, shell, _receive(control)[0])


def _receive(channel: socket.socket) -> tuple[dict, bytes]:
    header, blob = frames.receive(channel, most_header=64 << 20, most_body=1 << 30)
    return json.loads(header), blob


def _answer(channel: socket.socket, shell: Shell, most: int) -> None:
    """Requests, one after the other, until the init has no more for this fork."""
    me = _getpid()
    while True:
        try:
            request, blob = _receive(channel)
        except frames.FrameError:
            return
        SINK.begin()
        stand_in.speak_through(channel)
        answer = probe.answer(request, blob, shell.user_ns, most)
        if _getpid() != me:
            _exit(0)
        frames.send(channel, *answer)


def greet(channel: socket.socket) -> None:
    """One byte, which carries this process's id by the kernel's word."""
    channel.settimeout(None)
    channel.send(b"H")


def _next(control: socket.socket) -> tuple[bytes, socket.socket]:
    try:
        control.settimeout(None)
        order, descriptors, _, _ = socket.recv_fds(control, 4, 1)
    except OSError:
        _exit(0)
    if not order or not descriptors:
        _exit(0)
    return order, socket.socket(fileno=descriptors[0])


def _fork_cleanly(shell: Shell) -> int:
    """os.fork(), without what forks of a Python that has been used suffer from."""
    pooled = len(os.listdir("/proc/self/task")) > 1 if os.path.isdir("/proc/self/task") else False
    paused = not pooled or _end_thread_pools()
    numbers = random.getstate()  # Python draws a new seed in every fork
    child = _fork()
    if child == 0:
        random.setstate(numbers)
        if not paused:
            torch.set_num_threads(1)
        # IPython's own thread for %%bash did not come along; without this, the next %%bash would wait for it.
        if script := shell.magics_manager.registry.get("ScriptMagics"):
            script.event_loop = None
    return child


def _end_thread_pools() -> bool:
    """End OpenMP's idle threads: in a fork they would be missing, and the next parallel loop would wait for them."""
    with open("/proc/self/maps") as file:
        libraries = {line.split()[-1] for line in file if "omp" in line.rpartition("/")[2] and ".so" in line}
    ended = True
    for library in libraries:
        try:
            ended &= ctypes.CDLL(library).omp_pause_resource_all(2) == 0
        except (OSError, AttributeError):
            ended = False
    return ended


def _gone(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _run_cell(channel: socket.socket, shell: Shell, order: dict) -> None:
    me = _getpid()
    SINK.begin()
    tripwire.begin(order["origin"], order["defines"])
    stand_in.speak_through(channel)
    count = shell.execution_count
    try:
        result = shell.loop().run_until_complete(shell.run_as_in_jupyter(order["source"]))
        error = result.error_before_exec or result.error_in_exec
    except BaseException as raised:
        error = raised
    shell.user_ns.update({name: stand_in.function(name) for name in order["stand_ins"]})
    if _getpid() != me:
        _exit(0)  # a fork of the student's own that came out of the cell at this end
    # What would strike between cells, when no cell is there to be blamed.
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.settrace(None)
    threading.settrace(None)
    header = {
        "status": "raised" if error is not None else "ok",
        "error": type(error).__name__ if error is not None else "",
        "message": said(error) if error is not None else "",
        "outputs": SINK.take(),
        "execution_count": count,
    }
    frames.send(channel, json.dumps(header).encode())
