"""Small models that learn on the scenes within seconds, and how each is trained."""
