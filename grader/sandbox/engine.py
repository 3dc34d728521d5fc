"""papermill's engine for submissions: run a notebook's cells in an isolated interpreter, and probes between them."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import nbformat
from nbformat import NotebookNode
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines
from papermill.parameterize import parameterize_notebook

from grader.records import GIVEN, OWN, CellResult, Evidence, Limits, Origin, Request, Status
from grader.sandbox.connection import Sandbox
from grader.sandbox.errors import ServerLost
from grader.sandbox.server import Server

NAME = "isolated"
INJECTED = "injected-parameters"  # papermill's tag of the cell with the parameters, and its id here
KERNEL, LANGUAGE = "python3", "python"
# A run starts again when the fork server dies during it, up to this many runs in all.
ATTEMPTS = 2
# Words in PyTorch's messages when tensors of two devices meet, when the GPU's memory is used up (perhaps by another
# process), and when a kernel has failed, after which the whole process cannot use the GPU any more.
GPU_WORDS = ("cuda", "same device", "different device", "device type", "out of memory", "cublas", "cudnn", "nvidia")


@dataclass(frozen=True, kw_only=True)
class TimeoutPolicy:
    """Which cells to skip, and which probes to shorten, once a probe has timed out.

    They call the code that made that probe time out, and would also take their whole time limit.
    """

    # Cell id → the exercises whose code the cell calls; the cell is skipped once a probe of one has timed out.
    cells: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Exercise id → the exercises that it builds on.
    exercises: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Time limit of a probe whose exercise builds on one that timed out.
    seconds: float = 3.0


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """One run of a notebook: what is executed, with which limits, and which probes run after which cell."""

    notebook: NotebookNode
    # papermill writes the parameters into a new cell after the cell tagged `parameters`. "seed" also seeds
    # the interpreter; "device" is also the device of the interpreter and of the probes' inputs.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # Cell id → the probes that run after that cell.
    requests: Mapping[str, Sequence[Request]] = field(default_factory=dict)
    limits: Limits = Limits()
    # Cell id → time limit, for cells whose limit is not `limits.cell_seconds`.
    cell_seconds: Mapping[str, float] = field(default_factory=dict)
    # Ids of cells that are not run.
    skip: Collection[str] = ()
    timeout_policy: TimeoutPolicy = TimeoutPolicy()
    # Cell id → whose code it is; a cell without an entry is the student's own.
    origins: Mapping[str, Origin] = field(default_factory=dict)
    # Names that mean to given cells what given cells made of them, as `seed`, whatever the student's cells bind to them.
    settings: Collection[str] = ()
    # Called after the probes of each exercise, with what came back so far: cells by id, evidence by key.
    arrived: Callable[[Mapping[str, CellResult], Mapping[str, Evidence]], None] = lambda cells, evidence: None
    # Called after the last cell with what came back so far: cells by id, evidence by key. Yields further probes; the
    # evidence of each is there when the next one is asked for.
    follow_up: Callable[[Mapping[str, CellResult], Mapping[str, Evidence]], Iterable[Request]] = lambda *_: ()

    @property
    def seed(self) -> int:
        """The seed of the interpreter's random numbers."""
        return int(self.parameters.get("seed", 0))


@dataclass(frozen=True, kw_only=True)
class Execution:
    """A notebook with its outputs, and the evidence that its probes returned."""

    notebook: NotebookNode
    evidence: Mapping[str, Evidence]  # by the request's key
    cells: Mapping[str, CellResult]  # by cell id
    isolation: str  # the tier
    device: str  # on which the notebook ran
    seconds: float
    # Why the run failed through the grader's fault: the fork server died in every attempt; else empty.
    fault: str = ""
    starved: bool = False  # something timed out for which this machine had too little time
    waited: float = 0.0  # seconds in which it was ready and others had its core
    # Why the notebook ran on the CPU although the GPU was requested; else empty.
    moved: str = ""


@dataclass
class _Results:
    """The results of one run, filled in as its cells and probes end."""

    evidence: dict[str, Evidence] = field(default_factory=dict)
    cells: dict[str, CellResult] = field(default_factory=dict)
    starved: bool = False
    waited: float = 0.0

    @property
    def timed_out(self) -> frozenset[str]:
        """The exercises that have a probe that timed out."""
        return frozenset(_exercise(key) for key, evidence in self.evidence.items() if evidence.status is Status.TIMEOUT)


class IsolatedEngine(Engine):
    """Run a notebook's cells in an isolated interpreter."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: NotebookExecutionManager,
        kernel_name: str,
        *,
        server: Server,
        run: RunPlan | None = None,
        results: _Results | None = None,
        **_unused: Any,
    ) -> None:
        """Start an interpreter and run the code cells of `nb_man.nb`; after each, run its probes. papermill calls this.

        Args:
            server: makes the interpreter.
            run: limits, probes and cells to skip; papermill's own command line passes none.
            results: filled in during the run.
        """
        run, results = run or RunPlan(notebook=nb_man.nb), results or _Results()
        # papermill fails on a cell that ends in "papermill_description=".
        nb_man.get_cell_description = lambda *_: None
        device = run.parameters.get("device")
        interpreter = server.spawn(run.limits, seed=run.seed, device=device)
        try:
            for index, cell in enumerate(nb_man.nb.cells):
                if cell.cell_type == "code" and cell.source.strip() and cell.id not in run.skip:
                    nb_man.cell_start(cell, index)
                    result = results.cells[cell.id] = _run_cell(interpreter, cell, run, results)
                    _show(cell, result)
                    if result.status is not Status.OK:
                        nb_man.cell_exception(cell, index)
                nb_man.cell_complete(cell, index)
                for _, requests in groupby(run.requests.get(cell.id, ()), key=lambda one: _exercise(one.key)):
                    for request in requests:
                        results.evidence[request.key] = _probe(interpreter, results, request, run.timeout_policy)
                    run.arrived(results.cells, results.evidence)
            _repeat_probes(interpreter, results, run)
            for request in run.follow_up(results.cells, results.evidence):
                results.evidence[request.key] = interpreter.call(request)
        finally:
            results.starved, results.waited = interpreter.starved, interpreter.waited
            interpreter.kill()


def execute(server: Server, run: RunPlan) -> Execution:
    """Run a rebuilt notebook, and each request right after its cell.

    Cells that raise do not stop the run. If the fork server dies, the run is repeated once. If the GPU may have caused a
    failure, the run is repeated on the CPU and that run counts: the mark does not depend on the device.
    """
    started, fault = time.monotonic(), ""
    device = str(run.parameters.get("device", server.device))
    papermill_engines.register(NAME, IsolatedEngine)
    for _ in range(ATTEMPTS):
        results = _Results()
        prepared = _prepare(run)
        try:
            papermill_engines.execute_notebook_with_engine(
                NAME, prepared, kernel_name=KERNEL, progress_bar=False, server=server, run=run, results=results
            )
            fault = ""
            break
        except ServerLost as error:
            fault = f"{error} while it served this submission, twice"
    if device != "cpu" and not fault and (why := gpu_trouble(results.cells, results.evidence)):
        on_cpu = execute(server, replace(run, parameters={**run.parameters, "device": "cpu"}))
        return replace(on_cpu, seconds=time.monotonic() - started, moved=why)
    return Execution(
        notebook=prepared,
        evidence=results.evidence,
        cells=results.cells,
        isolation=server.isolation,
        device=device,
        seconds=time.monotonic() - started,
        fault=fault,
        starved=results.starved,
        waited=results.waited,
    )


def gpu_trouble(cells: Mapping[str, CellResult], evidence: Mapping[str, Evidence]) -> str:
    """Return the first failure of a run that the GPU, or another process on it, may have caused; empty if none.

    Such failures are time-outs, crashes, and exceptions whose message contains one of GPU_WORDS. A wrong
    value, or an exception without such a word, is the submission's own fault.
    """
    results: dict[str, CellResult | Evidence] = {**cells, **evidence}
    for name, result in results.items():
        text = f"{result.error}: {result.message}" if result.error else result.message
        if result.status in (Status.TIMEOUT, Status.DIED):
            return f"{name}: {text}"
        if result.status is Status.RAISED and any(word in text.lower() for word in GPU_WORDS):
            return f"{name}: {text}"
    return ""


def _prepare(run: RunPlan) -> NotebookNode:
    """Copy the notebook, insert the cell with the parameters as papermill does, and give every cell an id."""
    prepared = nbformat.from_dict(run.notebook)
    prepared.metadata.setdefault("papermill", nbformat.NotebookNode())
    for cell in prepared.cells:
        cell.metadata.setdefault("tags", [])  # papermill expects them
    prepared = parameterize_notebook(
        prepared, dict(run.parameters), kernel_name=KERNEL, language=LANGUAGE, engine_name=NAME
    )
    for index, cell in enumerate(prepared.cells):
        cell.setdefault("id", f"cell-{index}")
        if INJECTED in cell.metadata.get("tags", ()):
            cell.id = INJECTED
    return prepared


def _run_cell(interpreter: Sandbox, cell: NotebookNode, run: RunPlan, results: _Results) -> CellResult:
    """Run one cell; skip it if a probe of an exercise whose code it calls has timed out."""
    if timed_out := run.timeout_policy.cells.get(cell.id, frozenset()) & results.timed_out:
        message = f"it calls what {', '.join(sorted(timed_out))} asks for, which did not come back"
        return CellResult(status=Status.TIMEOUT, message=message)
    seconds = run.cell_seconds.get(cell.id, run.limits.cell_seconds)
    origin = run.origins.get(cell.id, OWN)
    settings = run.settings if origin == GIVEN or cell.id == INJECTED else ()
    return interpreter.run_cell(cell.source, seconds=seconds, origin=origin, cell=cell.id, settings=settings)


def _probe(interpreter: Sandbox, results: _Results, request: Request, policy: TimeoutPolicy) -> Evidence:
    """Run one probe and return its evidence.

    If an earlier probe of the same exercise timed out, return that time-out again without running this one.
    If the exercise builds on one whose probe timed out, shorten the time limit.
    """
    exercise = _exercise(request.key)
    for key, earlier in results.evidence.items():
        if earlier.status is Status.TIMEOUT and _exercise(key) == exercise:
            return Evidence(key=request.key, status=Status.TIMEOUT, message=earlier.message)
    if policy.exercises.get(exercise, frozenset()) & results.timed_out:
        request = replace(request, seconds=min(request.seconds, policy.seconds))
    return interpreter.call(request)


def _repeat_probes(interpreter: Sandbox, results: _Results, run: RunPlan) -> None:
    """After the last cell, run the probes that raised a NameError, and those whose cell the notebook lacks.

    A later cell may have defined the name.
    """
    for request in (request for group in run.requests.values() for request in group):
        first = results.evidence.get(request.key)
        if first is None or first.error in ("NameError", "UnboundLocalError"):
            results.evidence[request.key] = _probe(interpreter, results, request, run.timeout_policy)


def _exercise(key: str) -> str:
    """Return the exercise id with which a request's key begins."""
    return key.partition("/")[0]


def _show(cell: NotebookNode, result: CellResult) -> None:
    """Write a cell's outputs into the notebook, with a note if the cell was skipped, stopped or crashed."""
    cell.execution_count = result.execution_count
    outputs = [nbformat.from_dict(output) for output in result.outputs]
    if result.status not in (Status.OK, Status.RAISED):
        text = f"[This cell was skipped: {result.message}. The notebook goes on from the state before it.]\n"
        outputs.append(nbformat.v4.new_output("stream", name="stderr", text=text))
    cell.outputs = outputs
