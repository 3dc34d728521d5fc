"""A plugin for Dask workers that stores the training runs that the coordinator has recorded."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from distributed import WorkerPlugin

from grader.course.trainings.recorded import keep


class KeepTrainings(WorkerPlugin):
    """Sends the files with recorded training runs to a worker."""

    name = "attention-course-trainings"

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def setup(self, worker: Any) -> None:
        """Write the files. A worker that cannot write them runs the training itself, with its first job."""
        with suppress(OSError):
            keep(self._files)
