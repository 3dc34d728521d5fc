"""Training runs that are verified and not repeated.

The reference's training runs once, and its states at some steps are stored (`recorded`). A
submission then continues from secret states for a few steps, with its own layers and losses, and
must reach the same state as the reference (`segment`). The idea to check a training run at some of
its segments is from Jia et al. 2021, "Proof-of-Learning", section V. There the trainer provides the
states, and here the grader does.
"""
