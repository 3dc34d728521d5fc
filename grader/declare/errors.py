"""The error of a declaration.

This module imports nothing: the command line imports it at every start, to catch the error.
"""


class DeclarationError(ValueError):
    """A lesson's declaration does not fit together; the message names the exercise and the field."""
