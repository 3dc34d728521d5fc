"""Find answers to an exercise that agree in what few of a class write, for a person to look at. No grade depends on it.

In: the answers of a class to an exercise, and code that everybody was given. Out: a `Comparison`: the pairs that share much that is
rare, with the lines in which it stands, and how many answers could be told apart at all. No code is run.
May import: submission.
"""
