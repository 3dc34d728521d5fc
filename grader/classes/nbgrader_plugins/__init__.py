"""The plugins that nbgrader loads: settings, `autograde`, `generate_feedback` and `zip_collect`.

In: nbgrader's calls, its configuration and its folders. Out: what nbgrader's own steps would leave: graded
notebooks, feedback pages, collected submissions, rows of the gradebook. Submissions are read and run by the
other folders only.
May import: build, course, classes, sandbox, submission, records, paths, secret.
"""
