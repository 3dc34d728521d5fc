"""Judge exercises: compare what came back from the sandbox with what the reference returns.

In: a lesson's declaration, the course secret and a submission's hash, from which `plan` draws the trials; later the
`Evidence` of these trials. Out: one `Verdict` for each exercise. Only the reference and the declared mistakes run here,
never student code, and no file is opened.
May import: declaration, evidence, normal_form, notebook, records, paths.
"""
