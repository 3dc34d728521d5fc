"""The only room where untrusted code lives: interpreters that are warm and isolated, driven by papermill."""
