"""nbgrader's database, the only record of the points: the grader and people write to it.

In: a `Grade`, the declared lessons and the student notebooks, from which assignments and cells are declared.
Out: `GradebookEntry` records, of which pages, reports and exports are made; scores and comments that nbgrader
and formgrader show. A manual score is never overwritten; one grade is one transaction.

To write: `cells` declares a lesson, and defines what a grade sets. `rows` sets single rows, and
adds a list of students. `writer` combines them. `appeals` writes appeals of students, and the
decisions on them. To read: `stored` loads rows, also of this grader's own tables, and `reader`
makes records of them. All use `connection`. `config` reads nbgrader_config.py.
May import: declare, submission.cells, report, records.
"""
