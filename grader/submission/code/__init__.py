"""Say what source text does, without running it.

In: the source of cells. Out: the names that it binds, reads and mentions (`source`), how its statements depend on each other
(`scopes`), and what it is made of, with other names or without what only explains (`traits`).
May import: nothing of grader.
"""
