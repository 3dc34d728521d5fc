"""Read what comes back from the sandbox, and trust none of it.

In: bytes and text that a sandbox sent: JSON trees, tensors in the safetensors format, messages. Out: plain
Python values and tensors of known dtype, shape and size, or an EvidenceError; text without control
characters. Nothing is unpickled.
May import: records.
"""
