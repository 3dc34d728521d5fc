"""The fork server: Python with everything imported that a lesson uses; each submission gets a fork of it.

It runs in the minimal root, as an unprivileged user, and sees no submission: all it is ever handed is one
connection per child. It ends when the trusted side closes its own.
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import replace

if __name__ == "__main__":
    HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, HERE)

from guest import frames, linux
from guest.cage import Cage


def main() -> None:
    started = time.monotonic()
    control = socket.socket(fileno=int(sys.argv[1]))
    header, program = frames.receive(control, most_header=1 << 20, most_body=1 << 20)
    config = json.loads(header)
    cage = Cage(
        tier=config["tier"],
        home=config["home"],
        read=tuple(config["read"]),
        write=tuple(config["write"]),
        filter=bytes(program),
        below_tmp=tuple(config["below_tmp"]),
        device=config["device"],
    )
    os.chdir(cage.home)
    if config.get("try"):
        _try(control, cage, config["limits"])
        return
    from guest import gpu

    with gpu.hidden():
        shell, warmed = _warm()
    if cage.device == "cuda" and gpu.in_use():
        raise RuntimeError("the fork server has initialised CUDA: its children could not use it")
    cage = replace(cage, warm=_fonts(cage.home))
    from guest import init

    sys.path.remove(HERE)
    sys.path.insert(0, "")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    keep = init._open_descriptors() - {control.fileno()}
    frames.send(control, json.dumps({"ready": time.monotonic() - started, **warmed}).encode())
    while True:
        control.settimeout(None)
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        connection = socket.socket(fileno=descriptors[0])
        if os.fork() == 0:
            try:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                init.start(connection, cage, shell, keep, control=control)
                os._exit(0)
            except OSError as error:
                connection.send(b"F" + str(error).encode()[:200])
            finally:
                os._exit(70)
        connection.close()


def _warm():
    """Import everything and use it once, on one thread: whoever forks with threads leaves them behind."""
    gc.disable()  # what is imported is no garbage, and looking through it takes half a second
    import numpy
    import torch

    torch.set_num_threads(1)
    import matplotlib
    import matplotlib.pyplot as plt
    import torch.nn.functional
    import torch.utils.data
    from guest import compiler
    from guest.shell import make_shell

    compiler.leave_asleep()
    shell = make_shell()
    warm = "import asyncio, inspect, random, math, time\nawait asyncio.sleep(0)"
    for source in (warm, "def warm():\n    raise ValueError\nwarm()"):  # the second: what prints tracebacks
        shell.loop().run_until_complete(shell.run_as_in_jupyter(source))
    figure = plt.figure()
    plt.plot([1, 2])
    plt.imshow(numpy.zeros((2, 2)))
    plt.colorbar()
    plt.title("warm")
    figure.savefig(io.BytesIO(), format="png")
    plt.close("all")
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(layer.parameters())
    torch.nn.functional.cross_entropy(layer(torch.ones(1, 2)), torch.tensor([1])).backward()
    optimizer.step()
    for name in ("ipywidgets", "tqdm.auto", "matplotlib_inline.backend_inline"):
        with suppress(ImportError):
            __import__(name)
    shell.reset(new_session=True)
    import guest.init  # noqa: F401
    from guest import tripwire

    tripwire.lay()

    threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
    if threads != 1:
        raise RuntimeError(f"the fork server has {threads} threads and must have one")
    gc.collect()
    gc.freeze()
    gc.enable()
    if sys.platform == "linux":
        linux.use_huge_pages()
    versions = {"torch": torch.__version__, "numpy": numpy.__version__, "matplotlib": matplotlib.__version__}
    return shell, {"versions": versions}


def _fonts(home: str) -> dict[str, bytes]:
    """matplotlib's list of fonts, which takes a while to make: for the Pythons that a notebook starts."""
    folder = f"{home}/.config/matplotlib"
    names = (
        [name for name in os.listdir(folder) if name.startswith("fontlist")] if os.path.isdir(folder) else []
    )
    found = {}
    for name in names:
        with open(f"{folder}/{name}", "rb") as file:
            found[f".config/matplotlib/{name}"] = file.read()
    return found


def _try(control: socket.socket, cage: Cage, limits: dict) -> None:
    """Whether children can be caged here: what is asked of the machine at start-up."""
    linux.prctl(38, 1)
    try:
        cage.enter_namespaces()
        read, write = os.pipe()
        if os.fork() == 0:
            try:
                cage.confine(limits, cage.furnish(limits))
                os.write(write, b"ok")
            except OSError as error:
                os.write(write, str(error).encode())
            finally:
                os._exit(0)
        os.close(write)
        said = os.read(read, 4096).decode()
    except OSError as error:
        said = str(error)
    frames.send(control, json.dumps({} if said == "ok" else {"error": said or "the child died"}).encode())


if __name__ == "__main__":
    main()
    os._exit(0)  # taking torch apart takes 0.2 s
