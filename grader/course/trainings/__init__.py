"""Trainings that are verified and not repeated.

The reference's training is run once and kept with its states at some steps (`recorded`). A submission then goes on for a few
steps from secret states, with its own layers and losses, and must land where the reference lands (`segment`). The idea of
checking a training at some of its segments is from Jia et al. 2021, "Proof-of-Learning", section V; there the states come from
the trainer, and here from the grader.
"""
