"""Explain a wrong answer: what is wrong with it, in words that help its author.

In: what an answer gave on the trials of an exercise, and what the reference gives. Out: the simplest `Explanation` that
reproduces all of it, or none. The self-check in the notebooks carries a copy of most of this folder, so that notebook and grade
say the same; those modules import torch and the standard library alone. Nothing here decides whether an answer is right.
May import: judge, declare, submission, records.
"""
