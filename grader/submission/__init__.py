"""Read submissions as data, and put the answers into a fresh copy of the student notebook.

In: paths of notebooks, folders and zips. Out: a `SubmissionFile` record for each person and
assignment, the code of a submission, and the rebuilt notebook. If a file cannot be graded,
`Unreadable` gives the reason. If the machine or the operator is at fault, it is `Unavailable`.
Only `cells` defines the ids and the roles of cells. `code/` reads source text. No code is run,
no archive is unpacked, and no link is followed.
May import: declare, records.
"""
