"""Models, photos and sentences that others made: how they are read, and what was measured of them."""
