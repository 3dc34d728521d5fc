"""Run jobs on the workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from grader.workers.workers import Workers

CONNECT_SECONDS = 10.0  # after which a scheduler that does not answer counts as unreachable
COUNT_SECONDS = 5.0  # for which the number of the cluster's threads is cached


class NoCluster(Exception):
    """The cluster cannot be used; the message says what to do."""


@contextmanager
def cluster_workers(
    address: str, device: str, grade: Callable[..., Any], trainings: Mapping[str, bytes] | None = None
) -> Iterator[Workers]:
    """Connect to the Dask scheduler at this address, and use its workers as long as the context is open.

    Args:
        device: "cpu"; "cuda", with which each job asks Dask for the resource GPU; or "auto": "cuda" if any
            worker offers that resource, else "cpu".
        grade: grades a job on a worker.
        trainings: files of recorded trainings, which every worker gets, also one that comes later.

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
        missing = (
            "with the resource GPU; start them with `dask worker --resources GPU=1`" if wanted else "yet"
        )
        yield Workers(
            start=lambda: client.get_executor(pure=False, **wanted),
            grade=grade,
            ahead=_JobsAhead(client),
            device=device,
            note=f"{address}: {usable} workers"
            if usable
            else f"{address} has no worker {missing}; waiting for one",
        )
    finally:
        with suppress(OSError, RuntimeError):
            client.close(timeout=2)


def _connect(address: str, trainings: Mapping[str, bytes]) -> Any:
    """Connect to a scheduler, and give every worker the files of recorded trainings.

    Raises:
        NoCluster: dask.distributed is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client

        from grader.workers.keep_trainings import KeepTrainings
    except ImportError as error:
        raise NoCluster(
            "--scheduler needs dask.distributed. Run: pip install 'attention-course[cluster]'"
        ) from error
    import logging

    # Dask logs every attempt to connect, with tracebacks; the message of NoCluster is enough.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise NoCluster(
            f"no Dask scheduler answers at {address} ({_first_line(error)}). Start one with `dask scheduler`, "
            "and pass the address that it prints, as in tcp://10.0.0.1:8786"
        ) from error
    if trainings:
        client.register_plugin(KeepTrainings(trainings))
    return client


class _JobsAhead:
    """Computes how many jobs the workers may have at a time: two for each thread of the cluster."""

    def __init__(self, client: Any) -> None:
        self._client, self._jobs, self._counted_at = client, 2, -COUNT_SECONDS

    def __call__(self) -> int:
        """Return the number of jobs, counted at most COUNT_SECONDS ago."""
        if time.monotonic() - self._counted_at >= COUNT_SECONDS:
            # Without a connection the number stays as it was: the jobs' futures report the lost connection.
            with suppress(OSError, RuntimeError, AttributeError):
                self._jobs = 2 * max(1, sum(self._client.nthreads().values()))
            self._counted_at = time.monotonic()
        return self._jobs


def _first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its class if it has none."""
    return (str(error) or type(error).__name__).splitlines()[0][:200]
