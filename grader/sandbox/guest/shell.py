"""An IPython shell that collects its outputs, up to a limit, in the form that notebooks use."""

import asyncio
import io
import json
import sys
from typing import Any

from guest import library_internals, places, tripwire
from IPython.core.async_helpers import get_asyncio_loop
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets.config import Config


class Sink:
    """Collects the outputs of one cell up to a limit and drops the rest. It never blocks and never raises."""

    def __init__(self) -> None:
        # Bytes of output that one cell may display, and that all cells together may still display.
        self.per_cell, self.left_in_all = 1 << 20, 8 << 20
        self.begin()

    def begin(self) -> None:
        """Start with a new cell: discard the outputs of the previous one."""
        self._outputs: list[dict] = []
        self._left = min(self.per_cell, self.left_in_all)
        self._cut = self._clear = False

    def text(self, name: str, text: str) -> None:
        """Add printed text. `name` is "stdout" or "stderr"."""
        self._clear_if_waiting()
        if len(text) > self._left:
            text, self._cut = text[: self._left], True
        if not text:
            return
        self._spend(len(text))
        last = self._outputs[-1] if self._outputs else {}
        if last.get("name") == name:
            last["parts"].append(text)
        else:
            self._outputs.append({"output_type": "stream", "name": name, "parts": [text]})

    def show(self, output: dict) -> None:
        """Add an output in nbformat's form. Drop it if there is no room for it, or if JSON cannot represent it."""
        self._clear_if_waiting()
        if self._takes(output):
            self._outputs.append(output)

    def update(self, name: str | None, data: dict, metadata: dict) -> None:
        """Replace the data and metadata of the outputs whose display id is `name`."""
        for output in self._outputs:
            if output.get("id") == name and self._takes({**output, "data": data, "metadata": metadata}, output):
                output["data"], output["metadata"] = data, metadata

    def clear(self, wait: bool) -> None:
        """Remove all outputs, as clear_output() does. With `wait`, do so when the next output arrives."""
        if wait:
            self._clear = True
        else:
            self._outputs.clear()

    def take(self) -> list[dict]:
        """Return the outputs since `begin` in nbformat's form, with a note if some were dropped."""
        outputs = []
        for output in self._outputs:
            output = dict(output)
            output.pop("id", None)
            if "parts" in output:
                output["text"] = "".join(output.pop("parts"))
            outputs.append(output)
        if self._cut:
            note = "[The output was cut here: it is longer than what is kept.]\n"
            outputs.append({"output_type": "stream", "name": "stderr", "text": note})
        return outputs

    def _takes(self, output: dict, instead_of: dict | None = None) -> bool:
        """Return True if there is room for an output and JSON can represent it. Subtract its size from the room.

        Args:
            output: the new output.
            instead_of: the output that it replaces, or None.
        """
        try:
            size = len(json.dumps(output)) - (len(json.dumps(instead_of)) if instead_of else 0)
        except (TypeError, ValueError, RecursionError):
            return False
        if size > self._left:
            self._cut = True
            return False
        self._spend(size)
        return True

    def _spend(self, size: int) -> None:
        """Subtract the size of an output from the room of this cell and from that of all cells together."""
        self._left -= size
        self.left_in_all -= size

    def _clear_if_waiting(self) -> None:
        """Remove all outputs if `clear` was called with `wait`."""
        if self._clear:
            self._outputs.clear()
            self._clear = False


SINK = Sink()


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the shell: adds all printed text to SINK. `number` is the file descriptor."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, name: str, number: int) -> None:
        self.name, self._number = f"<{name}>", number
        self._stream = name

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        SINK.text(self._stream, str(text))
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self._number


class _Publisher(DisplayPublisher):
    """Adds the output of `display()` to SINK, and clears SINK for `clear_output()`."""

    def publish(self, data, metadata=None, *args: Any, transient=None, update=False, **kwargs: Any) -> None:
        name = (transient or {}).get("display_id")
        if update:
            SINK.update(name, data, metadata or {})
        else:
            SINK.show({"output_type": "display_data", "data": data, "metadata": metadata or {}, "id": name})

    def clear_output(self, wait: bool = False) -> None:
        SINK.clear(wait)


class _Hook(DisplayHook):
    """Adds the value of a cell's last expression to SINK, without the prompt that IPython prints."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict, md_dict=None) -> None:
        shown = {"output_type": "execute_result", "data": format_dict, "metadata": md_dict or {}}
        SINK.show(shown | {"execution_count": self.prompt_count})

    def finish_displayhook(self) -> None:
        pass


class Shell(InteractiveShell):
    """IPython without a terminal, a history file or a kernel."""

    def _showtraceback(self, etype, evalue, stb) -> None:
        """Add a traceback to SINK. IPython calls this."""
        lines = stb if isinstance(stb, list) else [str(stb)]
        SINK.show(
            {
                "output_type": "error",
                "ename": str(getattr(etype, "__name__", etype))[:200],
                "evalue": error_text(evalue),
                "traceback": "\n".join(map(str, lines))[-20_000:].split("\n"),
            }
        )

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the event loop that all cells of this notebook share."""
        loop = get_asyncio_loop()
        asyncio.set_event_loop(loop)
        return loop

    async def run_code(self, code_obj, result=None, *, async_=False) -> bool:
        """Run a statement, and record which cell and whose code it belongs to. IPython calls this."""
        places.register(code_obj)
        with tripwire.running(code_obj):
            return await super().run_code(code_obj, result, async_=async_)

    async def run_as_in_jupyter(self, source: str) -> ExecutionResult:
        """Run a cell within the running event loop, so that a cell without `await` can start tasks, too."""
        problem = None
        try:
            transformed = self.transform_cell(source)
        except Exception:
            transformed, problem = source, sys.exc_info()
        places.note_transformed(transformed)
        result = await self.run_cell_async(
            source, store_history=True, transformed_cell=transformed, preprocessing_exc_tuple=problem
        )
        self.events.trigger("post_execute")
        self.events.trigger("post_run_cell", result)
        return result

    def ask_exit(self) -> None:
        """Raise SystemExit. IPython calls this for `exit` in a cell."""
        raise SystemExit

    def enable_matplotlib(self, gui=None):
        """Use the inline backend, whatever is requested. The sandbox has neither windows nor interactive widgets."""
        return super().enable_matplotlib("inline")

    def enable_gui(self, gui=None) -> None:
        """Do nothing, because the sandbox has no display."""


def error_text(error: BaseException | None) -> str:
    """Return str(error), cut to 2,000 characters. Return a note instead if a student's __str__ raises an exception."""
    try:
        return str(str(error))[:2000]
    except BaseException:
        return "(the exception cannot be printed)"


def make_shell() -> Shell:
    """Return a new shell. The fork server calls this once, and all interpreters inherit the shell."""
    library_internals.skip_module_search()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.Completer.use_jedi = False
    shell = Shell.instance(config=config, display_pub_class=_Publisher, displayhook_class=_Hook)
    shell.run_line_magic("matplotlib", "inline")
    return shell


def attach_streams() -> None:
    """Replace sys.stdout and sys.stderr by streams that collect all printed text."""
    sys.stdout, sys.stderr = Stream("stdout", 1), Stream("stderr", 2)
    sys.stdin = open("/dev/null")  # noqa: SIM115 - open until the process ends
