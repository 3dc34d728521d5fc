"""Scripts + declaration → solution notebooks → (nbgrader) → student notebooks."""
