"""The plugins that nbgrader loads: settings, `autograde`, `generate_feedback` and `zip_collect`.

In: nbgrader's calls, its configuration and its folders. Out: the results of nbgrader's own steps:
graded notebooks, feedback pages, collected submissions, rows of the gradebook. Only the other
folders read and run submissions.
May import: build, course, classes, sandbox, submission, records, paths, secret.
"""
