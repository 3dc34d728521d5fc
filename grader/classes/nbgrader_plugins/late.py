"""A late-submission plugin for nbgrader, which subtracts a number of points for each day that has begun.

In nbgrader_config.py:

    c.AssignLatePenalties.plugin_class = "grader.classes.nbgrader_plugins.late.PointsPerDay"
    c.PointsPerDay.points = 10
"""

import math

from nbgrader.plugins import BasePlugin
from traitlets import Float

DAY = 86400  # seconds


class PointsPerDay(BasePlugin):
    """Subtracts points for each day that has begun after due date and extension. The score is never below 0."""

    points = Float(0.0, min=0.0, help="The points that each day costs.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """Return the points to subtract. nbgrader calls this method only for submissions that are late."""
        return min(self.points * math.ceil(total_seconds_late / DAY), score)
