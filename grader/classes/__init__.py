"""Grade a class and keep what it got.

In: `SubmissionFile` records. Out: grades in nbgrader's database, pages, JSON lines. `workers` runs submissions as jobs;
`gradebook` is nbgrader's database, the one truth; `results` writes all that belongs to a grade; `nbgrader_plugins` is what
nbgrader's own commands call.
"""
