"""Grades → nbgrader's gradebook, and the autograded/ and feedback/ folders."""
