"""The error that the user of a command can fix.

Every folder may import this module. It imports nothing, because each start of the program imports
it.
"""


class Complaint(Exception):
    """A request cannot be carried out; the message says what is wrong, where, and what to do next.

    A command that meets one prints the message and ends with status 2.
    """
