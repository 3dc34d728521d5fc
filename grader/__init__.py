"""The autograder: declaration → notebooks → submission → execution → evidence → verdicts → grade → reports."""

import sys

# jsonschema, below nbformat, would load a grammar of internationalised addresses, which takes a second at every start
# and in every worker. It does without where there is none, and no notebook holds one.
sys.modules.setdefault("rfc3987_syntax", None)

__version__ = "0.1.0"
