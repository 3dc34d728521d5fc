"""The records that a lesson is declared with: Lesson, Exercise, Check, Mistake, Trial, and the sampler of inputs.

In: what the packages of `course` write down. Out: frozen records, from which notebooks, probes, hints and points are
derived. `validate` refuses a lesson that does not fit together; its DeclarationError names exercise and field.
May import: records.
"""
