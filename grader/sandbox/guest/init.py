"""The init of one sandbox: starts the interpreter, enforces limits, and returns to the checkpoint after a failure.

It never runs student code. When the trusted side closes the connection, the init ends the sandbox and itself. In tier
full it has the process id 1 in the sandbox, so when it ends, all processes of the sandbox end.
"""

import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

import torch
from guest import calling, frames, gpu, interpreter
from guest.confinement import Confinement
from guest.exchange import Answer, Exchange, GraderConnection, InterpreterProcess, channel_pair, receive_greeting
from guest.frames import Ending
from guest.meter import TICK, Meter, remove_scratch
from guest.processes import kill, open_descriptors, reap
from guest.shell import Shell, attach_streams

FORK_SECONDS = 30.0  # that a checkpoint may take to fork
PING_SECONDS = 3.0  # that a checkpoint may take to answer a ping
KILL_SECONDS = 3.0  # to kill what a failed cell has started


@dataclass(frozen=True)
class Prober:
    """A fork of the active interpreter that answers all requests of one group."""

    group: str
    process: InterpreterProcess
    before: set[int]  # the sandbox's processes before the fork


class Init:
    """Carries out the orders that arrive over one connection."""

    def __init__(
        self, connection: socket.socket, confinement: Confinement, home: str, limits: dict, shell: Shell, keep: set[int]
    ) -> None:
        """Prepare without starting a process.

        Args:
            keep: the file descriptors of the fork server that the interpreter keeps open.
        """
        self._confinement, self._home, self._limits = confinement, home, limits
        self._shell, self._keep = shell, keep
        self._grader = GraderConnection(connection, limits["cell_output_bytes"], self._end)
        self._meter = Meter(home, limits, own_namespace=confinement.full)
        # The interpreter with the notebook's present state: it waits, and forks for cells and probes.
        self._active: InterpreterProcess | None = None
        self._prober: Prober | None = None

    def run(self, seed: int) -> NoReturn:
        """Start the interpreter and carry out orders until the trusted side closes the connection."""
        self._active = self._start_interpreter(seed)
        self._grader.reply(Answer(Ending.READY if self._active else Ending.NOT_BEGUN))
        while True:
            header, body = self._grader.next_order(self._check_idle_sandbox)
            order = json.loads(header)
            request_size = order.pop("request")
            for answer in self._carry_out(order, body[:request_size], body[request_size:]):
                self._grader.reply(answer)

    def _carry_out(self, order: dict, request: memoryview, blob: memoryview) -> Iterator[Answer]:
        """Carry out one order, for a cell or a probe, and yield the answers.

        A cell has one answer. A probe has one answer for each trial, up to a trial that does not end normally.
        """
        if order["op"] == "call":
            yield from self._run_probe(order, request, blob)
        else:
            self._grader.discard_raw()
            self._end_prober()
            yield self._run_cell(order["seconds"], request, order["in_place"])

    # ------------------------------------------------------------ cells and probes

    def _run_cell(self, seconds: float, request: memoryview, in_place: bool) -> Answer:
        """Run a cell in a fork, which then becomes the active interpreter.

        With `in_place`, run it in the active interpreter itself.
        """
        before = self._meter.processes()
        active, process = self._active, self._fork("here" if in_place else "cell")
        if active is None or process is None:
            return self._give_up(Ending.NOT_BEGUN)
        in_place = process.pid == active.pid  # an interpreter that has used CUDA runs every cell in place
        answer = Exchange(process, self._grader, self._meter, self._limits, request).answer(seconds)
        if answer.ending is Ending.ANSWER:
            if not in_place:
                kill(active.pidfd)
            active.close()
            self._active = process
            return answer
        process.close()
        return self._return_to_checkpoint(answer, before, in_place)

    def _run_probe(self, order: dict, request: memoryview, blob: memoryview) -> Iterator[Answer]:
        """Run a probe on its trials in a fork, and yield the answer to each. Stop after a trial without an answer.

        Requests of one group share the fork until it ends or leaves a trial unanswered. An active interpreter
        that has used CUDA cannot fork and runs the probe itself.
        """
        prober = self._prober
        if prober is None or prober.group != order["group"] or prober.process.ended():
            self._end_prober()
            before = self._meter.processes()
            process = self._fork("call")
            if process is None:
                yield self._give_up(Ending.NOT_BEGUN)
                return
            self._prober = prober = Prober(order["group"], process, before)
        exchange, left = Exchange(prober.process, self._grader, self._meter, self._limits, request, blob), order["left"]
        for _ in range(order["trials"]):
            self._grader.discard_raw()
            started = time.monotonic()
            answer = exchange.answer(min(order["seconds"], left))
            left -= time.monotonic() - started - answer.waited
            if answer.ending is not Ending.ANSWER:
                self._prober = None
                prober.process.close()
                yield self._return_to_checkpoint(answer, prober.before, self._is_active(prober.process))
                return
            yield answer

    def _end_prober(self) -> None:
        """End the prober and the processes that it started. The active interpreter keeps running."""
        if self._prober is None:
            return
        prober, self._prober = self._prober, None
        prober.process.close()
        if not self._is_active(prober.process):
            self._kill_all_but(prober.before)

    def _return_to_checkpoint(self, answer: Answer, before: set[int], in_place: bool) -> Answer:
        """Kill the processes that a failed cell or probe started, and return the answer.

        If memory or scratch files exceeded their limit, kill all processes except the active interpreter, because
        earlier cells may have started the processes that use too much. If no checkpoint answers, kill all processes and
        return an answer that is `lost`.

        Args:
            before: the sandbox's processes before the cell or probe.
            in_place: the code ran in the active interpreter itself, so there is no checkpoint.
        """
        too_much = answer.ending in (Ending.MEMORY, Ending.SCRATCH)
        keep = {self._active.pid} if too_much and self._active is not None else before
        if in_place or not self._kill_all_but(keep) or not self._checkpoint_answers():
            return self._give_up(answer.ending, answer.waited)
        return answer

    def _give_up(self, ending: Ending, waited: float = 0.0) -> Answer:
        """Kill all processes of the sandbox except this one. Return a `lost` answer with this ending and waiting time.

        There is no checkpoint any more, so the trusted side must start a new sandbox.
        """
        self._kill_all_but(set())
        if self._active is not None:
            self._active.close()
        self._active = self._prober = None
        return Answer(ending, lost=True, waited=waited)

    # ------------------------------------------------------------ starting and forking interpreters

    def _start_interpreter(self, seed: int) -> InterpreterProcess | None:
        """Fork the interpreter and return its process, or None if it does not send a greeting in time."""
        init_end, interpreter_end = channel_pair()
        if os.fork() == 0:
            try:
                self._become_interpreter(interpreter_end, seed)
            finally:
                os._exit(1)
        interpreter_end.close()
        return self._wait_for_greeting(init_end, FORK_SECONDS)

    def _become_interpreter(self, control: socket.socket, seed: int) -> None:
        """In the fork: confine this process and answer orders. Never return."""
        signal.set_wakeup_fd(-1)
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(self._grader.raw_write, 1)
        os.dup2(self._grader.raw_write, 2)
        for descriptor in open_descriptors() - self._keep - {0, 1, 2, control.fileno()}:
            os.close(descriptor)
        self._confinement.confine(self._limits, self._home)
        tempfile.tempdir = None  # this cache contains the fork server's folder, not this sandbox's
        attach_streams()
        if not self._confinement.full:  # terminals would be those of the whole machine: `!command` uses a pipe
            self._shell.system = self._shell.system_raw
        for name in [name for name in sys.modules if name.partition(".")[0] == "guest"]:
            del sys.modules[name]  # so that student code cannot import these modules
        torch.set_num_threads(self._limits["threads"])
        if self._limits["cuda"]:
            gpu.prepare(self._limits["gpu_memory_bytes"])
        calling.seed(seed)
        interpreter.serve(control, self._shell, self._limits)

    def _fork(self, order: str) -> InterpreterProcess | None:
        """Send the active interpreter an order. Return the process that will receive the request, or None.

        For the orders "cell" and "call" this process is a fork of the active interpreter.
        For "here", and after the active interpreter has used CUDA, it is the active
        interpreter itself. None means that the interpreter has ended or cannot fork.
        """
        for last_attempt in (False, True):
            if self._active is None or self._active.ended():
                return None
            channel = self._send_channel(self._active, order, FORK_SECONDS)
            if channel is None:
                return None
            process = self._wait_for_greeting(channel, FORK_SECONDS)
            if process is not None or last_attempt:
                return process
            # The interpreter could not fork, because there are too many processes: kill those that cells left running.
            self._kill_all_but({self._active.pid})
        return None

    def _checkpoint_answers(self) -> bool:
        """Return True if the checkpoint still answers. One of its forks may have stopped or killed it."""
        channel = self._send_channel(self._active, "ping", 1.0) if self._active is not None else None
        if channel is None:
            return False
        process = self._wait_for_greeting(channel, PING_SECONDS)
        if process is not None:
            process.close()
        return process is not None

    def _send_channel(self, process: InterpreterProcess, order: str, seconds: float) -> socket.socket | None:
        """Send a process an order with one end of a new channel, and return the other end.

        Return None if this fails or takes longer than `seconds`.
        """
        init_end, interpreter_end = channel_pair()
        try:
            process.channel.settimeout(seconds)
            socket.send_fds(process.channel, [order.encode()], [interpreter_end.fileno()])
        except OSError:
            init_end.close()
            return None
        finally:
            interpreter_end.close()
        return init_end

    def _wait_for_greeting(self, channel: socket.socket, seconds: float) -> InterpreterProcess | None:
        """Return the process that sends a greeting over a new channel.

        If no process does so in time, close the channel and return None.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._grader.attend()
            if select.select([channel], [], [], TICK)[0]:
                if (process := receive_greeting(channel)) is not None:
                    return process
                break
            if self._active is not None and self._active.ended():
                break
        channel.close()
        return None

    def _is_active(self, process: InterpreterProcess) -> bool:
        """Return True if a process is the active interpreter itself, not a fork of it."""
        return self._active is not None and process.pid == self._active.pid

    # ------------------------------------------------------------ the other processes

    def _check_idle_sandbox(self) -> None:
        """If the idle sandbox exceeds a limit, kill the processes that earlier cells left running."""
        if self._active is not None and self._meter.excess():
            self._kill_all_but({self._active.pid})

    def _kill_all_but(self, keep: set[int]) -> bool:
        """Kill all processes except the init and `keep`. Return False if some still run after KILL_SECONDS."""
        deadline = time.monotonic() + KILL_SECONDS
        while True:
            others = self._meter.processes() - keep
            if not others:
                return True
            for pid in others:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            reap()
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)

    def _end(self) -> NoReturn:
        """End the sandbox and this process."""
        self._kill_all_but(set())
        if not self._confinement.full:
            remove_scratch(self._home, time.monotonic() + 5)
        os._exit(0)


def start(
    connection: socket.socket,
    confinement: Confinement,
    shell: Shell,
    keep: set[int],
    *,
    user: int,
    control: socket.socket,
) -> None:
    """Fork the init of one sandbox, send its pidfd over the connection, and return in the parent.

    The fork receives its configuration over the connection, becomes the init, and never returns.

    Args:
        user: the user id for the sandbox's processes, as for `Confinement.enter_namespaces`.
    """
    confinement.enter_namespaces(user)
    pid = os.fork()
    if pid:
        pidfd = os.pidfd_open(pid)
        socket.send_fds(connection, [b"P"], [pidfd])
        return
    control.close()
    try:
        header, _ = frames.receive(connection, most_header=1 << 20, most_body=0, deadline=time.monotonic() + 60)
        config = json.loads(header)
        home = confinement.prepare_home(config["limits"])
        Init(connection, confinement, home, config["limits"], shell, keep).run(config["seed"])
    except frames.FrameError:
        pass
    except BaseException as error:
        print(f"init: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        if isinstance(error, OSError):
            message = str(error).encode()
            fault = {"ending": Ending.FAULT, "raw": 0, "head": len(message)}
            frames.send(connection, json.dumps(fault).encode(), message)
    finally:
        os._exit(70)
