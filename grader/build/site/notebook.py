"""Renders a notebook with its outputs as HTML. Code that the notebook collapses is folded."""

from base64 import b64encode
from binascii import a2b_base64
from html import escape

from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from grader.build.links import BADGE_CELL
from grader.report.render_markdown import PageRenderer, Resolve, code_html
from grader.submission.cells import TOOLS_CELL, Role, role

TITLE = "# @title "
LABELS = {Role.ANSWER: "Your answer", Role.CHECK: "Self-check"}


def notebook_html(notebook: NotebookNode, resolve: Resolve) -> str:
    """Return the cells of a notebook as HTML, in their order.

    Colab's badge is left out, and so is the cell of self-checks, which contains hundreds of
    kilobytes of data.
    """
    renderer = PageRenderer(resolve)
    cells = (cell for cell in notebook.cells if cell.id not in (BADGE_CELL, TOOLS_CELL))
    return "\n".join(renderer.html(cell.source) if cell.cell_type == "markdown" else _code_cell(cell) for cell in cells)


def png_width(picture: str) -> int:
    """Return the width in pixels of a PNG in base64. It is a number of 4 bytes from the 16th byte on."""
    return int.from_bytes(a2b_base64(picture[:32])[16:20], "big")


def _code_cell(cell: NotebookNode) -> str:
    """Return a code cell with its outputs as HTML."""
    code = code_html(cell.source, "python")
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        title = cell.source.partition("\n")[0].removeprefix(TITLE)
        code = f'<details class="folded"><summary>{escape(title)}</summary>\n{code}</details>'
    elif label := LABELS.get(role(cell.id)):
        code = f'<div class="{role(cell.id).name.lower()}"><p class="label">{label}</p>\n{code}</div>'
    outputs = "\n".join(map(_output, cell.get("outputs", ())))
    return f'{code}\n<div class="outputs">{outputs}</div>' if outputs else code


def _output(output: NotebookNode) -> str:
    """Return the HTML for one output, which may be HTML, a picture or text."""
    data = output.get("data", {})
    if "text/html" in data:
        return f'<div class="scroll" tabindex="0">{data["text/html"]}</div>'
    if "image/svg+xml" in data:
        return _picture("svg+xml", b64encode(data["image/svg+xml"].encode()).decode(), "a figure")
    if "image/png" in data:
        picture = data["image/png"].replace("\n", "")
        alt = output.metadata.get("image/png", {}).get("alt", "a figure")
        return _picture("png", picture, alt, f' style="--natural: {png_width(picture)}px"')
    text = (
        "\n".join(output.traceback) if output.output_type == "error" else output.get("text", data.get("text/plain", ""))
    )
    return f'<pre class="output" tabindex="0">{escape(strip_ansi(text))}</pre>'


def _picture(kind: str, content: str, alt: str, style: str = "") -> str:
    """Return an HTML image whose content is in base64.

    Args:
        kind: the subtype of the image, such as "png".
    """
    image = f'<img src="data:image/{kind};base64,{content}" alt="{escape(alt, quote=True)}"{style}>'
    return f'<div class="scroll" tabindex="0">{image}</div>'
