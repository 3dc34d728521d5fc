"""Grade a class, and store the grades and pages.

In: `SubmissionFile` records. Out: grades in nbgrader's database, pages, JSON lines. `workers` runs
submissions as jobs. `gradebook` is nbgrader's database, the only record of the points. `results`
writes all files that belong to a grade. nbgrader's own commands call `nbgrader_plugins`.
"""
