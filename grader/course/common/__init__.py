"""Functions that the declarations of several lessons share.

They are about states and parameters of models, sizes of tensors, gradients of losses, and a
function that looks at an image.

A lesson imports nothing from another lesson, so that a copy of it works in a course of your own.
"""
