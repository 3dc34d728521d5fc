"""How many copied answers does `grader similar` find, and how many answers that nobody copied does it report?"""
