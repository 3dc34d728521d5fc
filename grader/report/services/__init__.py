"""The files that learning platforms import, one module for each platform. `grader/report/export.py` calls them.

In: `GradebookEntry` records, and the platform's own file to fill in, if the platform has one. Out:
the text of a file.
"""
