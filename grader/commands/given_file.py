"""Reads and writes files whose paths are on the command line.

These are a platform's own file of the class, and the files of --out, --html, --json and --feedback.
"""

import codecs
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeVar

from grader.complaint import Complaint
from grader.paths import write_atomically
from grader.report.services.csv_table import WrongOwnFile

Read = TypeVar("Read")
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # Blackboard's files begin with one of these


class CannotWrite(Complaint):
    """A file cannot be written. The message names the file, the reason and the next step in one line."""


def write_result(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file. Create its folder if it does not exist.

    After an error, an earlier file with this path is still there and complete. A link is followed.
    A device or a pipe is written to, and never replaced by a file.

    Args:
        private: let only the file's owner read the file. Otherwise an earlier file keeps its
            permissions.

    Raises:
        CannotWrite: the path is a folder, the user may not write there, or the disk is full.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    with writing(path):
        _let_the_kernel_check(path)
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if private and target.exists():
            if not target.is_file():  # who reads from a pipe is not known
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            target.chmod(0o600)
        if target.exists() and not (target.is_file() and os.access(target.parent, os.W_OK)):
            target.write_bytes(data)
        else:
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
            write_atomically(target, data, mode=0o600 if private else mode)


def write_lines(path: Path, lines: Iterable[str], out: IO[str]) -> None:
    """Write lines of text to a file, or to `out` if the path is "-".

    Raises:
        CannotWrite: as for `write_result`.
    """
    text = "".join(f"{line}\n" for line in lines)
    if is_standard_output(path):
        out.write(text)
    else:
        write_result(path, text)


def is_standard_output(path: Path | None) -> bool:
    """Return True if a path is "-", which means standard output."""
    return path is not None and str(path) == "-"


def _let_the_kernel_check(path: Path) -> None:
    """Open a link for writing and close it again, so that the kernel can refuse the link with OSError.

    In a folder like /tmp, another user may have made the link. Linux then refuses to follow it
    (fs.protected_symlinks), but only if the link itself is opened, and not its target.
    """
    if path.is_symlink() and path.is_file():
        os.close(os.open(path, os.O_WRONLY))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert an OSError in the context to a CannotWrite with the reason why this path cannot be written."""
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {_reason(path, error)}") from error


def _reason(path: Path, error: OSError) -> str:
    """Return the reason why a path cannot be written, and the next step."""
    match error.errno:
        case errno.EISDIR:
            return "it is a folder. Pass the path of a file."
        case errno.EEXIST | errno.ENOTDIR:
            file = next((place for place in (path, *path.parents) if place.is_file()), path)
            return f"{file} is a file, but it must be a folder. Pass another path."
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return "you may not write there. Pass another path, or change the permissions."
        case errno.ENOSPC | errno.EDQUOT:
            return "the disk is full. Make room, or pass another path."
    return f"{error.strerror or type(error).__name__}. Pass another path."


def read_own_file(path: Path, read: Callable[[str], Read]) -> Read:
    """Call a function with the text of a platform's file, such as a gradebook export, and return its result.

    Raises:
        WrongOwnFile: the file cannot be read, or the function raised this error. The message names
            the file.
    """
    try:
        content = path.read_bytes()
        return read(content.decode("utf-16" if content.startswith(UTF_16) else "utf-8-sig"))
    except OSError as error:
        raise WrongOwnFile(f"{path}: cannot read this file: {error.strerror}") from error
    except UnicodeDecodeError as error:
        message = "it is neither UTF-8 nor UTF-16. Download it again, and do not save it from a spreadsheet."
        raise WrongOwnFile(f"{path}: {message}") from error
    except WrongOwnFile as error:
        raise WrongOwnFile(f"{path}: {error}") from error
