"""What runs inside the sandbox. Bound in alone: nothing here imports anything else of the grader."""
