"""Describe a sandbox: the folders and devices that are visible in it, its user, and its environment variables.

"Ours" are the files of this project and of the course. No submission may read them.
"""

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from grader.paths import OUR_PACKAGES, course_root
from grader.sandbox import visible_gpu
from grader.sandbox.errors import IsolationError

GUEST = Path(__file__).resolve().with_name("guest")
GUEST_INSIDE = "/sandbox/guest"
HOME = "/home/student"
# UID and GID of the fork server when run as root: no package creates a user with this number. 65534 is `nobody`.
# In tier full, submissions see it as their own, too.
UNPRIVILEGED = 65_533
# Folders of installed packages below a folder in which Python is installed; the last are conda's other environments.
INSTALLED = ("*-packages", "python*/*-packages", "lib*/python*/*-packages", "local/lib*/python*/*-packages",
             "envs/*/lib/python*/*-packages")  # fmt: skip
# A file of each of our folders: who can read one can read its neighbours, too.
TELLING = ("__init__.py", "pyproject.toml", "RECORD", "nbgrader_config.py")

# Parts of the system that programs and libraries need.
SYSTEM = tuple(
    """
    /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec
    /usr/share/zoneinfo /usr/share/fonts /usr/share/fontconfig /usr/share/terminfo /usr/share/locale
    /usr/share/ca-certificates
    /etc/alternatives /etc/fonts /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/localtime /etc/mime.types
    /etc/ssl/openssl.cnf
    """.split()
)
# Folders of the root that are links into /usr on most systems, and stay links in the sandbox.
TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
TERMINALS = ("/dev/pts", "/dev/ptmx")


def describe_sandbox(tier: str, device: str, home: str) -> tuple[dict, dict]:
    """Return two configurations: for guest/boot.py (root, user, environment) and for guest/server.py (confinement)."""
    guest = GUEST_INSIDE if tier == "full" else str(GUEST)
    python, prefixes = _python()
    gpu = visible_gpu.visible_gpu() if device == "cuda" else visible_gpu.NO_GPU
    wanted = (*SYSTEM, *prefixes, *(("/sys", *gpu.libraries) if device == "cuda" else ()))
    visible = _outermost([path for path in wanted if os.path.exists(path)])
    devices = [*DEVICES, *gpu.devices]
    top = [path for path in TOP if os.path.isdir(path) and not os.path.islink(path)]
    # A link, as .venv may be one, would lead nowhere in the sandbox: under its name stands what it leads to.
    binds = {path: os.path.realpath(path) for path in (*visible, *top)}
    ours = _ours(binds)
    hidden = ours if device == "cuda" else ours | visible_gpu.driver()
    boot = {
        "tier": tier,
        "python": python,
        "guest": guest,
        "guest_source": str(GUEST),
        "uid": UNPRIVILEGED,
        "gid": UNPRIVILEGED,
        "binds": binds,
        "links": {path: os.readlink(path) for path in TOP if os.path.islink(path)},
        "masks": _masks(binds, hidden),
        "devices": devices,
        "files": _etc(),
        "environment": {**_environment(home, python), **gpu.environment},
    }
    readable, listable = (["/"], []) if tier == "full" else _around([*binds, *TOP], ours)
    if tier != "full":
        readable += [str(GUEST), "/etc/passwd", "/etc/group", "/proc", *devices]
    server = {
        "tier": tier,
        "home": home,
        "read": readable,
        "list": listable,
        # In the lower tiers the terminals would be the machine's own, also the operator's.
        "write": [*devices, *(TERMINALS if tier == "full" else ())],
        "below_tmp": [path for path in visible if path.startswith("/tmp/")] if tier == "full" else [],
        "device": device,
        "hidden": {"files": _telling_files(ours), "packages": OUR_PACKAGES},
    }
    return boot, server


def _python() -> tuple[str, list[str]]:
    """Return the path of this Python, and all folders that it needs.

    Raises:
        IsolationError: Python is installed directly in /, in the home folder, or in the home folder's parent.
    """
    python = os.path.abspath(sys.executable)
    folders = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        folders.add(sysconfig.get_path(name))
    link = python  # follow each link from the environment's python to the real one
    while os.path.islink(link):
        link = os.path.normpath(os.path.join(os.path.dirname(link), os.readlink(link)))
        folder = os.path.dirname(link)
        folder = os.path.dirname(folder) if os.path.basename(folder) == "bin" else folder
        if folder not in ("/", "/usr"):  # of a link in /bin or /usr/bin: what is needed there is visible anyway
            folders.add(folder)
    folders |= {os.path.realpath(folder) for folder in folders}
    home = os.path.expanduser("~")
    for folder in folders:
        if folder in ("/", home, os.path.dirname(home)):
            raise IsolationError(
                f"Python is installed in {folder} itself, which cannot be shown to submissions. "
                "Use an environment of its own: python3 -m venv .venv"
            )
    # SYSTEM lists the visible parts of /usr; the rest stays hidden.
    return python, sorted(folder for folder in folders if folder != "/usr")


def _outermost(paths: list[str]) -> list[str]:
    """Return, sorted, the paths that are not inside another of these paths."""
    outermost: list[str] = []
    for path in sorted(set(paths)):
        if not any(path.startswith(parent + "/") for parent in outermost):
            outermost.append(path)
    return outermost


def _ours(binds: Mapping[str, str]) -> frozenset[str]:
    """Return the real paths of this project's and the course's packages and files, which no submission may read.

    They are in the repository or among the installed packages, depending on how the project was installed. Python may
    see several copies: that of this environment, and that of the Python from which the environment was made.

    Args:
        binds: visible path in the sandbox → its real path.
    """
    candidates: set[str] = set()
    for name in OUR_PACKAGES:
        spec = importlib.util.find_spec(name)
        candidates |= set(spec.submodule_search_locations or []) if spec else set()
    repository = Path(__file__).resolve().parents[2]
    if (repository / "pyproject.toml").is_file():
        candidates.add(str(repository))
    with suppress(FileNotFoundError):  # as on a machine of a cluster
        candidates.add(str(course_root()))
    for real in binds.values():
        for library in (packages for pattern in INSTALLED for packages in Path(real).glob(pattern)):
            candidates |= {str(library / name) for name in OUR_PACKAGES if (library / name).exists()}
            candidates |= {str(path) for path in library.glob("*attention_course*")}
    return frozenset(map(os.path.realpath, candidates))


def _masks(binds: Mapping[str, str], ours: Collection[str]) -> list[str]:
    """Return the paths in the sandbox that boot.py must hide.

    These are the paths at which our files are visible, except folders that contain a path in `binds`.
    """
    inside = {
        path + own.removeprefix(real) for path, real in binds.items() for own in ours if own.startswith(real + "/")
    }
    # What contains a visible folder cannot be hidden: the virtual environment may lie in the repository.
    return sorted(
        path for path in inside if not any(folder == path or folder.startswith(path + "/") for folder in binds)
    )


def _around(paths: Iterable[str], ours: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the paths below which Landlock may allow reading, and the folders that it may allow to list.

    A Landlock rule applies to everything below a path. So the readable paths are the
    outermost ones that contain nothing of ours. The folders that contain something
    of ours may only be listed, because Python lists a folder to find a module.
    """
    readable: list[str] = []
    listable: list[str] = []
    todo = list(paths)
    while todo:
        path = todo.pop()
        real = os.path.realpath(path)
        if not any(own.startswith(real + "/") for own in ours):
            if real not in ours:
                readable.append(path)
        elif real not in listable and os.access(real, os.R_OK):
            listable.append(real)
            # A link may lead back up; where it leads inside, that is met without it, too.
            todo += [entry.path for entry in os.scandir(real) if not _leads_around(entry, ours)]
    return readable, listable


def _leads_around(entry: os.DirEntry, ours: Collection[str]) -> bool:
    """Return True if an entry is a link to a folder that contains something of ours."""
    real = os.path.realpath(entry.path) + "/"
    return entry.is_symlink() and any(own.startswith(real) for own in ours)


def _telling_files(ours: Iterable[str]) -> list[str]:
    """Return the files in our folders whose names are in TELLING.

    The guest tries to read each of them, to test that no submission can.
    """
    files = (os.path.join(own, name) for own in ours for name in TELLING)
    return sorted(filter(os.path.isfile, files))


def _etc() -> dict[str, str]:
    """Return the text files that boot.py creates in the sandbox's /etc: path → content."""
    uid, gid = (UNPRIVILEGED, UNPRIVILEGED) if os.getuid() == 0 else (os.getuid(), os.getgid())
    return {
        "/etc/passwd": f"student:x:{uid}:{gid}:student:{HOME}:/bin/sh\n",
        "/etc/group": f"student:x:{gid}:\n",
        "/etc/hosts": "127.0.0.1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def _environment(home: str, python: str) -> dict[str, str]:
    """Return all environment variables of the sandbox."""
    # In the lower tiers each child replaces `home` by a folder of its own (guest/confinement.py).
    temporary = "/tmp" if home == HOME else f"{home}/.tmp"
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
        # TorchScript runs as ordinary Python, so that the tripwire sees its calls.
        "PYTORCH_JIT": "0",
        # torch.compile leaves a function as it is. A compiler for C++ is not in the sandbox, and it
        # would take half a minute.
        "TORCHDYNAMO_DISABLE": "1",
    }
