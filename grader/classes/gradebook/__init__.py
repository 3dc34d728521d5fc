"""nbgrader's database, the only record of the points: the grader and people write to it.

In: a `Grade`, the declared lessons and the student notebooks, from which assignments and cells are
declared.
Out: `GradebookEntry` records, from which pages, reports and exports are made; scores and comments
that nbgrader and formgrader show. The grader never overwrites a manual score, and it writes each
grade in one transaction.

To write: `cells` declares a lesson, and defines the values that a grade sets. `rows` sets single
rows, and adds a list of students. `writer` combines them. `appeals` writes students' appeals and
the decisions on them. To read: `stored` loads rows, also from this grader's own tables, and
`reader` makes records from them. All of these modules use `connection`. `config` reads
nbgrader_config.py. May import: declare, submission.cells, report, records.
"""
