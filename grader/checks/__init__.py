"""Evidence × reference → verdicts. Trusted and pure: nothing here runs student code or touches a file."""
