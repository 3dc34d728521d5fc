"""Run untrusted notebooks in a sandbox and return what they computed.

In: a `RunPlan` (a rebuilt notebook, the probes that run after each cell, limits). Out: an `Execution` (the notebook with
its outputs, and `Evidence` for each probe), or an `IsolationError` for the operator. `engine.py` runs the cells through
papermill; `server.py` starts the fork server; `sandbox.py` speaks to one sandbox; `sandbox_description.py`, `seccomp.py`,
`cgroup.py` and `tiers.py` decide how it is isolated; `guest/` is the part that runs inside. Nothing in this folder decides
a mark, and nothing that comes out of a sandbox is trusted before it is parsed and bounded.
May import: evidence, records, paths.
"""
