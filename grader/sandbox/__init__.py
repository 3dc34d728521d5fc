"""Run untrusted notebooks in a sandbox and return their results. Student code runs in no other folder.

In: a `RunPlan` (a rebuilt notebook, the probes that run after each cell, and limits). Out: a
`Session`. It has an `Execution` (the notebook with its outputs, and `Evidence` for each probe),
and answers further probes until it is closed. If no sandbox can start, the operator gets an
`IsolationError`.

`engine.py` runs the cells through papermill, `server.py` starts the fork server, and
`connection.py` speaks to one sandbox. `sandbox_description.py`, `seccomp.py`, `cgroup.py` and
`tiers.py` decide how the sandbox is isolated. `guest/` is the part that runs inside.

No module trusts the output of a sandbox. `guest/codec.py` reads tensors and JSON of known size,
shape and dtype, `text.py` reads text without control characters, and nothing is unpickled.
Nothing in this folder decides a score.
May import: records, paths.
"""
