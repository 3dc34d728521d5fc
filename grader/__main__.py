"""python -m grader"""

from grader.cli import main

main()
