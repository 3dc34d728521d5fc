"""The error that the user of a command can fix.

Every folder may import this module. It imports nothing, because each start of the program imports
it.
"""


class Complaint(Exception):
    """A request that a command cannot carry out. The message states the problem and the next step.

    The command prints the message and ends with status 2.
    """
