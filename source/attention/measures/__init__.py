"""How often a model is right, where it looks, whether that explains its answers, and what it costs."""
