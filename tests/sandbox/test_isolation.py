"""The 26 probes of the threat model, planted secrets included; all closed in tier full."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import sys
import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.records import Status

SECRET = "the-planted-secret-5d1c"

# Each sets R where the attempt succeeded; anything that it raises means that the way is closed. P: what was planted.
PROBES = {
    "read a secret file": "import pathlib; R = pathlib.Path(P['secret']).read_text()",
    "read a secret through /proc/pid/root": "R = open(f\"/proc/{P['pid']}/root{P['secret']}\").read()",
    "read the grader's environment": "R = len(open(f\"/proc/{P['pid']}/environ\", 'rb').read()) or 1 / 0",
    "read the grader's memory": """
where = [line for line in open(f"/proc/{P['pid']}/maps") if 'rw-p' in line][0].split()[0].split('-')
file = open(f"/proc/{P['pid']}/mem", 'rb'); file.seek(int(where[0], 16)); R = len(file.read(64))""",
    "ptrace the grader": "import ctypes; R = ctypes.CDLL(None).ptrace(0x4206, P['pid'], 0, 0) == 0 or 1 / 0",
    "process_vm_readv": """
import ctypes, os
class Vector(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
here = ctypes.create_string_buffer(64); mine = Vector(ctypes.addressof(here), 64)
child = os.fork()
if child == 0:
    import time; time.sleep(20); os._exit(0)
try:
    got = max(ctypes.CDLL(None).process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(mine), 1, 0)
              for pid in (child, P['pid']))
finally:
    os.kill(child, 9)
R = got if got > 0 else 1 / 0""",
    "list the grader among processes": """
import os
R = P['pid'] if P['name'] in [open(f'/proc/{p}/cmdline').read() for p in os.listdir('/proc') if p.isdigit()] else 1 / 0""",
    "signal the grader": "import os; os.kill(P['pid'], 0); R = 'may signal'",
    "TCP to loopback": """
import socket
with socket.create_connection(('127.0.0.1', P['port']), 2) as s: R = s.recv(99).decode()""",
    "UDP to loopback": """
import socket; R = socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'got out', ('127.0.0.1', P['port']))""",
    "UNIX path socket": """
import socket
with socket.socket(socket.AF_UNIX) as s: s.connect(P['socket']); R = s.recv(99).decode()""",
    "UNIX abstract socket": """
import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0' + P['abstract']); R = s.recv(99).decode()""",
    "write outside": "import pathlib; pathlib.Path(P['outside'], 'written').write_text('x'); R = 'wrote'",
    "write the gradebook": """
import sqlite3; c = sqlite3.connect(P['gradebook'], timeout=1); c.execute('update grade set score = 100'); c.commit(); R = 1""",
    "write the environment": "import sys; open(sys.prefix + '/written', 'w').write('x'); R = 'wrote'",
    "gain by a set-uid program": """
state = open('/proc/self/status').read(); R = 1 if 'NoNewPrivs:\\t0' in state else 1 / 0""",
    "nested user namespace": "import ctypes; R = ctypes.CDLL(None).unshare(0x10000000) == 0 or 1 / 0",
    "mount": "import ctypes; R = ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0 or 1 / 0",
    "keyctl": "import ctypes; R = ctypes.CDLL(None).syscall(248, b'user', b'x', b'y', 1, -3) > 0 or 1 / 0",
    "bpf": """
import ctypes; l = ctypes.CDLL(None, use_errno=True); l.syscall(321, 0, None, 0); R = ctypes.get_errno() != 1 or 1 / 0""",
    "io_uring": """
import ctypes; R = ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(256)) >= 0 or 1 / 0""",
    "userfaultfd": "import ctypes; R = ctypes.CDLL(None).syscall(323, 1) >= 0 or 1 / 0",
    "inherited descriptors": """
import os
mine = [os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') if os.path.lexists(f'/proc/self/fd/{n}')]
other = [name for name in mine if not name.startswith(('/dev/null', '/proc/', '/usr/lib', 'pipe:', 'socket:', 'anon_inode:'))]
R = other or 1 / 0""",
    "secrets in the environment": "import os; R = os.environ['PLANTED_SECRET']",
    "System V shared memory": "import ctypes; R = ctypes.CDLL(None).shmget(0x1234, 4096, 0o1600) >= 0 or 1 / 0",
    "core dump": "import resource; R = 1 if resource.getrlimit(resource.RLIMIT_CORE)[1] != 0 else 1 / 0",
}


@dataclass
class Planted:
    """What there is to steal, and what tells that somebody did."""

    facts: dict
    gradebook: Path
    outside: Path
    datagrams: socket.socket


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    folder.chmod(0o777)
    secret, gradebook, outside = folder / "secret", folder / "gradebook.db", folder / "outside"
    secret.write_text(SECRET)
    secret.chmod(0o644)
    outside.mkdir()
    outside.chmod(0o777)
    with closing(sqlite3.connect(gradebook)) as book:
        book.execute("create table grade (score real)")
        book.execute("insert into grade values (17)")
        book.commit()
    gradebook.chmod(0o666)
    tcp = socket.create_server(("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", port))
    path = socket.socket(socket.AF_UNIX)
    path.bind(str(folder / "socket"))
    os.chmod(folder / "socket", 0o777)
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0planted-{os.getpid()}")
    for listener in (tcp, path, abstract):
        listener.listen()
        threading.Thread(target=_tell_everybody, args=(listener,), daemon=True).start()
    os.environ["PLANTED_SECRET"] = SECRET
    yield Planted(
        {
            "secret": str(secret),
            "pid": os.getpid(),
            "name": Path("/proc/self/cmdline").read_text() if sys.platform == "linux" else "",
            "port": port,
            "socket": str(folder / "socket"),
            "abstract": f"planted-{os.getpid()}",
            "outside": str(outside),
            "gradebook": str(gradebook),
        },
        gradebook,
        outside,
        udp,
    )
    del os.environ["PLANTED_SECRET"]
    for listener in (tcp, udp, path, abstract):
        listener.close()


def _tell_everybody(listener: socket.socket) -> None:
    while True:
        try:
            with listener.accept()[0] as caller:
                caller.sendall(SECRET.encode())
        except OSError:
            return


def cell(probe: str, planted: Planted) -> str:
    return f"import json\nP = json.loads({json.dumps(planted.facts)!r})\n{PROBES[probe]}\nprint('OPEN', R)"


def test_there_are_26_probes():
    assert len(PROBES) == 26


@pytest.mark.parametrize("probe", PROBES)
def test_closed_in_tier_full(probe, planted, python):
    result = python.run_cell(cell(probe, planted), seconds=20)
    assert result.status is Status.RAISED, f"{probe}: {result}"
    assert result.error not in ("SyntaxError", "NameError", "TypeError", "AttributeError"), f"{probe}: {result}"
    assert SECRET not in str(result)
    assert not list(planted.outside.iterdir())
    with closing(sqlite3.connect(planted.gradebook)) as book:
        assert book.execute("select score from grade").fetchall() == [(17.0,)]
    planted.datagrams.setblocking(False)
    with pytest.raises(BlockingIOError):
        planted.datagrams.recv(99)


@pytest.mark.parametrize("probe", ["read a secret file", "TCP to loopback", "UNIX path socket", "write outside"])
def test_the_probe_itself_can_succeed(probe, planted):
    """Run here, beside the secrets, it gets what it is after: a probe that never could would prove nothing."""
    space: dict = {"print": lambda *_: None}
    exec(cell(probe, planted), space)
    assert space["R"] in (SECRET, "wrote")
    for written in planted.outside.iterdir():
        written.unlink()


def test_what_is_inside_is_python_and_nothing_of_ours(python, said):
    listing = said(
        python,
        "import os\nfor place, _, names in os.walk('/'):\n"
        "    if not place.startswith(('/proc', '/usr', '/dev')):\n"
        "        print(*[f'{place}/{name}' for name in names if 'grader' in place or name.endswith('.ipynb')],"
        " sep='\\n', end='')",
        seconds=60,
    )
    repository = Path(__file__).parents[2]
    assert str(repository / "grader") not in listing
    assert f"{repository}/solutions" not in listing
    for name in ("grader", "attention"):
        # Where the package is installed, an empty folder hides it, and Python takes that for a package of nothing.
        source = f"import os, {name}\nprint([one for path in {name}.__path__ for one in os.walk(path) if any(one[1:])])"
        result = python.run_cell(source, seconds=20)
        assert result.error == "ModuleNotFoundError" or result.outputs[0]["text"] == "[]\n"


def test_no_kernel_user_zero_and_no_capabilities(python, said):
    status = said(python, "print(open('/proc/self/status').read())")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["CapEff"] == fields["CapPrm"] == fields["CapBnd"] == "0" * 16
    assert fields["Seccomp"] == "2"
    users = range(60_800, 61_056) if os.getuid() == 0 else [os.getuid()]
    on_this_machine = Path(f"/proc/{python.pid}/status").read_text()
    found = next(line.split()[1:] for line in on_this_machine.splitlines() if line.startswith("Uid:"))
    assert len(set(found)) == 1
    assert int(found[0]) in users
    assert int(found[0]) != 0


def test_the_environment_is_ours(python, said):
    names = set(said(python, "import os\nprint(*os.environ)").split())
    assert not names & {"PLANTED_SECRET", "GRADER_SECRET", "SSH_AUTH_SOCK", "HISTFILE", "PYTHONPATH", "PWD", "OLDPWD"}


def test_two_submissions_do_not_see_each_other(spawn, said):
    first, second = spawn(), spawn()
    first.run_cell(
        "open('mine', 'w').write('x'); open('/tmp/mine', 'w').write('x'); open('/dev/shm/mine', 'w').write('x')\n"
        "import subprocess; sleeper = subprocess.Popen(['sleep', '60'])",
        seconds=20,
    )
    look = "import os\nprint(*[os.listdir(place) for place in ('.', '/tmp', '/dev/shm')])"
    assert "'mine'" in said(first, look)
    assert "'mine'" not in said(second, look)
    look = "print([open(f'/proc/{p}/comm').read() for p in os.listdir('/proc') if p.isdigit()])"
    assert "sleep" in said(first, look)
    assert "sleep" not in said(second, look)
