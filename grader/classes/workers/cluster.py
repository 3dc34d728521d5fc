"""Runs jobs on the workers of a Dask cluster."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from grader.classes.workers.job import UnfitWorker, Workers, WorkersLost
from grader.complaint import Complaint

CONNECT_SECONDS = 10.0  # after which a scheduler that does not answer counts as unreachable
FIRST_WORD = 60.0  # seconds without a finished job, after which to say what is waited for
# Seconds after which a run ends in which no job ends: the longest that a job may take on a busy machine; and
# without workers.
LONGEST_JOB, LONGEST_WITHOUT = 7200.0, 900.0
COUNT_SECONDS = 5.0  # for which the number of the cluster's threads is cached


class NoCluster(Complaint):
    """The cluster cannot be used. The message names the next step."""


@contextmanager
def cluster_workers(
    address: str,
    device: str,
    grade: Callable[..., Any],
    trainings: Mapping[str, bytes] | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[Workers]:
    """Connect to the Dask scheduler at this address, and use its workers as long as the context is open.

    Args:
        device: "cpu"; "cuda", with which each job asks Dask for the resource GPU; or "auto", which
            means "cuda" if any worker offers that resource, otherwise "cpu".
        grade: grades a job on a worker.
        trainings: files with recorded training runs for every worker, including workers that join
            later.
        say: called with a message about a worker that cannot grade, or about the reason for a wait.

    Raises:
        NoCluster: dask.distributed is not installed, or no scheduler answers.
    """
    client = _connect(address, trainings or {})
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        with_gpu = sum("GPU" in worker["resources"] for worker in workers)
        if device == "auto":
            device = "cuda" if with_gpu else "cpu"
        wanted = {"resources": {"GPU": 1}} if device == "cuda" else {}
        usable = with_gpu if wanted else len(workers)
        missing = "with the resource GPU; start them with `dask worker --resources GPU=1`" if wanted else "yet"
        cluster = _Cluster(client, say)
        yield Workers(
            start=lambda: client.get_executor(pure=False, **wanted, **cluster.chosen()),
            grade=grade,
            ahead=cluster.ahead,
            avoid=cluster.avoid,
            still_waiting=cluster.still_waiting,
            device=device,
            note=f"{address}: {usable} workers" if usable else f"{address} has no worker {missing}; waiting for one",
        )
    finally:
        with suppress(OSError, RuntimeError):
            client.close(timeout=2)


def _connect(address: str, trainings: Mapping[str, bytes]) -> Any:
    """Connect to a scheduler, and send the files with recorded training runs to every worker.

    Raises:
        NoCluster: as for `cluster_workers`.
    """
    try:
        from distributed import Client

        from grader.classes.workers.keep_trainings import KeepTrainings
    except ImportError as error:
        raise NoCluster("--scheduler needs dask.distributed. Run: pip install 'attention-course[cluster]'") from error
    import logging

    # Dask logs every attempt to connect, with tracebacks; the message of NoCluster is enough.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        said = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise NoCluster(
            f"no Dask scheduler answers at {address} ({said}). Start one with `dask scheduler`, "
            "and pass the address that it prints, as in tcp://10.0.0.1:8786"
        ) from error
    if trainings:
        client.register_plugin(KeepTrainings(trainings))
    return client


def this_worker() -> str:
    """Return the address of the Dask worker in which this thread runs, or "" outside a worker."""
    if "distributed" in sys.modules:
        from distributed import get_worker

        with suppress(ValueError, AttributeError):
            return get_worker().address
    return ""


class _Cluster:
    """The state of a cluster: which workers can grade, how many jobs they may have, when to report a wait."""

    def __init__(self, client: Any, say: Callable[[str], None]) -> None:
        self._client, self._say = client, say
        self._unfit: set[str] = set()  # the workers that have said that they cannot grade
        self._next_word = 0.0  # the seconds of waiting after which to say what is waited for
        self._jobs, self._counted_at = 2, -COUNT_SECONDS

    def ahead(self) -> int:
        """Return the number of jobs that the workers may have at a time, which is two for each thread.

        The threads are counted again every COUNT_SECONDS.
        """
        if time.monotonic() - self._counted_at >= COUNT_SECONDS:
            # Without a connection the number stays as it was: the jobs' futures report the lost connection.
            with suppress(OSError, RuntimeError, AttributeError):
                self._jobs = 2 * max(1, sum(self._client.nthreads().values()))
            self._counted_at = time.monotonic()
        return self._jobs

    def avoid(self, unfit: UnfitWorker) -> bool:
        """Give a worker no further job, and report the reason once. Return True if another worker can grade."""
        if unfit.worker and unfit.worker not in self._unfit:
            self._unfit.add(unfit.worker)
            self._say(f"{unfit.worker} grades nothing here. {unfit.message}")
        return bool(unfit.worker and self._fit())

    def chosen(self) -> dict[str, list[str]]:
        """Return the option that limits a job to the workers that can grade, or no option if all workers can."""
        return {"workers": self._fit()} if self._unfit else {}

    def _fit(self) -> list[str]:
        return [one for one in self._client.scheduler_info(n_workers=-1)["workers"] if one not in self._unfit]

    def still_waiting(self, seconds: float) -> None:
        """Report the reason for a wait after FIRST_WORD seconds, and then each time that the wait has doubled.

        Args:
            seconds: the seconds since a job last ended.

        Raises:
            WorkersLost: no job has ended for LONGEST_WITHOUT seconds and there is no worker now, or
                no job has ended for LONGEST_JOB seconds.
        """
        try:
            workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, RuntimeError, AttributeError):
            workers = 1  # without a connection, as if there were one: the jobs' futures tell
        if seconds > (LONGEST_JOB if workers else LONGEST_WITHOUT):
            what = "no job ended" if workers else "there was no worker"
            raise WorkersLost(
                f"for {seconds / 60:.0f} minutes {what}. The grades that were finished are kept; "
                "look at the workers' logs, start them again, and run this again: it goes on where it stopped."
            )
        if seconds < FIRST_WORD:
            self._next_word = FIRST_WORD
        elif seconds >= self._next_word:
            self._next_word = 2 * seconds
            self._say(
                f"waiting: no submission was finished for {seconds:.0f} s; "
                + (f"{workers} workers have some" if workers else "no worker is there")
            )
