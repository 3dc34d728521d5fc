"""Grade a class: each submission becomes a job. Jobs run here, in processes of this machine, or on a Dask cluster.

In: `SubmissionFile` records and a `Course`. Out: each job with its `Graded`, as soon as it is done.
No student loses points if a worker dies: `grade_class` runs the worker's job again, while no other
job runs.
May import: attention (whose files are part of the key of a grade), course, grading, sandbox,
submission, records, paths.
"""
