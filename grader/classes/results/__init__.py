"""Write all files of a grade, and find the files that an earlier run wrote.

In: a job and its `Graded`. Out: the executed notebook in `autograded/`, a row in the gradebook, the
page in `feedback/`, and one JSON line; on a rerun, the recorded grades that are still valid.
May import: course, classes.gradebook, classes.workers.job, grading.graded, report, submission, records, paths.
"""
