"""Tell what a notebook's cells are for, and which names their source uses, without running it.

In: nbformat cells and their source text. Out: a cell's role and its id (`cells`, the only module that spells
the cell protocol), the names that a source binds, reads and mentions (`source_names`), and whether student
code may use names that it does not mention (`student_code`).
May import: nothing of grader.
"""
