"""What the subcommands of `grader` do; the command line itself is grader/cli.py."""
