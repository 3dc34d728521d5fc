"""Analyses source text without running it.

In: the source of cells. Out: the names that it binds, reads and mentions (`source`), the
dependencies between its statements (`scopes`), and its parts, with other names or without
comments and similar explanations (`traits`).
May import: nothing of grader.
"""
