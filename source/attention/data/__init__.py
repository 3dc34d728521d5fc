"""Scenes of handwritten digits, plain and coloured, and questions about them."""
