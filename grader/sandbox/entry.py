"""The engine that papermill loads under the name `isolated`.

papermill loads every registered engine when it is imported. So this module
imports torch and the rest of the engine only when the engine runs.
"""

from typing import Any

from papermill.engines import Engine


class Isolated(Engine):
    """The engine for `papermill --engine isolated`. It runs one notebook with its own fork server."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        """Run the notebook. papermill calls this method."""
        from grader.sandbox.engine import run_without_probes
        from grader.sandbox.server import Server

        with Server() as server:
            run_without_probes(nb_man, server)
