"""What a notebook's cells are, and what their source says, without running it.

In: nbformat cells and their source text. Out: a cell's role and its id (`cells`, the only module that spells the cell
protocol), the names that a source binds, takes and mentions (`source_names`), and what only student code does.
May import: nothing of grader.
"""
