"""Explains how results relate to the expected ones, by their form and their numbers.

In: the results of a probe on some trials, with the answer and with the reference. Out: a sentence
that is true for all these trials.
May import: nothing of grader.
"""
