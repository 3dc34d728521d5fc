"""The part of the grader that runs inside the sandbox: a separate program, whose import root is grader/sandbox.

In: one configuration for `boot.py`, one for `server.py`, and then one connection for each sandbox.
The sandbox's first process, its init, gets cells and probes over this connection. Out: the output of
each cell and the result of each probe, as JSON and tensors. The trusted side limits the size of
everything that it receives, and trusts none of it.

`boot.py` builds the sandbox's file system and becomes an unprivileged user. `server.py` imports
everything and forks one init per sandbox. `init.py` starts the interpreter, enforces limits and
returns to checkpoints. `interpreter.py` runs the student's code. In the sandbox this folder is the
only visible part of the grader.
May import: nothing of the grader outside this folder.
"""
