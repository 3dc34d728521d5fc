"""A grade as people and programs read it: terminal, JSON lines, HTML pages, LMS files."""
