"""The error of a declaration.

This module imports nothing: the command line imports it at every start, to catch the error.
"""


class DeclarationError(ValueError):
    """A lesson's declaration is inconsistent. The message names the exercise and the field."""
