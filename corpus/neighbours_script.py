"""Attack one sandbox's neighbours, each way once; print as JSON what the neighbours noticed.

    python neighbours_script.py full|partial

Run by test_neighbours.py, as root and as an ordinary user.
"""

from __future__ import annotations

import json
import os
import sys
import time
from unittest.mock import patch

from grader.records import Limits
from grader.sandbox import cgroup
from grader.sandbox.connection import Sandbox
from grader.sandbox.server import Server
from grader.sandbox.tiers import tier_problem

# What a sandbox finds open when its first cell starts: number → what the kernel calls it.
DESCRIPTORS = """
import json, os
found = {}
for name in os.listdir('/proc/self/fd'):
    try: state = os.fstat(int(name)); target = os.readlink(f'/proc/self/fd/{name}')
    except OSError: continue
    if not target.startswith(('/dev/null', '/proc/')): found[name] = [target, state.st_dev, state.st_ino]
print(json.dumps(found))
"""
# File systems that can be written: by their device numbers two sandboxes can be compared.
MOUNTS = """
import json
found = {}
for line in open('/proc/self/mountinfo'):
    fields = line.split()
    if 'rw' in fields[5].split(','): found[fields[4]] = [fields[2], fields[fields.index('-') + 1]]
print(json.dumps(found))
"""
SHARED_MEMORY = "print([line for line in open('/proc/self/maps') if 'rw-s' in line])"
# Empties every event queue that the sandbox inherited, and leaves bytes in every socket.
SPOIL = """
import os, select
for number in range(3, 64):
    try: link = os.readlink(f'/proc/self/fd/{number}')
    except OSError: continue
    if 'eventpoll' in link:
        queue = select.epoll.fromfd(number)
        for other in range(3, 64):
            try: queue.unregister(other)
            except (OSError, ValueError): pass
    elif 'socket' in link:
        try: os.write(number, b'left by a neighbour')
        except OSError: pass
import time; time.sleep(0.5); os._exit(0)
"""
AWAIT = """
import asyncio
print(await asyncio.get_running_loop().run_in_executor(None, lambda: __import__('time').sleep(0.3) or 'awaited'))
"""
LEFT = """
import os
found = b''
for number in range(3, 64):
    try:
        if 'socket' in os.readlink(f'/proc/self/fd/{number}'):
            os.set_blocking(number, False); found += os.read(number, 99)
    except OSError: pass
print(found)
"""
TERMINALS = """
import os, resource, time
for _ in range(12):
    if os.fork() == 0:
        held = []
        try:
            while True: held.append(os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY))
        except OSError: time.sleep(60); os._exit(0)
time.sleep(1.5)
"""
# The kernel counts descriptors in flight when they arrive, and compares with the limit before: 130 senders that wait for
# room in a full queue have all passed the comparison.
IN_FLIGHT = """
import array, os, socket, time
kind, waiting = socket.SOCK_DGRAM, []
for number in range(130):
    receiver, sender = socket.socketpair(socket.AF_UNIX, kind)[0], socket.socketpair(socket.AF_UNIX, kind)[0]
    name = f'\\0queue-{os.getpid()}-{number}'
    try: receiver.send(b'x')
    except OSError: receiver.bind(name)  # without a peer now: it takes messages from everybody
    sender.setblocking(False)
    try:
        while True: sender.sendto(b'x', name)
    except OSError: pass
    waiting.append(receiver)
    if os.fork() == 0:
        sender.setblocking(True)
        many = array.array('i', [sender.fileno()] * 253)
        try: sender.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, many)], 0, name)
        except OSError: pass
        time.sleep(60); os._exit(0)
time.sleep(0.5)
for receiver in waiting:
    receiver.setblocking(False); receiver.recv(1)
time.sleep(0.5)
"""
# What lies in the buffers of sockets belongs to no process. 12 times 250 pairs, each with 200 KB on either side.
BUFFERS = """
import os, socket, time
held = []
for _ in range(12):
    if os.fork() == 0:
        for _ in range(248):
            for one in (pair := socket.socketpair()):
                one.setblocking(False)
                try:
                    while True: one.send(bytes(1 << 16))
                except OSError: held.append(one)
        time.sleep(60); os._exit(0)
time.sleep(8)
"""
# In tier partial a sandbox knows the numbers of the grader's processes; in full, of its own init alone.
PRIORITIES = """
import ctypes, os, resource
libc, done = ctypes.CDLL(None, use_errno=True), []
def tried(name, result):
    if result >= 0: done.append(name)
for pid in {pids}:
    limits = (ctypes.c_ulong * 2)(2 ** 64 - 1, 2 ** 64 - 1)
    tried('prlimit', libc.syscall(302, pid, 8, None, limits) if libc.syscall(302, pid, 7, limits, None) else 0)
    tried('affinity', libc.sched_setaffinity(pid, 128, ctypes.create_string_buffer(b'\\x01', 128)))
    tried('scheduler', libc.sched_setscheduler(pid, 5, ctypes.byref(ctypes.c_int(0))))
    tried('priority', libc.setpriority(0, pid, 19))
    tried('group priority', libc.setpriority(1, os.getpgid(pid) if pid != 1 else 1, 19))
    tried('io priority', libc.syscall(251, 1, pid, 3 << 13))
tried('all of the user', libc.setpriority(2, 0, 0))
tried('all of the user, io', libc.syscall(251, 3, 0, 2 << 13 | 4))
print(done)
"""
OWN_AFFINITY = """
import os
try: os.sched_setaffinity(0, range(os.cpu_count()))
except OSError as error: print(error)
print(sorted(os.sched_getaffinity(0)))
"""
STILL_OWN = """
import os, resource, threading
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
os.nice(1)
import torch
torch.set_num_threads(2); torch.randn(300, 300) @ torch.randn(300, 300)
print('fine')
"""
WORKERS = """
import torch
loader = torch.utils.data.DataLoader(torch.ones(14, 3), batch_size=7, num_workers=2)
print([batch.sum().item() for batch in loader])
"""


def said(python: Sandbox, source: str, seconds: float = 20.0) -> str:
    """Run a cell and return what it printed, or how it failed."""
    result = python.run_cell(source, seconds=seconds)
    text = "".join(output.get("text", "") for output in result.outputs).strip()
    return text if result.status == "ok" else f"{result.status}: {result.error} {result.message} {text}"


def main(tier: str) -> None:
    """Attack, and print what came of it."""
    if reason := tier_problem(tier):
        print(json.dumps({"skip": reason}))
        return
    told: dict = {}
    with Server(isolation=tier) as server:
        first, second = server.spawn(Limits(), seed=0), server.spawn(Limits(), seed=0)
        for name, source in (("descriptors", DESCRIPTORS), ("mounts", MOUNTS), ("shared memory", SHARED_MEMORY)):
            told[name] = [said(first, source), said(second, source)]
        pids = [1] if tier == "full" else [os.getpid(), first.pid, second.pid]
        told["priorities"] = said(first, PRIORITIES.format(pids=pids))
        told["affinity"] = said(first, OWN_AFFINITY)
        told["own"] = said(first, STILL_OWN)
        # Sockets are denied in tier partial, and with them workers (docs/operators.md).
        told["workers"] = said(first, WORKERS) if tier == "full" else "[21.0, 21.0]"
        told["core"] = min(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {told["core"]})
        third = server.spawn(Limits(), seed=0)
        told["pinned"] = said(third, OWN_AFFINITY)
        said(first, SPOIL)
        told["left"] = said(second, LEFT)
        told["await"] = said(second, AWAIT, 4)
        said(first, TERMINALS)
        told["command"] = said(second, "!echo an answer")
        told["users"] = [os.stat(f"/proc/{python.pid}").st_uid for python in (first, second)]
        first.kill()
        patch.object(cgroup, "_hierarchies", dict).start()  # as on machines without control groups
        fourth = server.spawn(Limits(memory_bytes=500 << 20), seed=0)
        told["kept"] = said(fourth, "import resource\nx = 5\nprint(x)")
        told["buffers"] = said(fourth, BUFFERS)
        told["after"] = said(fourth, "print(x)")
        told["first to go"] = said(fourth, "print(open('/proc/self/oom_score_adj').read())")
        fourth.kill()
        first = server.spawn(Limits(), seed=0)
        said(first, IN_FLIGHT)
        started = time.monotonic()
        try:
            told["in flight"] = [said(second, "print('again')"), said(server.spawn(Limits(), seed=0), "print('new')")]
        except Exception as error:
            told["in flight"] = [str(error)]
        told["seconds"] = time.monotonic() - started
        for python in (first, second, third):
            python.kill()
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
