"""What each subcommand of `grader` does; `grader/cli.py` parses the command line.

In: one frozen record of options, and a Terminal to write to. Out: the exit status, and what the other folders write.
A command catches the errors of the other folders, and prints each as one line.
May import: build, course, execution, gradebook, grading, report, results, submission, workers, records, paths, secret.
"""
