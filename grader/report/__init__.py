"""Show a grade: in the terminal, as JSON lines, as HTML pages, and as the files that an LMS imports.

In: `Grade` records. Out: text and bytes; the caller writes them. On pages, whatever a student wrote is
escaped.
May import: attention, submission, records.
"""
