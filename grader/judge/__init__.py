"""Judge exercises: compare the results from the sandbox with those of the reference.

In: a lesson's declaration, the course secret and a submission's hash, from which `planned_trial`
draws the trials; and later the `Evidence` of these trials. A trial is a test case of a check. Its
evidence is the result of a call in the sandbox. Out: a `Verdict` for each exercise.

`built_ins` rejects an answer that calls the function that it should implement. It uses the results
of `from_scratch`, `reach` and `reaches`. Only the reference and the declared mistakes run here,
never student code, and no file is opened.

May import: declare, sandbox.text (which makes text fit to show), sandbox.guest.calling (which
calls a probe), submission, records, paths.
"""
