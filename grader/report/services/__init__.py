"""The files that learning platforms import, one module for each platform; `grader/report/export.py` calls them.

In: `GradebookEntry` records, and where the platform has one, its own file to fill in. Out: the text of a file.
"""
