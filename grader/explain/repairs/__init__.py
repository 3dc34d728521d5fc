"""Change a wrong answer in one small way, and find the change that makes it right: it shows where the mistake is.

In: the source of an answer, and a way to run changed answers. Out: a `Repair`, which names a line.
May import: nothing of grader.
"""
