"""nbgrader's database, read and written.

In: a `Grade`, the declared lessons and the student notebooks, from which assignments and cells are declared.
Out: scores and comments that nbgrader and formgrader show. A manual score is never overwritten; one grade is
one transaction.
May import: declaration, notebook, report, records.
"""
