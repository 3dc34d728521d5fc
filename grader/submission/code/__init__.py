"""Analyses source text without running it.

In: the source of cells. Out: the names that a cell binds, reads and mentions (`source`); the
names that each of its statements reads and binds (`scopes`); and its names, numbers and
operators, for comparing two pieces of code (`traits`).
May import: nothing of grader.
"""
