"""Make wrong answers of the reference by one small change each, with a sentence for the student who made the same.

In: functions and classes of the reference. Out: `Mutant` records.
May import: declare.subject, explain.nodes, explain.patterns.
"""
