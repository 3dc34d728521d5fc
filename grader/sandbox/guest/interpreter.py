"""The process that runs student code. Before each cell or probe it forks, and the fork runs the code.

The process that forked waits, unchanged, as the checkpoint. After a cell, the fork receives the next order.

For an order "here" there is no fork, and so no checkpoint: the process runs the cell itself. After it has used CUDA,
it runs every order in this way, because it can no longer be forked.
"""

import builtins
import ctypes
import json
import os
import random
import signal
import socket
import sys
import threading
from contextlib import nullcontext
from typing import Any

import torch
from guest import frames, gpu, linux, places, probe, tripwire
from guest.shell import SINK, Shell, error_text

# Taken before student code can replace them.
_exit, _fork, _getpid = os._exit, os.fork, os.getpid
# A student's class in the place of the notebook's dict gets no call: no code of it may run before a probe is watched.
_get, _pop, _set = dict.get, dict.pop, dict.__setitem__
PLAIN = (str, int, float, type(None), torch.device)
MISSING = object()  # the value of a name that nothing binds
# What given cells made of the names that mean the same to all of them, as `seed`.
_settings: dict[str, Any] = {}


def serve(control: socket.socket, shell: Shell, limits: dict) -> None:
    """Carry out orders until the init closes the channel. Never return."""
    SINK.per_cell, SINK.left_in_all = limits["cell_output_bytes"], limits["output_bytes"]
    send_greeting(control)
    children: list[int] = []
    while True:
        order, channel = _next_order(control)
        if order == b"ping":
            send_greeting(channel)
            channel.close()
            continue
        children = [child for child in children if not _reaped(child)]
        in_place = order == b"here" or (limits["cuda"] and gpu.in_use())
        try:
            child = 0 if in_place else _fork_cleanly(shell)
        except OSError:
            channel.close()  # the init notices this, kills other processes, and sends the order again
            continue
        if child:
            children.append(child)
            channel.close()
            continue
        if not in_place:
            children = []
        send_greeting(channel)
        if order == b"call":
            if not in_place and limits["landlock"]:
                linux.deny_signals_outward()
            with gpu.same_random_numbers() if in_place else nullcontext():
                _answer(channel, shell, limits["evidence_bytes"])
            channel.close()
            if not in_place:
                _exit(0)
        else:
            control.close()
            control = channel
            _run_cell(control, shell, _receive(control)[0])


def _receive(channel: socket.socket) -> tuple[dict, memoryview]:
    """Receive the request after an order, and the bytes of its tensors. The request is a cell or a probe."""
    header, blob = frames.receive(channel, most_header=64 << 20, most_body=1 << 30)
    return json.loads(header), blob


def _answer(channel: socket.socket, shell: Shell, most: int) -> None:
    """Answer one request after the other until the init closes the channel.

    Each trial has an answer of at most `most` bytes.
    """
    me = _getpid()
    while True:
        try:
            request, blob = _receive(channel)
        except frames.FrameError:
            return
        for trial in request["trials"]:
            tensors, blob = blob[: trial["bytes"]], blob[trial["bytes"] :]
            SINK.begin()
            # Settings such as `device`; a function or a library is what the student's code made of its name.
            for name in [name for name, value in _settings.items() if isinstance(value, PLAIN)]:
                _bind(shell.user_ns, name, _settings[name])
            answer = probe.answer(request, trial["inputs"], tensors, shell.user_ns, most)
            if _getpid() != me:
                _exit(0)  # this is a fork that the student's code made, and only the original process answers
            frames.send(channel, *answer)


def send_greeting(channel: socket.socket) -> None:
    """Send one byte. The kernel adds this process's id to it."""
    channel.settimeout(None)
    channel.send(b"H")


def _next_order(control: socket.socket) -> tuple[bytes, socket.socket]:
    """Wait for an order and its channel, and return both. Exit when the init closes `control`."""
    try:
        control.settimeout(None)
        order, descriptors, _, _ = socket.recv_fds(control, 4, 1)
    except OSError:
        _exit(0)
    if not order or not descriptors:
        _exit(0)
    return order, socket.socket(fileno=descriptors[0])


def _fork_cleanly(shell: Shell) -> int:
    """Fork as os.fork does, and prepare the child.

    In the child, OpenMP and %%bash work, and the random number generator has the parent's state.
    """
    has_threads = len(os.listdir("/proc/self/task")) > 1 if os.path.isdir("/proc/self/task") else False
    pools_ended = not has_threads or _end_thread_pools()
    random_state = random.getstate()  # Python seeds `random` anew in every fork
    child = _fork()
    if child == 0:
        random.setstate(random_state)
        if not pools_ended:
            torch.set_num_threads(1)
        # The thread that IPython runs %%bash in does not exist in the child; the next %%bash would wait for it.
        if script := shell.magics_manager.registry.get("ScriptMagics"):
            script.event_loop = None
    return child


def _end_thread_pools() -> bool:
    """End OpenMP's idle threads. Return True if all have ended.

    These threads do not exist in a fork, so the fork's next parallel loop would wait for them forever.
    """
    with open("/proc/self/maps") as file:
        libraries = {line.split()[-1] for line in file if "omp" in line.rpartition("/")[2] and ".so" in line}
    ended = True
    for library in libraries:
        try:
            ended &= ctypes.CDLL(library).omp_pause_resource_all(2) == 0
        except (OSError, AttributeError):
            ended = False
    return ended


def _reaped(child: int) -> bool:
    """Return True if a child process has ended, and collect its exit status."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _run_cell(channel: socket.socket, shell: Shell, order: dict) -> None:
    """Run a cell, and send its status and its outputs.

    Before a provided cell or an answer, gradients are switched on and the default dtype is float32
    again. The settings of the lesson, such as `seed`, have the values that provided cells gave them
    while the cell runs. A process that the student's code has forked in the cell ends here.
    """
    me = _getpid()
    SINK.begin()
    tripwire.begin(order["origin"], order["defines"], order["cell"], order["source"])
    places.begin(order["cell"], order["origin"] == tripwire.GIVEN, order["source"])
    settings = _with_settings(shell.user_ns, order["settings"])
    if order["origin"]:  # what a cell of the student's own, or a wrong answer, switched off must not reach further
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
    count, refused = shell.execution_count, False
    error: BaseException | None
    try:
        result = shell.loop().run_until_complete(shell.run_as_in_jupyter(order["source"]))
        refused = result.error_before_exec is not None
        error = places.as_python_says(result.error_before_exec) if refused else result.error_in_exec
    except BaseException as raised:
        error = raised
    if _getpid() != me:
        _exit(0)  # this is a fork that the student's code made, and only the original process answers
    _put_back(shell.user_ns, settings)
    # A timer or a trace function must not interrupt this process between cells.
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.settrace(None)
    threading.settrace(None)
    header = {
        "status": "raised" if error is not None else "ok",
        "error": type(error).__name__ if error is not None else "",
        "message": error_text(error) if error is not None else "",
        "place": places.place_in_cell(error, refused) if error is not None else None,
        "outputs": SINK.take(),
        "execution_count": count,
    }
    frames.send(channel, json.dumps(header).encode())


def _with_settings(names: dict, settings: list[str]) -> dict[str, tuple[Any, Any]]:
    """Give settings the values that provided cells left, and return each setting's old and new value.

    A setting without such a value gets the built-in of the same name. If there is none, it does not change.
    """
    values = {}
    for name in settings:
        before = _get(names, name, MISSING)
        now = _settings.get(name, MISSING if hasattr(builtins, name) else before)
        values[name] = before, now
        _bind(names, name, now)
    return values


def _put_back(names: dict, values: dict[str, tuple[Any, Any]]) -> None:
    """After a provided cell, store the settings that it has bound, and restore the student's values of all others.

    Args:
        values: what `_with_settings` returned: each setting's old value, and the value for the cell.
    """
    for name, (before, given) in values.items():
        now = _get(names, name, MISSING)
        if now is not given:
            _settings[name] = now
        else:
            _bind(names, name, before)


def _bind(names: dict, name: str, value: Any) -> None:
    """Bind a name, or remove it if the value is MISSING."""
    if value is MISSING:
        _pop(names, name, None)
    else:
        _set(names, name, value)
