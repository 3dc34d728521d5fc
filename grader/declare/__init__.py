"""The records that declare a lesson: Lesson, Exercise, Check, Mistake, Trial, and the sampler of inputs.

In: the declarations in the packages of `course`. Out: frozen records, from which notebooks, probes, hints and points
are derived. `validate` refuses an inconsistent lesson with a DeclarationError that names the exercise and the field.
May import: records.
"""
