"""The autograder: declaration → notebooks → submission → execution → evidence → verdicts → grade → reports."""

__version__ = "0.1.0"
