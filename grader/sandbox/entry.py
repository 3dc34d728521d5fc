"""The engine that papermill loads under the name `isolated`.

Importing papermill loads every registered engine, so this module imports the parts of its engine, and torch,
only when the engine runs.
"""

from typing import Any

from papermill.engines import Engine


class Isolated(Engine):
    """Serve `papermill --engine isolated`: run one notebook with a fork server of its own."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        """Run the notebook; papermill calls this."""
        from grader.sandbox.engine import run_without_probes
        from grader.sandbox.server import Server

        with Server() as server:
            run_without_probes(nb_man, server)
