"""Shows what a self-check found in a notebook: what to do in bold, and the example with its numbers folded below."""

import re
import sys
from html import escape

# A line that is too long is broken between words. Colours are those of the notebook, light or dark.
HTML = """<div style="max-width: 60em; overflow-wrap: anywhere"><strong>✘ {first}</strong>{folded}</div>"""
FOLDED = """<details><summary>The example and its numbers</summary>
<pre style="white-space: pre-wrap; word-break: normal; margin: 0.4em 1.2em">{more}</pre></details>"""


def show_rich(message: str) -> bool:
    """Show a message as HTML, or as it is where no HTML can be shown; tell whether this is a notebook."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python else None
    if shell is None or not hasattr(shell, "kernel"):
        return False
    shell.display_pub.publish({"text/html": as_html(message), "text/plain": f"✘ {message}"})
    return True


def as_html(message: str) -> str:
    """Write a message as HTML: its first line in bold, what stands between backticks as code, the rest folded."""
    first, _, more = message.partition("\n")
    first = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(first, quote=False))
    return HTML.format(first=first, folded=FOLDED.format(more=escape(more, quote=False)) if more else "")
