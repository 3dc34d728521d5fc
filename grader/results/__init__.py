"""Keep what was graded: the cache of grades, and the writer of all that belongs to a grade.

In: a job and its `Graded`. Out: the executed notebook in `autograded/`, the page in `feedback/`, a file in
`.grader/grades/`, a row in the gradebook, and one JSON line; on a rerun, the cached grades that are still
valid.
May import: attention (whose files are part of the key of a grade), course, gradebook, grading.grade, report,
submission, workers.job, records, paths.
"""
