"""Read a student's code: which line is the known cause of an effect that was measured.

In: an effect, such as a missing gradient, and the source of an answer, which is parsed and never
run. Out: "line 3: `.tolist()` turns tensors into numbers …", or "".
May import: nothing of grader.
"""
