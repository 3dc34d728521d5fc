"""Where untrusted code runs: warm interpreters, isolated, driven by papermill through an engine of ours."""
