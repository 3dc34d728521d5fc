"""Grade one submission. The steps are: plan, run, follow through (judge again with stand-ins), assemble.

In: a `SubmissionFile`, the student notebook, a server of interpreters, and the settings. Out: a
`Graded` record: the grade and the executed notebook. `schedule` decides which probes run, when, and
which are left out; it is a pure function. An error in this folder becomes a grade with the status
"fault", which costs the student nothing.
May import: course, declare, explain, judge, sandbox, submission, records, paths.
"""
