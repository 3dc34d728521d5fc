"""The fork server: a Python process that has imported everything that lessons use. Each submission gets a fork of it.

It runs in the minimal root, as an unprivileged user, and never receives a submission: the trusted side
only passes it one connection for each child. It ends when the trusted side closes its connection.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

if __name__ == "__main__":
    ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, ROOT)

from guest import frames, linux
from guest.confinement import Confinement

if TYPE_CHECKING:
    from guest.shell import Shell

USER = struct.Struct("!I")


def main() -> None:
    """Import everything, report to the trusted side, and fork children until it closes `control`.

    Before the report, fork a confined child that tries to read the course. If the child can read it, report this and
    end. If the configuration contains "trial", only do this test.
    """
    started = time.monotonic()
    control = socket.socket(fileno=int(sys.argv[1]))
    header, program = frames.receive(control, most_header=1 << 20, most_body=1 << 20)
    config = json.loads(header)
    confinement = Confinement(
        tier=config["tier"],
        home=config["home"],
        read=tuple(config["read"]),
        listed=tuple(config["list"]),
        write=tuple(config["write"]),
        filter=bytes(program),
        below_tmp=tuple(config["below_tmp"]),
        device=config["device"],
    )
    os.chdir(confinement.home)
    if config["trial"]:
        linux.forbid_new_privileges()
        problem = _problem(confinement, config["limits"], config["hidden"])
        frames.send(control, json.dumps({"error": problem} if problem else {}).encode())
        return
    from guest import gpu

    with gpu.hidden():
        shell, versions = _warm_up()
    if confinement.device == "cuda" and gpu.in_use():
        raise RuntimeError("the fork server has initialised CUDA: its children could not use it")
    confinement = replace(confinement, initial_files=_font_cache(confinement.home))
    sys.path.remove(ROOT)
    sys.path.insert(0, "")
    if problem := _problem(confinement, config["limits"], config["hidden"]):
        frames.send(control, json.dumps({"error": problem}).encode())
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    ready = {"ready": time.monotonic() - started, "versions": versions}
    frames.send(control, json.dumps(ready).encode())
    _serve(control, confinement, shell)


def _serve(control: socket.socket, confinement: Confinement, shell: Shell) -> None:
    """Fork a child for each connection that arrives over `control`. Return when the other end of `control` is closed.

    Each connection arrives with the child's user id, as for `Confinement.enter_namespaces`.
    """
    from guest.processes import open_descriptors

    keep, forks = open_descriptors() - {control.fileno()}, 0
    while True:
        control.settimeout(None)
        message, descriptors, _, _ = socket.recv_fds(control, USER.size, 1)
        if not message:
            return
        connection = socket.socket(fileno=descriptors[0])
        if os.fork() == 0:
            _start_child(connection, confinement, shell, keep, USER.unpack(message)[0], control)
        connection.close()
        forks += 1
        if (warm_up := WARM_UP_AFTER.get(forks)) is not None:
            warm_up()


def _start_child(
    connection: socket.socket, confinement: Confinement, shell: Shell, keep: set[int], user: int, control: socket.socket
) -> NoReturn:
    """In a fork of the server: start a sandbox's init and exit. If this fails, send the reason before exiting."""
    from guest import init

    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        init.start(connection, confinement, shell, keep, user=user, control=control)
        os._exit(0)
    except OSError as error:
        connection.send(b"F" + str(error).encode()[:200])
    finally:
        os._exit(70)


def _warm_up() -> tuple[Shell, dict[str, str]]:
    """Import and use everything that lessons use. Return the shell and the versions of the packages.

    All imports use one thread, because a fork has no other threads.
    """
    gc.disable()  # imports create no garbage, and looking for it takes half a second
    import numpy.random  # which numpy imports only when it is used
    import torch

    torch.set_num_threads(1)
    import matplotlib.pyplot
    import torch.nn.functional
    import torch.utils.data
    from guest.library_internals import defer_compiler, fork_workers
    from guest.shell import make_shell

    defer_compiler()
    fork_workers()
    shell = make_shell()
    for name in ("ipywidgets", "tqdm.auto", "matplotlib_inline.backend_inline"):
        with suppress(ImportError):
            __import__(name)
    gc.freeze()  # nothing imported is garbage: what looks for garbage below need not look through it
    asynchronous = "import asyncio, inspect, random, math, time\nawait asyncio.sleep(0)"
    for source in (asynchronous, "def warm():\n    raise ValueError\nwarm()"):  # the second prints a traceback
        shell.loop().run_until_complete(shell.run_as_in_jupyter(source))
    _train_once()
    shell.reset(new_session=True)
    # Children would share the loop's queue and sockets: what one does to them, all would notice. Each makes its own.
    shell.loop().close()
    torch.multiprocessing.set_sharing_strategy("file_system")  # the other one sends descriptors
    from guest import tripwire

    tripwire.install()
    importlib.import_module("guest.init")  # now, so that gc.freeze() applies to its objects too
    threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
    if threads != 1:
        raise RuntimeError(f"the fork server has {threads} threads and must have one")
    gc.collect()
    _share_memory()
    versions = {"torch": torch.__version__, "numpy": numpy.__version__, "matplotlib": matplotlib.__version__}
    return shell, versions


def _warm_up_torch_and_matplotlib() -> None:
    """Use some rarely used functions once, so that no submission has to wait for their first use.

    The first operation on the device "meta" imports sympy, which takes a fifth of a second. The
    first figure takes a tenth of a second.
    """
    import torch

    gc.disable()
    _draw_once()
    with suppress(Exception):  # a PyTorch that cannot do this only loses the time that it saves
        torch.lt(torch.arange(2, device="meta"), torch.ones(2, device="meta"))
    _share_memory()


def _import_scikit_learn() -> None:
    """Import the parts of scikit-learn that answers use.

    Otherwise each submission that uses them would wait most of a second for the import.
    """
    gc.disable()
    for name in ("sklearn.linear_model", "sklearn.metrics"):
        with suppress(ImportError):
            importlib.import_module(name)
    _share_memory()


# Functions that the server calls after so many forks, while the submissions run. No submission
# waits for the first function. The second takes a second. That is worth it in a class, in which
# some students use scikit-learn; a single notebook takes only one or two forks.
WARM_UP_AFTER = {1: _warm_up_torch_and_matplotlib, 5: _import_scikit_learn}


def _share_memory() -> None:
    """Share the imported objects with all forks.

    The garbage collector no longer touches these objects, and a fork copies them quickly.
    """
    gc.freeze()
    gc.enable()
    if sys.platform == "linux":
        linux.use_huge_pages()


def _draw_once() -> None:
    """Draw a figure, so that matplotlib imports its backend and reads its fonts before the first fork."""
    import matplotlib.pyplot as plt
    import numpy

    figure = plt.figure()
    plt.plot([1, 2])
    plt.imshow(numpy.zeros((2, 2)))
    plt.colorbar()
    plt.title("warm")
    figure.savefig(io.BytesIO(), format="png")
    plt.close("all")


def _train_once() -> None:
    """Take one step of an optimizer, so that torch imports the modules for it before the first fork.

    The gradients are set to ones, because the first `backward` of a process counts the GPUs, which
    starts the driver and one of its threads.
    """
    import torch

    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(layer.parameters())
    torch.nn.functional.cross_entropy(layer(torch.ones(1, 2)), torch.tensor([1]))
    for parameter in layer.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()


def _font_cache(home: str) -> dict[str, bytes]:
    """Return matplotlib's list of fonts, to be copied into each home: path below the home → content.

    Without the list, a Python process that a notebook starts would need a long time to create it again.
    """
    folder = f"{home}/.config/matplotlib"
    names = [name for name in os.listdir(folder) if name.startswith("fontlist")] if os.path.isdir(folder) else []
    files = {}
    for name in names:
        with open(f"{folder}/{name}", "rb") as file:
            files[f".config/matplotlib/{name}"] = file.read()
    return files


def _problem(confinement: Confinement, limits: dict, hidden: dict) -> str:
    """Confine a child as a test. Return the reason if this fails or the child can read the course, and "" otherwise."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        try:
            confinement.enter_namespaces(0)
            if child := os.fork():
                os.waitpid(child, 0)
            else:
                confinement.confine(limits, confinement.prepare_home(limits))
                seen = "" if confinement.tier == "none" else _seen(hidden)
                os.write(write, (seen or "ok").encode())
        except OSError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read) as pipe:
        told = pipe.read()
    os.wait()
    return "" if told == "ok" else told or "the child died"


def _seen(hidden: dict) -> str:
    """Try to read the course from inside the sandbox. Return a message if a file is readable, else ""."""
    seen = ""
    for path in hidden["files"]:
        with suppress(OSError), open(path, "rb"):
            seen = path
    importlib.invalidate_caches()
    for name in hidden["packages"]:
        with suppress(ImportError, OSError):
            # An empty folder that hides the package is a package without a file to Python.
            seen = getattr(importlib.import_module(name), "__file__", None) or seen
    advice = "Install Python and the course in an environment of its own (python3 -m venv .venv)"
    return f"a submission could read {seen}, which is the course's. {advice}" if seen else ""


if __name__ == "__main__":
    main()
    os._exit(0)  # the interpreter's shutdown takes 0.2 s with torch imported
