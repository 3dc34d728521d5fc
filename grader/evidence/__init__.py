"""What comes back from the sandbox: bounded, parsed, never unpickled."""
