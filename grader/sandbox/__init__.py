"""Run untrusted notebooks in a sandbox and return their results. Student code runs only in this folder's sandboxes.

In: a `RunPlan` (a rebuilt notebook, the probes that run after each cell, and
limits). Out: a `Session`. It has an `Execution` (the notebook with its outputs,
and `Evidence` for each probe), and runs further probes until it is closed. If
no sandbox can start, the operator gets an `IsolationError`.

A sandbox is a group of isolated processes for one submission. Its first process is called the init.
The interpreter is the process in it that runs the cells. A checkpoint is a waiting fork (a copy) of
the interpreter, to which the sandbox can return. All sandboxes are forks of one fork server, which
has imported everything already. A tier is a level of isolation: full, partial or none.

`engine.py` runs the cells through papermill, `server.py` starts the fork server, and
`connection.py` communicates with one sandbox. `sandbox_description.py`, `seccomp.py`, `cgroup.py` and
`tiers.py` decide how the sandbox is isolated. `guest/` is the part that runs inside.

No module trusts the output of a sandbox. `guest/codec.py` reads tensors and JSON of known size,
shape and dtype, `text.py` reads text without control characters, and nothing is unpickled.
Nothing in this folder decides a score.
May import: records, paths.
"""
