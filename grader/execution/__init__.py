"""The only room where untrusted code lives: interpreters that are warm and isolated, driven by papermill."""

# First: papermill loads our engine's entry point, and must not find it half imported.
import papermill  # noqa: F401
