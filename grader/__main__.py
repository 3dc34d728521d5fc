"""Run the command line by `python -m grader`."""

from grader.cli import main

main()
