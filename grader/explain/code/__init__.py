"""Read a student's code to find the line that caused a measured effect.

In: an effect, such as a missing gradient, and the source of an answer. The source is parsed and
never run. Out: text such as "line 3: `.tolist()` turns tensors into numbers …", or "" if no known
cause is found.
May import: nothing of grader.
"""
