"""Reduce code to what stays the same when names, order, comments or dead code change: the one home for comparing two codes.

In: syntax trees of student code, which is never run. Out: `words` (what a piece of code is made of), trees without comments
(`without_docs`), without dead code (`live`) or without names for values that are used once (`inlined`), and what stands for each name (`labels_in`).
May import: nothing of grader.
"""
