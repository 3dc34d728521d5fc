"""Say what source text does, without running it.

In: the source of cells. Out: the names that it binds, reads and mentions (`source`), and what stays the same when
names, order, comments or dead code change, so that two codes can be compared: `words` (what a piece of code is made of), trees
without comments (`without_docs`), without dead code (`live`) or without names for values that are used once (`inlined`), and
what stands for each name (`labels_in`).
May import: nothing of grader.
"""
