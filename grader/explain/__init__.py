"""Explain a wrong answer: what is wrong with it, in words that help its author.

In: the results of an answer and of the reference on the trials of an exercise. Out: the simplest
`Explanation` that reproduces all results of the answer, or None. The self-check in the notebooks has
a copy of most of this folder, so that notebook and grade give the same explanation. The copied
modules import only torch and the standard library. Nothing here decides if an answer is right.
May import: judge, declare, submission, records.
"""
