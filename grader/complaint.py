"""The error that whoever gave a command can mend. Every folder may import it; it imports nothing, as each start imports it."""


class Complaint(Exception):
    """What was asked for cannot be done; the message says what is wrong, where, and what to do next.

    A command that meets one prints the message and ends with status 2.
    """
