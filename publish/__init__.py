"""What a maintainer makes of this repository with `make`: a release, and the lessons as pages. No command of `grader` does it."""
