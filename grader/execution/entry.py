"""What papermill finds under the name `isolated`.

papermill loads every engine as soon as it is imported itself. The engine's parts, and torch, wait until it is used.
"""

from __future__ import annotations

from typing import Any

from papermill.engines import Engine


class Isolated(Engine):
    """`papermill --engine isolated`: a fork server of its own for one notebook."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        from grader.execution.engine import IsolatedEngine

        IsolatedEngine.execute_managed_notebook(nb_man, kernel_name, **options)
