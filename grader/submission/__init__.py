"""Intake: what a submission may be, read as data, and put into the master copy. Nothing here runs code."""
