"""What papermill finds under the name `isolated`.

papermill loads every engine as soon as it is imported itself. The engine's parts, and torch, are imported when it is used.
"""

from __future__ import annotations

from typing import Any

from papermill.engines import Engine


class Isolated(Engine):
    """Serve `papermill --engine isolated`: a fork server of its own for one notebook."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        """Run the notebook; called by papermill."""
        from grader.execution.engine import IsolatedEngine
        from grader.execution.server import Server

        with Server() as server:
            IsolatedEngine.execute_managed_notebook(nb_man, kernel_name, server=server, **options)
