"""Say how what came back relates to what was expected: its form, and what was done to its numbers.

In: what a probe returned on some trials, and what it returns with the reference. Out: a sentence that holds for all of them.
May import: nothing of grader.
"""
