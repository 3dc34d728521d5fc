"""papermill's engine for submissions: runs a notebook's cells in an isolated interpreter, with probes between them.

`session` runs a notebook and keeps its interpreter, so that further probes can examine the state after the last cell.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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
    """The cells to skip, and the probes to shorten, after a probe has timed out.

    They call the code that made the probe time out, so they would also use up their whole time limit.
    """

    # Cell id → the exercises whose code the cell calls; the cell is skipped once a probe of one has timed out.
    cells: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Exercise id → the exercises that it builds on.
    exercises: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Time limit of a probe whose exercise builds on one that timed out.
    seconds: float = 3.0


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """The plan for one run of a notebook: the cells, the limits, and the probes that run after each cell."""

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
    # Names that provided cells set, such as `seed`. In provided cells they keep the values that
    # provided cells gave them, whatever the student's cells bind to them.
    settings: Collection[str] = ()

    @property
    def seed(self) -> int:
        """The seed of the interpreter's random numbers."""
        return int(self.parameters.get("seed", 0))


@dataclass(frozen=True, kw_only=True)
class Execution:
    """A notebook with its outputs, and the evidence that its probes returned."""

    notebook: NotebookNode
    evidence: Mapping[str, Evidence]  # by the trial's key
    cells: Mapping[str, CellResult]  # by cell id
    isolation: str  # the tier
    device: str  # on which the notebook ran
    seconds: float
    starved: bool = False  # something timed out for which this machine had too little time
    # Why the notebook ran on the CPU although the GPU was requested; else empty.
    moved: str = ""


@dataclass(frozen=True)
class Session:
    """A notebook that has run, with the interpreter that ran it. Further probes use the state after its last cell."""

    execution: Execution
    _interpreter: Sandbox

    def ask(self, request: Request) -> dict[str, Evidence]:
        """Run one more probe and return the evidence of its trials, by key.

        Raises:
            ServerLost: the fork server died.
        """
        return self._interpreter.call(request)

    @property
    def waited(self) -> float:
        """The seconds so far in which the submission was ready to run but waited for a core. No limit includes them."""
        return self._interpreter.waited


@contextmanager
def session(server: Server, plan: RunPlan) -> Iterator[Session]:
    """Run a rebuilt notebook with its probes, and keep the interpreter until the context ends.

    Each probe runs right after its cell. A cell that raises an exception does not stop the run. If the
    fork server dies, the run is repeated once. If the GPU may have caused a failure, the run is repeated
    on the CPU, and only the second run counts. So the score does not depend on the device.

    Raises:
        ServerLost: the fork server died in the second run, too.
    """
    started, moved = time.monotonic(), ""
    device = str(plan.parameters.get("device", server.device))
    ran = _run(server, plan)
    if device != "cpu" and (moved := gpu_trouble(ran.cells, ran.evidence)):
        ran.interpreter.kill()
        device = "cpu"
        ran = _run(server, replace(plan, parameters={**plan.parameters, "device": device}))
    try:
        execution = Execution(
            notebook=ran.notebook,
            evidence=ran.evidence,
            cells=ran.cells,
            isolation=server.isolation,
            device=device,
            seconds=time.monotonic() - started,
            starved=ran.interpreter.starved,
            moved=moved,
        )
        yield Session(execution, ran.interpreter)
    finally:
        ran.interpreter.kill()


@dataclass(frozen=True)
class _Run:
    """One run of a notebook. `evidence` and `cells` are filled in as its probes and cells end."""

    notebook: NotebookNode
    interpreter: Sandbox
    evidence: dict[str, Evidence] = field(default_factory=dict)
    cells: dict[str, CellResult] = field(default_factory=dict)

    @property
    def timed_out(self) -> frozenset[str]:
        """The ids of the exercises with at least one probe that timed out."""
        return frozenset(_exercise(key) for key, evidence in self.evidence.items() if evidence.status is Status.TIMEOUT)


def _run(server: Server, plan: RunPlan, attempts: int = ATTEMPTS) -> _Run:
    """Let papermill run a notebook in a new interpreter, which the caller must kill.

    Raises:
        ServerLost: the fork server died in every attempt.
    """
    papermill_engines.register(NAME, IsolatedEngine)
    notebook, run = _prepare(plan), None
    try:
        interpreter = server.spawn(plan.limits, seed=plan.seed, device=plan.parameters.get("device"))
        run = _Run(notebook, interpreter)
        papermill_engines.execute_notebook_with_engine(
            NAME, notebook, kernel_name=KERNEL, progress_bar=False, plan=plan, run=run
        )
        return run
    except BaseException as error:
        if run:
            run.interpreter.kill()
        if not isinstance(error, ServerLost):
            raise
        if attempts == 1:
            raise ServerLost(f"{error} while it served this submission, twice") from error
    return _run(server, plan, attempts - 1)


class IsolatedEngine(Engine):
    """A papermill engine that runs a notebook's cells in an isolated interpreter."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: NotebookExecutionManager, kernel_name: str, *, plan: RunPlan, run: _Run, **_unused: Any
    ) -> None:
        """Run the code cells of `nb_man.nb`, each followed by its probes. papermill calls this method.

        Args:
            plan: the limits, the probes, and the cells to skip.
            run: contains the interpreter. The results are added to it.
        """
        # papermill fails on a cell that ends in "papermill_description=".
        nb_man.get_cell_description = lambda *_: None
        for index, cell in enumerate(nb_man.nb.cells):
            if cell.cell_type == "code" and cell.source.strip() and cell.id not in plan.skip:
                nb_man.cell_start(cell, index)
                result = run.cells[cell.id] = _run_cell(run, cell, plan)
                _show(cell, result)
                if result.status is not Status.OK:
                    nb_man.cell_exception(cell, index)
            nb_man.cell_complete(cell, index)
            for request in plan.requests.get(cell.id, ()):
                run.evidence.update(_probe(run, request, plan.timeout_policy))
        _repeat_probes(run, plan)


def run_without_probes(nb_man: NotebookExecutionManager, server: Server) -> None:
    """Run a notebook for papermill's own command line, which has already written the parameters into it."""
    plan = RunPlan(notebook=nb_man.nb)
    run = _Run(nb_man.nb, server.spawn(plan.limits, seed=plan.seed))
    try:
        IsolatedEngine.execute_managed_notebook(nb_man, KERNEL, plan=plan, run=run)
    finally:
        run.interpreter.kill()


def gpu_trouble(cells: Mapping[str, CellResult], evidence: Mapping[str, Evidence]) -> str:
    """Return a description of the first failure that the GPU, or another process on it, may have caused.

    Such failures are time-outs, crashes, and exceptions whose message contains
    one of GPU_WORDS. A wrong value, or an exception without such a word, is the
    submission's own mistake. Return "" if there is no such failure.
    """
    results: dict[str, CellResult | Evidence] = {**cells, **evidence}
    for name, result in results.items():
        text = f"{result.error}: {result.message}" if result.error else result.message
        if result.status in (Status.TIMEOUT, Status.DIED):
            return f"{name}: {text}"
        if result.status is Status.RAISED and any(word in text.lower() for word in GPU_WORDS):
            return f"{name}: {text}"
    return ""


def _prepare(plan: RunPlan) -> NotebookNode:
    """Return a copy of the notebook in the form that papermill needs.

    The copy has a cell with the parameters, and every cell has an id.
    """
    prepared = nbformat.from_dict(plan.notebook)
    prepared.metadata.setdefault("papermill", nbformat.NotebookNode())
    for cell in prepared.cells:
        cell.metadata.setdefault("tags", [])  # papermill expects them
    prepared = parameterize_notebook(
        prepared, dict(plan.parameters), kernel_name=KERNEL, language=LANGUAGE, engine_name=NAME
    )
    for index, cell in enumerate(prepared.cells):
        cell.setdefault("id", f"cell-{index}")
        if INJECTED in cell.metadata.get("tags", ()):
            cell.id = INJECTED
    return prepared


def _run_cell(run: _Run, cell: NotebookNode, plan: RunPlan) -> CellResult:
    """Run one cell. Skip it if it calls the code of an exercise that has a probe which timed out."""
    if timed_out := plan.timeout_policy.cells.get(cell.id, frozenset()) & run.timed_out:
        message = f"it calls your {', '.join(sorted(timed_out))}, which did not answer in time"
        return CellResult(status=Status.TIMEOUT, message=message)
    seconds = plan.cell_seconds.get(cell.id, plan.limits.cell_seconds)
    origin = plan.origins.get(cell.id, OWN)
    settings = plan.settings if origin == GIVEN or cell.id == INJECTED else ()
    return run.interpreter.run_cell(cell.source, seconds=seconds, origin=origin, cell=cell.id, settings=settings)


def _probe(run: _Run, request: Request, policy: TimeoutPolicy) -> dict[str, Evidence]:
    """Run one probe and return the evidence of its trials, by key.

    If an earlier probe of the same exercise timed out, do not run this one, and return the same time-out.
    If the exercise builds on one with a probe that timed out, shorten the time limit.
    """
    exercise = _exercise(request.key)
    for key, earlier in run.evidence.items():
        if earlier.status is Status.TIMEOUT and _exercise(key) == exercise:
            return {
                trial: Evidence(key=trial, status=Status.TIMEOUT, message=earlier.message) for trial in request.trials
            }
    if policy.exercises.get(exercise, frozenset()) & run.timed_out:
        request = replace(request, seconds=min(request.seconds, policy.seconds))
    return run.interpreter.call(request)


def _repeat_probes(run: _Run, plan: RunPlan) -> None:
    """After the last cell, run the trials that raised a NameError or did not run because the notebook lacks their cell.

    A later cell may have defined the missing name.
    """
    for request in (request for group in plan.requests.values() for request in group):
        open_trials = {key: inputs for key, inputs in request.trials.items() if _is_open(run.evidence.get(key))}
        if open_trials:
            run.evidence.update(_probe(run, replace(request, trials=open_trials), plan.timeout_policy))


def _is_open(evidence: Evidence | None) -> bool:
    """Return True if a trial did not run, or failed because a name was undefined."""
    return evidence is None or evidence.error in ("NameError", "UnboundLocalError")


def _exercise(key: str) -> str:
    """Return the exercise id in the key of a request or a trial: "1.4" for "1.4/values"."""
    return key.partition("/")[0]


def _show(cell: NotebookNode, result: CellResult) -> None:
    """Write a cell's outputs into the notebook, with a note if the cell was skipped, stopped or crashed."""
    cell.execution_count = result.execution_count
    outputs = [nbformat.from_dict(output) for output in result.outputs]
    if result.status not in (Status.OK, Status.RAISED):
        text = f"[This cell was skipped: {result.message}. The notebook goes on from the state before it.]\n"
        outputs.append(nbformat.v4.new_output("stream", name="stderr", text=text))
    cell.outputs = outputs
