"""Grade a class: a submission becomes a job, and jobs run here, in processes of this machine, or on a Dask cluster.

In: `SubmissionFile` records and a `Course`. Out: each job with its `Graded`, as soon as it is done.
A worker that dies costs no student anything: `grade_class` runs its job again, while no other job
runs.
May import: attention (whose files are part of the key of a grade), course, grading, sandbox,
submission, records, paths.
"""
