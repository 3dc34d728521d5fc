"""Show a grade: in the terminal, as JSON lines, as HTML pages, and as the files that an LMS imports.

In: `Grade` records. Out: text and bytes, which the caller writes to files. On pages, all text from
a student is escaped.
May import: attention, submission, records.
"""
