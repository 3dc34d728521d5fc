"""Read submissions as data, and put the answers into a fresh copy of the student notebook.

In: paths, folders and zips; bytes of a notebook. Out: `SubmissionFile` records, one for each person and assignment;
the code of a submission, and the rebuilt notebook; or `Unreadable` with the reason, or
`Unavailable` if the machine or the operator is at fault. Only `cells` defines the ids and the
roles of cells. `code/` reads source text. No code is run, no archive is unpacked, and no link is
followed.
May import: declare, records.
"""
