"""Finds answers to an exercise that share rare code, for a person to review. No grade depends on it.

In: the answers of a class to an exercise, and code that all students were given. Out: a
`Comparison`. It contains the pairs of answers that share much rare code, with the lines of this
code, and the number of answers that could be compared at all. No code is run.

`normal_form` removes differences that two copies may have, `fragments` cuts an answer up, and
`pairs` compares a class.
May import: submission.
"""
