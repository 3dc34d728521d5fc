"""A plugin for Dask workers, which keep the trainings that the coordinator has run."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from distributed import WorkerPlugin

from grader.course.trainings.recorded import keep


class KeepTrainings(WorkerPlugin):
    """Gives a worker files of recorded trainings."""

    name = "attention-course-trainings"

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def setup(self, worker: Any) -> None:
        """Write the files. A worker that cannot keep them runs the trainings itself, with the first job."""
        with suppress(OSError):
            keep(self._files)
