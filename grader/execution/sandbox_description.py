"""What a sandbox is made of: the folders and devices that it shows, the user that it runs as, its environment."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from pathlib import Path

from grader.execution import visible_gpu
from grader.execution.errors import IsolationError

GUEST = Path(__file__).with_name("guest")
GUEST_INSIDE = "/sandbox/guest"
HOME = "/home/student"
# Whom root becomes: a number that no package gives to anybody, just below "nobody".
UNPRIVILEGED = 65_533
OUR_PACKAGES = ("grader", "attention")

# What programs and libraries need of the system; where /bin and the like are links, they stay links.
SYSTEM = (
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share/zoneinfo",
    "/usr/share/fonts",
    "/usr/share/fontconfig",
    "/usr/share/terminfo",
    "/usr/share/locale",
    "/usr/share/ca-certificates",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/openssl.cnf",
)
TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
TERMINALS = ("/dev/pts", "/dev/ptmx")


def describe_sandbox(tier: str, device: str, home: str) -> tuple[dict, dict]:
    """What boot.py and server.py are told: the root to build, the user to become, the cage of each child."""
    guest = GUEST_INSIDE if tier == "full" else str(GUEST)
    python, prefixes = _python()
    graphics = visible_gpu.visible_gpu() if device == "cuda" else visible_gpu.NO_GPU
    places = (*SYSTEM, *prefixes, *(("/sys", *graphics.libraries) if device == "cuda" else ()))
    shown = _outermost([path for path in places if os.path.exists(path)])
    devices = [*DEVICES, *graphics.devices]
    boot = {
        "tier": tier,
        "python": python,
        "guest": guest,
        "guest_source": str(GUEST),
        "uid": UNPRIVILEGED,
        "gid": UNPRIVILEGED,
        "binds": [*shown, *(path for path in TOP if os.path.isdir(path) and not os.path.islink(path))],
        "links": {path: os.readlink(path) for path in TOP if os.path.islink(path)},
        "masks": _masks(shown),
        "devices": devices,
        "files": _etc(),
        "environment": {**_environment(home, python), **graphics.environment},
    }
    if tier == "full":
        read = ["/"]
    else:
        read = [*boot["binds"], *TOP, str(GUEST), "/etc/passwd", "/etc/group", "/proc", *devices]
    server = {
        "tier": tier,
        "home": home,
        "read": read,
        "write": [*devices, *TERMINALS],
        "below_tmp": [path for path in shown if path.startswith("/tmp/")] if tier == "full" else [],
        "device": device,
    }
    return boot, server


def _python() -> tuple[str, list[str]]:
    """This interpreter, and every folder that it lives in."""
    python = os.path.abspath(sys.executable)
    places = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        places.add(sysconfig.get_path(name))
    link = python  # each link on the way from the environment's python to the real one
    while os.path.islink(link):
        link = os.path.normpath(os.path.join(os.path.dirname(link), os.readlink(link)))
        folder = os.path.dirname(link)
        places.add(os.path.dirname(folder) if os.path.basename(folder) == "bin" else folder)
    places |= {os.path.realpath(place) for place in places}
    if sys.base_prefix not in ("/", "/usr"):
        places -= {"/", "/usr"}  # a link in /bin or /usr/bin on the way: that is shown already
    home = os.path.expanduser("~")
    for place in places:
        if place in ("/", home, os.path.dirname(home)):
            raise IsolationError(
                f"Python is installed in {place} itself, which cannot be shown to submissions. "
                "Use an environment of its own: python3 -m venv .venv"
            )
    # What lies in /usr is shown in part already; the rest of /usr is nobody's business.
    return python, sorted(place for place in places if place != "/usr")


def _outermost(paths: list[str]) -> list[str]:
    """Without those that lie inside another; parents first."""
    found: list[str] = []
    for path in sorted(set(paths)):
        if not any(path.startswith(parent + "/") for parent in found):
            found.append(path)
    return found


def _masks(shown: list[str]) -> list[str]:
    """What lies in the places that are shown and is ours: hidden, however this project is installed."""
    candidates: set[str] = set()
    for name in OUR_PACKAGES:
        spec = importlib.util.find_spec(name)
        for place in (spec.submodule_search_locations or []) if spec else []:
            candidates.add(os.path.realpath(place))
    repository = Path(__file__).resolve().parents[2]
    if (repository / "pyproject.toml").is_file():
        candidates.add(str(repository))
    for library in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for name in OUR_PACKAGES:
            candidates.add(f"{library}/{name}")
        candidates |= {str(path) for path in Path(library).glob("*attention_course*")}
    inside = [path for path in candidates if any(path.startswith(place + "/") for place in shown)]
    return sorted(
        path for path in inside if not any(place == path or place.startswith(path + "/") for place in shown)
    )


def _etc() -> dict[str, str]:
    uid = UNPRIVILEGED if os.getuid() == 0 else os.getuid()
    gid = UNPRIVILEGED if os.getuid() == 0 else os.getgid()
    return {
        "/etc/passwd": f"student:x:{uid}:{gid}:student:{HOME}:/bin/sh\n",
        "/etc/group": f"student:x:{gid}:\n",
        "/etc/hosts": "127.0.0.1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def _environment(home: str, python: str) -> dict[str, str]:
    """All that the sandbox has of an environment."""
    temporary = "/tmp" if home == HOME else f"{home}/.tmp"  # a child's own home comes in its place
    return {
        "PATH": f"{os.path.dirname(python)}:/usr/bin:/bin",
        "HOME": home,
        "USER": "student",
        "LOGNAME": "student",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": temporary,
        "VIRTUAL_ENV": sys.prefix,
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": f"{home}/.config/matplotlib",
        "IPYTHONDIR": f"{home}/.ipython",
        "JUPYTER_PLATFORM_DIRS": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTORCH_JIT": "0",  # TorchScript runs as the Python that it is: its calls are seen
    }
