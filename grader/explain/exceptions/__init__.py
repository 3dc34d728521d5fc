"""Explains exceptions by the line of the student's code that raised them.

In: class and text of the exception, the line, the shapes of the tensors on it. Out: a sentence or two, or "".
May import: judge, explain.code.
"""
