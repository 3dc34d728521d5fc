"""Answers to the exercises, right and wrong, with what is wrong with each, and how they are judged here, without a sandbox.

Tests and benchmarks use them, and nothing here imports either. README.md says who wrote which answers, and how.
"""
