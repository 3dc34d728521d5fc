"""Makes the course's site: static pages with its lessons, its explorer, its documentation and a search.

`run_lesson` runs the lessons, `notebook` renders notebooks, `pages` collects the pages of a course,
and `write` puts the navigation around them and writes the files. No page requests anything from
another server, so the site works from any address, and from a folder on a disk.
"""
