"""`grader serve`: the submission server, a small web server next to the gradebook. It needs the extra `serve`.

In: uploaded notebooks, and the settings in serve.toml. Out: `submitted/` in nbgrader's layout,
pages, and grades in the gradebook, written as `grader grade` writes them.

There are two processes. One answers the browsers (`app`). The other one grades, and only this
process writes automatic grades (`grading`). The two communicate only through an SQLite file
(`store`). No other folder of grader imports this one; the command line imports it by its name.
May import: classes, course, commands.console, commands.from_gradebook, commands.grade, commands.options,
grading.graded, grading.grade, report, submission, records, paths, secret.
"""
