"""Lets nbgrader add a submission without the warnings of SQLAlchemy that its own function causes.

`Gradebook.add_submission` of nbgrader 0.9.6 makes objects that refer to stored ones, reads more of the database, and adds
the objects to the session last. SQLAlchemy flushes before each read, and warns of each object that is not in the
session yet. What is stored in the end is the same.
"""

from functools import cache, wraps
from typing import Any

from nbgrader import api


@cache
def flush_last() -> None:
    """Let nbgrader's function flush only once all of the submission is in the session. Once in a process is enough."""
    original = api.Gradebook.add_submission

    @wraps(original)
    def add_submission(self: api.Gradebook, *arguments: Any, **columns: Any) -> api.SubmittedAssignment:
        with self.db.no_autoflush:
            return original(self, *arguments, **columns)

    api.Gradebook.add_submission = add_submission
