"""`grader serve`: the submission server, a small web server next to the gradebook. It needs the extra `serve`.

In: what students upload, and serve.toml. Out: `submitted/` in nbgrader's layout, grades in the gradebook as `grader grade`
writes them, and pages. Two processes: one answers the browsers (`app`), the other one grades and is the only writer of
automatic grades (`grading`). They share `store`, an SQLite file, and nothing else. Nothing of grader imports this folder: the
command line finds it by name.
May import: classes, course, commands.console, commands.from_gradebook, commands.grade, commands.options, grading.graded,
grading.grade, report, submission, records, paths, secret.
"""
