"""Reference modules of the course: attention for vision and language, in plain PyTorch.

One idea per file, the function first and the module after. Everywhere: tensors may carry any leading batch
dimensions, and a mask is bool, True = may attend.
"""
