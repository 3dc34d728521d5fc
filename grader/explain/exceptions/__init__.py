"""Explains exceptions by the line of the student's code that raised them.

In: class and message of the exception, the line, and the shapes of the tensors in it. Out: a
sentence or two for the student, or "" if no explanation is known.
May import: judge, explain.code.
"""
