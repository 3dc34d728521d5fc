"""Find answers to an exercise that agree in what few of a class write, for a person to look at. No grade depends on it.

In: the answers of a class to an exercise, and code that everybody was given. Out: a `Comparison`: the pairs that share much that is
rare, with the lines in which it stands, and how many answers could be told apart at all. No code is run.
`normal_form` leaves out what two copies may differ in, `fragments` cuts an answer up, and `pairs` compares a class.
May import: submission.
"""
