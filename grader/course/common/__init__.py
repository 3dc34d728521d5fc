"""Functions that the declarations of several lessons share.

They handle states and parameters of models, sizes of tensors, gradients of losses, and a look at
an image.

A lesson imports nothing of another lesson, so that a copy of it stands alone in a course of one's own.
"""
