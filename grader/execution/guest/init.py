"""The init of one sandbox: starts the interpreter, watches it, goes back to the checkpoint when it fails.

It never runs student code. It is pid 1 of the sandbox in tier full, so that all processes of the sandbox end
when it ends; and it ends when the trusted side closes the connection.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import torch
from guest import frames, gpu, interpreter, probe
from guest.cage import Cage
from guest.shell import Shell, attach_streams

TICK = 0.05  # seconds between two looks at what the sandbox uses
GREETING = 30.0  # seconds a checkpoint may take to fork
SWEEP = 3.0  # seconds to kill what is left of a failed cell
CREDENTIALS = struct.Struct("3i")


@dataclass
class Process:
    """An interpreter: the channel to it, and the process, which the kernel vouches for."""

    channel: socket.socket
    pid: int
    handle: int  # pidfd

    def ended(self) -> bool:
        return bool(select.select([self.handle], [], [], 0)[0])

    def close(self) -> None:
        self.channel.close()
        os.close(self.handle)


@dataclass
class Prober:
    """A fork that answers requests of one group."""

    group: str
    process: Process
    before: set[int]  # processes that were there before it


@dataclass
class Answer:
    """How an order ended: answer, timeout, died, memory, scratch, refused, or lost with its checkpoint."""

    outcome: str
    head: bytes = b""
    body: bytes | memoryview = b""


class Init:
    """Serves one connection of the trusted side."""

    def __init__(
        self, connection: socket.socket, cage: Cage, home: str, limits: dict, shell: Shell, keep: set[int]
    ) -> None:
        self.connection, self.cage, self.home, self.limits = connection, cage, home, limits
        self.shell, self.keep = shell, keep
        self.raw_read, self.raw_write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.raw_read, False)
        self.raw = bytearray()
        self.meter, self.looked = Meter(cage, home, limits), 0.0
        self.active: Process | None = None
        self.prober: Prober | None = None

    def run(self, seed: int) -> None:
        """Until the trusted side has enough; never returns."""
        self.active = self._start(seed)
        self._reply("ready" if self.active else "lost")
        while True:
            header, body = self._next_order()
            order = json.loads(header)
            if order["op"] == "told":
                continue  # an answer for somebody who did not live to hear it
            cut = order.pop("request")
            answer = self._carry_out(order, body[:cut], body[cut:])
            self._reply(answer.outcome, answer.head, answer.body)

    # ------------------------------------------------------------ starting, forking

    def _start(self, seed: int) -> Process | None:
        ours, theirs = _channel()
        if os.fork() == 0:
            try:
                self._become_interpreter(theirs, seed)
            finally:
                os._exit(1)
        theirs.close()
        return self._greeting(ours, time.monotonic() + GREETING)

    def _become_interpreter(self, control: socket.socket, seed: int) -> None:
        signal.set_wakeup_fd(-1)
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(self.raw_write, 1)
        os.dup2(self.raw_write, 2)
        for number in _open_descriptors() - self.keep - {0, 1, 2, control.fileno()}:
            os.close(number)
        self.cage.confine(self.limits, self.home)
        tempfile.tempdir = None  # cached before the fork, for another home
        attach_streams()
        for name in [name for name in sys.modules if name.partition(".")[0] == "guest"]:
            del sys.modules[name]  # nobody's business
        torch.set_num_threads(self.limits["threads"])
        if self.limits["cuda"]:
            gpu.prepare(self.limits["gpu_memory_bytes"])
        probe.seed(seed)
        interpreter.serve(control, self.shell, self.limits)

    def _greeting(self, channel: socket.socket, deadline: float) -> Process | None:
        """The process at the other end, by the kernel's word; None if there is none."""
        while time.monotonic() < deadline:
            self._tend()
            if select.select([channel], [], [], TICK)[0]:
                data, ancillary, _, _ = channel.recvmsg(1, socket.CMSG_SPACE(CREDENTIALS.size))
                for level, kind, value in ancillary:
                    if data and level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                        pid = CREDENTIALS.unpack(value)[0]
                        try:
                            return Process(channel, pid, os.pidfd_open(pid))
                        except OSError:
                            break
                break
            if self.active is not None and self.active.ended():
                break
        channel.close()
        return None

    def _fork(self, order: str) -> Process | None:
        """A fork of the active interpreter that waits for its request, or with "here" itself; None if there is none."""
        for attempt in range(2):
            if self.active is None or self.active.ended():
                return None
            ours, theirs = _channel()
            try:
                self.active.channel.settimeout(GREETING)
                socket.send_fds(self.active.channel, [order.encode()], [theirs.fileno()])
            except OSError:
                ours.close()
                return None
            finally:
                theirs.close()
            process = self._greeting(ours, time.monotonic() + GREETING)
            if process is not None or attempt:
                return process
            self._sweep({self.active.pid})  # it could not fork: too many processes, so make room
        return None

    def _active_answers(self) -> bool:
        """Whether the checkpoint is well: what just failed may have killed or stopped it."""
        ours, theirs = _channel()
        try:
            self.active.channel.settimeout(1)
            socket.send_fds(self.active.channel, [b"ping"], [theirs.fileno()])
        except OSError:
            ours.close()
            return False
        finally:
            theirs.close()
        answered = self._greeting(ours, time.monotonic() + 3)
        if answered is not None:
            answered.close()
        return answered is not None

    # ------------------------------------------------------------ one order

    def _carry_out(self, order: dict, request: memoryview, blob: memoryview) -> Answer:
        self.raw.clear()
        if order["op"] == "call":
            return self._call(order["group"], order["seconds"], request, blob)
        self._dismiss()
        return self._run_cell(order["seconds"], request, order["in_place"])

    def _run_cell(self, seconds: float, request: memoryview, in_place: bool) -> Answer:
        before = set(self.meter.pids())
        process = self._fork("here" if in_place else "cell")
        if process is None:
            return self._lose("lost")
        in_place = process.pid == self.active.pid
        answer = self._converse(process, seconds, request, b"")
        if answer.outcome == "answer":
            if not in_place:
                _kill(self.active.handle)
            self.active.close()
            self.active = process
            return answer
        process.close()
        return self._go_back(answer, before, in_place)

    def _call(self, group: str, seconds: float, request: memoryview, blob: memoryview) -> Answer:
        """Requests of one group are answered by one fork, as long as nothing goes wrong."""
        if self.prober is None or self.prober.group != group or self.prober.process.ended():
            self._dismiss()
            before = set(self.meter.pids())
            process = self._fork("call")
            if process is None:
                return self._lose("lost")
            self.prober = Prober(group, process, before)
        answer = self._converse(self.prober.process, seconds, request, blob)
        if answer.outcome == "answer":
            return answer
        prober, self.prober = self.prober, None
        prober.process.close()
        return self._go_back(answer, prober.before, prober.process.pid == self.active.pid)

    def _dismiss(self) -> None:
        """The fork that answered requests has done its work."""
        if self.prober is None:
            return
        prober, self.prober = self.prober, None
        prober.process.close()
        if prober.process.pid != self.active.pid:
            self._sweep(prober.before)

    def _go_back(self, answer: Answer, before: set[int], in_place: bool) -> Answer:
        """Kill what a failed cell or probe started; the checkpoint, which waits, is the active one again."""
        keep = {self.active.pid} if answer.outcome in ("memory", "scratch") else before
        if in_place or not self._sweep(keep) or not self._active_answers():
            return self._lose(f"{answer.outcome} lost")
        return answer

    def _converse(self, process: Process, seconds: float, request: memoryview, blob: memoryview) -> Answer:
        deadline = time.monotonic() + seconds
        channel, outgoing = process.channel, memoryview(frames.pack(request, blob))
        channel.setblocking(False)
        inbox, asked, since = self._inbox(), False, 0.0
        poll = select.poll()
        poll.register(channel, select.POLLIN | select.POLLOUT)
        for number in (process.handle, self.raw_read, self.connection.fileno()):
            poll.register(number, select.POLLIN)
        while True:
            now = time.monotonic()
            if now >= deadline:
                return Answer("timeout")
            if now - self.looked >= TICK:
                self.looked = now
                if over := self.meter.over():
                    return Answer(over)
            ready = dict(poll.poll(1000 * min(TICK, deadline - now)))
            self._tend()
            ended = process.handle in ready  # seen before the channel is read: what it said last still counts
            if asked and ready.get(self.connection.fileno(), 0) & select.POLLIN:
                outgoing, asked = self._hear(), False
                deadline += (
                    time.monotonic() - since
                )  # our time, not the student's; that side has a limit of its own
                poll.modify(channel, select.POLLIN | select.POLLOUT)
                continue
            state = ready.get(channel.fileno(), 0)
            if state & select.POLLOUT and outgoing:
                outgoing = _send_some(channel, outgoing)
                if not outgoing:
                    poll.modify(channel, select.POLLIN)
            if state & (select.POLLIN | select.POLLHUP | select.POLLERR):
                try:
                    data = channel.recv(min(inbox.missing, 1 << 20))
                    frame = inbox.feed(data)
                except BlockingIOError:
                    continue
                except OSError:
                    return Answer("died")
                except frames.FrameError as error:
                    return Answer(
                        "refused", json.dumps({"status": "refused", "message": str(error)}).encode()
                    )
                if frame is not None and inbox.kind == frames.QUESTION:
                    self._pass_on(*frame)
                    inbox, asked, since = self._inbox(), True, time.monotonic()
                    poll.modify(channel, 0)  # what it says next can wait
                    continue
                if frame is not None:
                    return Answer("answer", *frame)
                if not data:
                    if not ended:  # it closed the channel and lives on: there will be no answer
                        poll.unregister(channel)
                    else:
                        return Answer("died")
                continue
            if ended:
                return Answer("died")

    # ------------------------------------------------------------ questions for a stand-in

    def _inbox(self) -> frames.Inbox:
        kinds = (frames.MAGIC, frames.QUESTION) if self.limits["stand_ins"] else (frames.MAGIC,)
        header, body = 8 * self.limits["cell_output_bytes"], self.limits["evidence_bytes"]
        return frames.Inbox(header + (1 << 20), body + (1 << 20), kinds)

    def _pass_on(self, head: bytes, body: bytes | memoryview) -> None:
        self._send({"outcome": "question", "raw": 0, "head": len(head)}, b"".join((head, body)))

    def _hear(self) -> memoryview:
        """The answer, as the frame that the interpreter gets."""
        header, body = self._receive_order()
        cut = json.loads(header)["head"]
        return memoryview(frames.pack(bytes(body[:cut]), body[cut:]))

    # ------------------------------------------------------------ keeping house

    def _next_order(self) -> tuple[bytes, memoryview]:
        while True:
            if select.select([self.connection, self.raw_read], [], [], 1.0)[0]:
                self._tend()
                if select.select([self.connection], [], [], 0)[0]:
                    break
            self._tend()
            if self.active is not None and self.meter.over():
                self._sweep({self.active.pid})
        return self._receive_order()

    def _receive_order(self) -> tuple[bytes, memoryview]:
        try:
            deadline = time.monotonic() + 60
            return frames.receive(self.connection, most_header=1 << 20, most_body=1 << 30, deadline=deadline)
        except frames.FrameError:
            self._end()

    def _reply(self, outcome: str, head: bytes = b"", body: bytes | memoryview = b"") -> None:
        self._drain()
        header = {"outcome": outcome, "raw": len(self.raw), "head": len(head)}
        self._send(header, b"".join((self.raw, head, body)))

    def _send(self, header: dict, body: bytes) -> None:
        try:
            deadline = time.monotonic() + 60
            frames.send(self.connection, json.dumps(header).encode(), body, deadline=deadline)
        except frames.FrameError:
            self._end()

    def _tend(self) -> None:
        """Take in what was written to the raw descriptors, bury the dead, and end with the trusted side."""
        self._drain()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        try:
            self.connection.setblocking(False)
            if self.connection.recv(1, socket.MSG_PEEK) == b"":
                self._end()
        except BlockingIOError:
            pass
        except OSError:
            self._end()

    def _drain(self) -> None:
        """At most a megabyte at a time: somebody who floods it must not keep the init busy for ever."""
        for _ in range(16):
            try:
                data = os.read(self.raw_read, 1 << 16)
            except BlockingIOError:
                return
            room = self.limits["cell_output_bytes"] - len(self.raw)
            self.raw += data[: max(room, 0)]

    def _lose(self, outcome: str) -> Answer:
        """Nothing that could be gone back to is left."""
        self._sweep(set())
        if self.active is not None:
            self.active.close()
        self.active = self.prober = None
        return Answer(outcome)

    def _sweep(self, keep: set[int]) -> bool:
        """Kill all processes of the sandbox but these; False if some would not go."""
        deadline = time.monotonic() + SWEEP
        while True:
            others = [pid for pid in self.meter.pids() if pid not in keep]
            if not others:
                return True
            for pid in others:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._bury()
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)

    def _bury(self) -> None:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    def _end(self) -> None:
        self._sweep(set())
        if not self.cage.full:
            _remove_below(self.home, time.monotonic() + 5)
        os._exit(0)


class Meter:
    """What the sandbox uses, in total."""

    def __init__(self, cage: Cage, home: str, limits: dict) -> None:
        self.cage, self.home, self.limits = cage, home, limits
        self.me, self._next_scratch, self._next_exact = os.getpid(), 0.0, 0.0

    def over(self) -> str:
        """ "memory" or "scratch" where more is used than allowed."""
        now, scratch = time.monotonic(), 0
        if self.cage.full:
            # The scratch is bounded by the file system itself; it counts as memory, which it is.
            state = os.statvfs(self.home)
            scratch = (state.f_blocks - state.f_bfree) * state.f_frsize
        elif now >= self._next_scratch:
            self._next_scratch = now + 0.5
            size, files = _used_below(self.home, self.limits["scratch_files"])
            if size > self.limits["scratch_bytes"] or files > self.limits["scratch_files"]:
                return "scratch"
        most = self.limits["memory_bytes"] - scratch
        pids = list(self.pids())
        if sum(map(_resident, pids)) > most and now >= self._next_exact:
            # Forks share most of their pages: only the exact count, which takes longer, tells.
            if sum(map(_proportional, pids)) > most:
                return "memory"
            self._next_exact = now + 4 * TICK
        return ""

    def pids(self) -> Iterator[int]:
        """All live processes of the sandbox but the init."""
        if self.cage.full:
            for name in os.listdir("/proc"):
                if name.isdigit() and int(name) != self.me and _stat(int(name))[0] not in "ZX":
                    yield int(name)
            return
        states = {int(name): _stat(int(name)) for name in os.listdir("/proc") if name.isdigit()}
        below, parents = {self.me}, {pid: parent for pid, (_, parent) in states.items()}
        grown = True
        while grown:
            more = {pid for pid, parent in parents.items() if parent in below} - below
            below |= more
            grown = bool(more)
        yield from (pid for pid in below if pid != self.me and states[pid][0] not in "ZX")


def _stat(pid: int) -> tuple[str, int]:
    """State letter and parent; X where the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0].decode(), int(fields[1])
    except (OSError, IndexError):
        return "X", 0


def _resident(pid: int) -> int:
    """Anonymous and shared memory in use, in bytes; what is shared counts once for each process."""
    return _sum_lines(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:"))


def _proportional(pid: int) -> int:
    """The same, but what n processes share counts a nth for each."""
    return _sum_lines(f"/proc/{pid}/smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:")) or _resident(pid)


def _sum_lines(path: str, names: tuple[bytes, ...]) -> int:
    try:
        with open(path, "rb") as file:
            return sum(1024 * int(line.split()[1]) for line in file if line.startswith(names))
    except (OSError, ValueError):
        return 0


def _used_below(folder: str, most_files: int) -> tuple[int, int]:
    size = files = 0
    waiting = [folder]
    while waiting and files <= most_files:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return size, files


def _remove_below(folder: str, deadline: float) -> None:
    """Empty the scratch of a lower tier, without recursion: its tree may be as deep as it likes."""
    while time.monotonic() < deadline:
        emptied = True
        for place, folders, names in os.walk(folder, topdown=False):
            for name in names + folders:
                path = os.path.join(place, name)
                try:
                    os.unlink(path) if name in names or os.path.islink(path) else os.rmdir(path)
                except OSError:
                    emptied = False
        if emptied:
            os.rmdir(folder)
            return


def _channel() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


def _send_some(channel: socket.socket, data: memoryview) -> memoryview:
    try:
        return data[channel.send(data[: 1 << 20]) :]
    except BlockingIOError:
        return data
    except OSError:
        return memoryview(b"")  # it is gone; its handle says so


def _kill(handle: int) -> None:
    with suppress(OSError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)


def _open_descriptors() -> set[int]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            os.fstat(int(name))
            found.add(int(name))
        except OSError:
            pass
    return found


def start(
    connection: socket.socket, cage: Cage, shell: Shell, keep: set[int], *, control: socket.socket
) -> None:
    """Fork the init of one sandbox; returns in the parent, which is of no more use."""
    cage.enter_namespaces()
    pid = os.fork()
    if pid:
        handle = os.pidfd_open(pid)
        socket.send_fds(connection, [b"P"], [handle])
        return
    control.close()
    try:
        header, _ = frames.receive(
            connection, most_header=1 << 20, most_body=0, deadline=time.monotonic() + 60
        )
        config = json.loads(header)
        home = cage.furnish(config["limits"])
        Init(connection, cage, home, config["limits"], shell, keep).run(config["seed"])
    except frames.FrameError:
        pass
    except BaseException as error:
        print(f"init: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        if isinstance(error, OSError):
            frames.send(
                connection,
                json.dumps({"outcome": "fault", "raw": 0, "head": 0, "message": str(error)}).encode(),
            )
    finally:
        os._exit(70)
