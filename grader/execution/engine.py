"""papermill's engine for submissions: cells run in a warm, isolated interpreter, and exercises are probed on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import nbformat
from nbformat import NotebookNode
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines
from papermill.parameterize import parameterize_notebook

from grader.execution import gpu
from grader.execution.interpreter import CellResult, Interpreter, Server, ServerLost
from grader.exercise import OWN, Evidence, Limits, Origin, Request, Status

NAME = "isolated"
KERNEL, LANGUAGE = "python3", "python"


@dataclass(frozen=True, kw_only=True)
class Execution:
    """A notebook that was run, and the answers that were got on the way."""

    notebook: NotebookNode
    evidence: Mapping[str, Evidence]  # by key
    cells: Mapping[str, CellResult]  # by cell id
    isolation: str
    device: str  # where it ran
    seconds: float
    fault: str = ""  # ours: the sandbox failed, twice
    moved: str = ""  # why it ran on the CPU and not on the GPU that was asked for


@dataclass(frozen=True, kw_only=True)
class Caution:
    """What is spared once a probe has hung: it hangs wherever it is called."""

    cells: Mapping[str, frozenset[str]] = field(
        default_factory=dict
    )  # not run if one of these exercises hung
    exercises: Mapping[str, frozenset[str]] = field(default_factory=dict)  # what each builds on
    seconds: float = 3.0  # of a probe whose exercise builds on one that hung


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Functions that are computed on this side: names that are defined anew after some cells, by the cell's id."""

    after: Mapping[str, Sequence[str]] = field(default_factory=dict)
    functions: Mapping[str, Callable] = field(default_factory=dict)


@dataclass
class _Run:
    """What one run collects."""

    evidence: dict[str, Evidence] = field(default_factory=dict)
    cells: dict[str, CellResult] = field(default_factory=dict)

    @property
    def hung(self) -> frozenset[str]:
        """The exercises that were waited for in vain."""
        return frozenset(_exercise(key) for key, one in self.evidence.items() if one.status is Status.TIMEOUT)


class IsolatedEngine(Engine):
    """Runs a notebook's cells."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: NotebookExecutionManager,
        kernel_name: str,
        *,
        server: Server | None = None,
        run: _Run | None = None,
        requests: Mapping[str, Sequence[Request]] | None = None,
        limits: Limits | None = None,
        cell_seconds: Mapping[str, float] | None = None,
        skip: Collection[str] = (),
        caution: Caution = Caution(),
        origins: Mapping[str, Origin] | None = None,
        answered: Answered = Answered(),
        seed: int = 0,
        device: str | None = None,
        **_: Any,
    ) -> None:
        with Server() if server is None else nullcontext(server) as serving:
            _run_all(
                nb_man,
                serving,
                run or _Run(),
                requests or {},
                limits or Limits(),
                cell_seconds or {},
                frozenset(skip),
                caution,
                origins or {},
                answered,
                seed,
                device,
            )


def execute(
    server: Server,
    notebook: NotebookNode,
    *,
    parameters: Mapping[str, Any],
    requests: Mapping[str, Sequence[Request]],
    limits: Limits,
    cell_seconds: Mapping[str, float] | None = None,
    skip: Collection[str] = (),
    caution: Caution = Caution(),
    origins: Mapping[str, Origin] | None = None,
    answered: Answered = Answered(),
) -> Execution:
    """Run a rebuilt notebook and ask the requests, each right after the cell that it belongs to.

    Cells that raise do not stop the run. Where the fork server dies, the run is repeated once. Where the GPU comes in
    the way, the run is repeated on the CPU, and that one counts: the mark does not depend on the device.

    Args:
        parameters: put into the cell after the one tagged `parameters`; "seed" also seeds the interpreter, and "device"
            is where the inputs of the requests are moved.
        requests: by the id of the cell after which they are asked.
        cell_seconds: of cells that have a time limit of their own, by id.
        skip: ids of cells that are left as they are.
        caution: what else is left, once an exercise hangs.
        origins: of the cells that are not the student's own, by id: for the tripwire.
        answered: stand-ins that are computed here.
    """
    started, fault = time.monotonic(), ""
    device = str(parameters.get("device", server.device))
    papermill_engines.register(NAME, IsolatedEngine)
    for _ in range(2):
        run = _Run()
        prepared = _prepare(notebook, parameters)
        try:
            papermill_engines.execute_notebook_with_engine(
                NAME,
                prepared,
                kernel_name=KERNEL,
                progress_bar=False,
                server=server,
                run=run,
                requests=requests,
                limits=limits,
                cell_seconds=cell_seconds or {},
                skip=skip,
                caution=caution,
                origins=origins,
                answered=answered,
                seed=int(parameters.get("seed", 0)),
                device=device,
            )
            fault = ""
            break
        except ServerLost as error:
            fault = f"{error} while it served this submission, twice"
    if device != "cpu" and not fault and (why := gpu.trouble(run.cells, run.evidence)):
        on_cpu = execute(
            server,
            notebook,
            parameters={**parameters, "device": "cpu"},
            requests=requests,
            limits=limits,
            cell_seconds=cell_seconds,
            skip=skip,
            caution=caution,
            origins=origins,
            answered=answered,
        )
        return replace(on_cpu, seconds=time.monotonic() - started, moved=why)
    return Execution(
        notebook=prepared,
        evidence=run.evidence,
        cells=run.cells,
        isolation=server.isolation,
        device=device,
        seconds=time.monotonic() - started,
        fault=fault,
    )


def _prepare(notebook: NotebookNode, parameters: Mapping[str, Any]) -> NotebookNode:
    """A copy with the parameters in it, as papermill wants it."""
    prepared = nbformat.from_dict(notebook)
    prepared.metadata.setdefault("papermill", nbformat.NotebookNode())
    for cell in prepared.cells:
        cell.metadata.setdefault("tags", [])  # papermill expects them
    prepared = parameterize_notebook(
        prepared, dict(parameters), kernel_name=KERNEL, language=LANGUAGE, engine_name=NAME
    )
    for index, cell in enumerate(prepared.cells):
        cell.setdefault("id", f"cell-{index}")
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.id = "injected-parameters"
    return prepared


def _run_all(
    nb_man: NotebookExecutionManager,
    server: Server,
    run: _Run,
    requests: Mapping[str, Sequence[Request]],
    limits: Limits,
    cell_seconds: Mapping[str, float],
    skip: frozenset[str],
    caution: Caution,
    origins: Mapping[str, Origin],
    answered: Answered,
    seed: int,
    device: str | None,
) -> None:
    # It trips over a cell that ends in "papermill_description=".
    nb_man.get_cell_description = lambda *_: None
    interpreter = server.spawn(limits, seed=seed, device=device, functions=answered.functions)
    try:
        for index, cell in enumerate(nb_man.nb.cells):
            if cell.cell_type == "code" and cell.source.strip() and cell.id not in skip:
                nb_man.cell_start(cell, index)
                if waited := caution.cells.get(cell.id, frozenset()) & run.hung:
                    message = f"it calls what {', '.join(sorted(waited))} asks for, which did not come back"
                    result = CellResult(status=Status.TIMEOUT, message=message)
                else:
                    seconds = cell_seconds.get(cell.id, limits.cell_seconds)
                    result = interpreter.run_cell(
                        cell.source, seconds=seconds, origin=origins.get(cell.id, OWN)
                    )
                run.cells[cell.id] = result
                _show(cell, result)
                if result.status is not Status.OK:
                    nb_man.cell_exception(cell, index)
            nb_man.cell_complete(cell, index)
            if names := answered.after.get(cell.id):
                interpreter.run_cell("", seconds=limits.cell_seconds, stand_ins=names)
            for request in requests.get(cell.id, ()):
                run.evidence[request.key] = _ask(interpreter, run, request, caution)
        _ask_again(interpreter, run, requests, caution)
    finally:
        interpreter.kill()


def _ask(interpreter: Interpreter, run: _Run, request: Request, caution: Caution) -> Evidence:
    """The answer to one request; an exercise that was waited for in vain is not waited for again."""
    exercise = _exercise(request.key)
    for key, earlier in run.evidence.items():
        if earlier.status is Status.TIMEOUT and _exercise(key) == exercise:
            return Evidence(key=request.key, status=Status.TIMEOUT, message=earlier.message)
    if caution.exercises.get(exercise, frozenset()) & run.hung:
        request = replace(request, seconds=min(request.seconds, caution.seconds))
    return interpreter.call(request)


def _ask_again(
    interpreter: Interpreter, run: _Run, requests: Mapping[str, Sequence[Request]], caution: Caution
) -> None:
    """Those whose helper stands further down, and those whose cell is not there."""
    for request in (request for group in requests.values() for request in group):
        first = run.evidence.get(request.key)
        if first is None or first.error in ("NameError", "UnboundLocalError"):
            run.evidence[request.key] = _ask(interpreter, run, request, caution)


def _exercise(key: str) -> str:
    return key.partition("/")[0]


def _show(cell: NotebookNode, result: CellResult) -> None:
    cell.execution_count = result.execution_count
    outputs = [nbformat.from_dict(output) for output in result.outputs]
    if result.status not in (Status.OK, Status.RAISED):
        text = f"[This cell was skipped: {result.message}. The notebook goes on from the state before it.]\n"
        outputs.append(nbformat.v4.new_output("stream", name="stderr", text=text))
    cell.outputs = outputs
