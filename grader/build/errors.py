"""Errors of the builder."""


class BuildError(Exception):
    """A lesson's script and its declaration do not fit; the message says where and what to do."""
