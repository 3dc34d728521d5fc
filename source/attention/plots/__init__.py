"""Figures, and the explorer: a page with a trained model to play with."""
