"""Say how what came back relates to what was expected: its form, and what was done to its numbers.

In: the results of a probe on some trials, and those with the reference. Out: a sentence that is
true for all of them.
May import: nothing of grader.
"""
