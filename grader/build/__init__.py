"""Make the notebooks: solution notebooks from a lesson's script and its declaration, then student notebooks.

In: `solutions/*.py`, the declared lessons, modules of `source/` that a script provides. Out: the
notebooks of `solutions/` and `notebooks/` (nbgrader makes the latter), the generated parts of
README.md, docs/students.md and docs/classroom/grade.yml, the zip for students and the zip for
Gradescope. The same input gives the same bytes. An error in a script raises a BuildError that names
file and cell.
May import: course, declare, explain, judge, submission, records, paths, report (the site renders Markdown as the
manual does).
"""
