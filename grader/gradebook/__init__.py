"""nbgrader's database, the one truth about points: written by the grader and by people, and read for all that leaves.

In: a `Grade`, the declared lessons and the student notebooks, from which assignments and cells are declared.
Out: `GradebookEntry` records, of which pages, reports and exports are made; scores and comments that nbgrader
and formgrader show. A manual score is never overwritten; one grade is one transaction.
May import: declaration, notebook, report, records.
"""
