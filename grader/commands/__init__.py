"""Run each subcommand of `grader`; `grader/cli.py` parses the command line.

In: the options, and a Terminal to write to. Out: the exit status, and the files that the other folders write.
A command catches the expected errors of the other folders, and prints each as one line.
May import: build, classes, course, declare, grading, report, sandbox, submission, records, paths, secret.
"""
