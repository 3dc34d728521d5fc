"""Attention for vision and language, in plain PyTorch: attention, its layers, and the models made of them.

What answers are compared with is here, one idea per file, the function first and the module after. What the lessons do with
it is in the folders. Everywhere: tensors may carry any leading batch dimensions, and a mask is bool, True = may attend.
"""
