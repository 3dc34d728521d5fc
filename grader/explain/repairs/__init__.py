"""Find the small change of a wrong answer that makes it right, because it shows where the mistake is.

In: the source of an answer, and a function that runs changed answers. Out: a `Repair`, which names a line.
May import: nothing of grader.
"""
