"""The error of a declaration. A module of its own, which imports nothing: the command line catches it at every start."""


class DeclarationError(ValueError):
    """A lesson's declaration does not fit together; the message names the exercise and the field."""
