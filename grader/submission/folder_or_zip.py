"""Lists the files in a folder or in a zip, and reads a single file.

No link is followed. A zip from a learning platform is not unpacked to disk. If
one member of a zip cannot be trusted, the whole zip is refused.
"""

import errno
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from grader.submission.file import (
    COURSE_FOLDERS,
    DEBRIS,
    MAX_BYTES,
    SubmissionFile,
    Unavailable,
    Unreadable,
    assignment_in,
    part_problem,
)
from grader.submission.people import EMPTY, Entry, is_debris, is_misnamed, is_notebook

SHALLOW, DEEPEST = 3, 8  # <class>/<student>/<assignment> lies not deep; nothing below DEEPEST is looked at
MOST_FOLDERS, MOST_OTHERS = 1_000, 100


def assignment_of(path: Path, assignments: tuple[str, ...]) -> str | None:
    """Return the assignment that a notebook's name contains, or the one that its folder is named after, or None."""
    names = (assignment_in(path.stem, assignments), path.parent.name)
    return next((name for name in names if name in assignments), None)


def student_of(path: Path, assignment: str) -> str:
    """Return the student of a single notebook.

    In nbgrader's layout, <student>/<assignment>/<assignment>.ipynb, this is the
    name of the student's folder, unless that folder is the course's own notebooks/
    or solutions/. In all other cases it is the file's name without its suffix.
    """
    parent = path.parent
    if parent.name == assignment and path.stem == assignment and parent.parent.name not in ("", *COURSE_FOLDERS):
        return parent.parent.name
    return path.stem


def list_folder(root: Path) -> list[Entry]:
    """Return an entry for each file below a folder. Each path begins with the folder's own name.

    Links are not followed, and debris is not listed.

    Raises:
        Unavailable: the folder cannot be listed.
    """
    found: list[Entry] = []
    above: tuple[str, ...] = (root.absolute().name,)
    entries = _scan(root)
    while True:  # down to the folder in which the students' folders lie
        folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False) and not is_debris(entry.name)]
        if len(folders) != 1 or any(is_notebook(entry.name) for entry in entries):
            return [*found, *(file for entry in entries for file in _walk(entry, above))]
        found += [file for entry in entries if entry not in folders for file in _walk(entry, above)]
        try:
            entries = _scan(Path(folders[0].path))
        except Unavailable:
            return [*found, *_walk(folders[0], above)]
        above = (*above, folders[0].name)
        if not entries:
            return [*found, Entry(above, EMPTY)]


def _walk(start: os.DirEntry[str], above: tuple[str, ...]) -> Iterator[Entry]:
    """Yield the files that `_files_below` finds. In a folder with the name of debris, yield only student notebooks."""
    depth = len(above)
    found = _files_below(start, above)
    return (file for file in found if is_misnamed(file.parts[depth:])) if is_debris(start.name) else found


def _files_below(start: os.DirEntry[str], above: tuple[str, ...]) -> Iterator[Entry]:
    """Yield an entry for the file `start`, or for each file below the folder `start`, the highest first.

    An empty folder has an entry with a problem. Two limits keep one student's files from delaying the
    class. At most MOST_FOLDERS of the folders deep below `start` are entered. Of each folder below `start`, at
    most MOST_OTHERS files that are not notebooks are listed.
    """
    queue, entered = deque([(start, above)]), 0
    while queue:
        entry, above_it = queue.popleft()
        parts = (*above_it, entry.name)
        depth = len(parts) - len(above)
        if is_notebook(entry.name) or not (entry.is_symlink() or entry.is_dir()):
            yield Entry(parts)  # `read_file` refuses what is not regular
            continue
        if entry.is_symlink():
            yield Entry(parts, "is a link; links are never followed. Put the files themselves there.")
            continue
        entered += depth > SHALLOW
        if depth > DEEPEST or entered > MOST_FOLDERS:
            continue
        try:
            inner = [below for below in _scan(Path(entry.path)) if not is_debris(below.name)]
        except Unavailable as error:
            yield Entry(parts, f"cannot be listed: {error}")
            continue
        if not inner:
            yield Entry(parts, EMPTY)
        others = [file for file in inner if file.is_file(follow_symlinks=False) and not is_notebook(file.name)]
        dropped = {file.name for file in others[MOST_OTHERS:]} if depth > 1 else ()
        queue.extend((below, parts) for below in inner if below.name not in dropped)


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    """List a folder without the files that are debris, sorted by name.

    Raises:
        Unavailable: the machine cannot read the folder.
    """
    try:
        with os.scandir(folder) as listed:
            kept = (entry for entry in listed if not is_debris(entry.name) or (entry.name in DEBRIS and entry.is_dir()))
            entries = sorted(kept, key=lambda entry: entry.name)
        for entry in entries:
            entry.is_dir(follow_symlinks=False)  # some file systems are asked only now; the answer is kept
        return entries
    except OSError as error:
        raise Unavailable(f"{folder} cannot be read ({error.strerror}). {_remedy(error)}") from error


def read_file(file: SubmissionFile) -> bytes:
    """Return the bytes of a submission's file.

    The path is opened only once, part by part, and checked through the open descriptor. So nobody can replace the
    file between the check and the reading.

    Raises:
        Unreadable: the file must not be read: it is a link, a device, or too large.
        Unavailable: the machine cannot read the file, the file is gone, or a link leads to it.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(file.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for index, part in enumerate(file.parts):
                last = index == len(file.parts) - 1
                if last:
                    _refuse_special(os.stat(part, dir_fd=descriptor, follow_symlinks=False))
                parent = descriptor
                descriptor = os.open(part, flags if last else flags | os.O_DIRECTORY, dir_fd=parent)
                os.close(parent)
            _refuse_special(os.fstat(descriptor))
            with os.fdopen(descriptor, "rb", closefd=False) as opened:
                content = opened.read(MAX_BYTES + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _refused(error, file) from error
    if len(content) > MAX_BYTES:
        raise Unavailable(f"the file grew beyond {MAX_BYTES >> 20} MiB while it was read. Run the command again.")
    return content


def _refuse_special(status: os.stat_result) -> None:
    """Raise an exception for a file that is not an ordinary one.

    Raises:
        Unreadable: the file is not regular, or too large. A student can submit such a file.
        Unavailable: the file has more than one hard link, as in a copy of the course that was made with links.
            This is not the student's fault.
    """
    if stat.S_ISLNK(status.st_mode):
        message = "it is a link; links are never followed. Submit the notebook itself."
        raise Unreadable(message, proven=False)
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable("it is not a regular file. Submit the notebook itself.", proven=False)
    if status.st_nlink > 1:
        raise Unavailable("the file has a second name (a hard link); links are not read. Replace it by a copy.")
    if status.st_size > MAX_BYTES:
        raise Unreadable(
            f"the file has {status.st_size >> 20} MiB; more than {MAX_BYTES >> 20} MiB are not read. "
            "Clear the outputs (Edit, Clear all outputs) and save it again."
        )


def _refused(error: OSError, file: SubmissionFile) -> Unavailable:
    """Return the Unavailable that explains why the machine could not read a file. The student is not at fault."""
    if error.errno == errno.ENOENT:
        return Unavailable(f"{file.parts[-1]} is missing. Expected is {'/'.join(file.parts)}.")
    if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
        return Unavailable(
            f"{'/'.join(file.parts)} goes through a link, or a file where a folder should be. "
            "Put the folders themselves there."
        )
    return Unavailable(f"it cannot be read ({error.strerror or error}). {_remedy(error)}")


def _remedy(error: OSError) -> str:
    """Return a message that tells the operator how to fix an error of the file system."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return "Give the grading user the right to read it, then run this again."
    return "Mend the disk or the connection to it, then run this again."


MAX_MEMBERS = 50_000
MAX_FOLDERS = 20  # around a member; the services write up to four
MAX_TOTAL = 64 << 30  # bytes when unpacked, over all members; nothing is unpacked to disk
MAX_SHOWN = 200  # characters of a name in a message
MAX_RATIO = 200  # a notebook with text outputs packs about 10:1
# How Python says that a member is damaged, or packed in a way that it cannot read.
DAMAGED = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error, lzma.LZMAError)


def list_zip(path: Path) -> list[Entry]:
    """Return an entry for each file and each empty folder in a zip, except for debris.

    Raises:
        Unreadable: the file is not a zip; or one of its members cannot be trusted, two members have the same
            name, or there are too many members or bytes.
        Unavailable: the machine cannot read the file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be read ({error.strerror or error}). Fix this, then run the command again."
        ) from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise Unreadable(f"{path.name} cannot be read as a zip ({error}). Download it again.") from error
    refuse = f"{path.name} is refused whole: "
    if len(infos) > MAX_MEMBERS:
        raise Unreadable(refuse + f"it has {len(infos)} members, more than {MAX_MEMBERS}")
    if sum(info.file_size for info in infos) > MAX_TOTAL:
        raise Unreadable(refuse + "it would unpack to more than 64 GiB")
    for info in infos:
        if problem := _member_problem(info):
            raise Unreadable(refuse + f"member {info.filename[:MAX_SHOWN]!r} {problem}")
    names = [info.filename for info in infos if not info.is_dir()]
    if len(set(names)) != len(names):
        raise Unreadable(refuse + "two members have one name")
    return _entries(names, [info.filename.rstrip("/") for info in infos if info.is_dir()])


def _entries(names: Iterable[str], folders: Iterable[str]) -> list[Entry]:
    """Return an entry for each file that is not debris, and an entry with a problem for each empty folder.

    A folder that contains only debris is empty, too. Of nested empty folders, only the innermost has an entry.
    """
    split = [tuple(name.split("/")) for name in names]
    files = [parts for parts in split if is_misnamed(parts) or not any(map(is_debris, parts))]
    full = {parts[:depth] for parts in files for depth in range(1, len(parts))}
    hollow = [parts for name in folders if (parts := tuple(name.split("/"))) not in full]
    empty = [parts for parts in hollow if not any(map(is_debris, parts))]
    inner = {parts[:depth] for parts in empty for depth in range(1, len(parts))}
    return [*(Entry(parts) for parts in files), *(Entry(parts, EMPTY) for parts in empty if parts not in inner)]


def _member_problem(info: zipfile.ZipInfo) -> str:
    """Return a message that explains why a member of a zip cannot be trusted, or "" if it can."""
    name, kind = info.filename, stat.S_IFMT(info.external_attr >> 16)
    if name.count("/") > MAX_FOLDERS:
        return f"lies in more than {MAX_FOLDERS} folders"
    if name.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", name) or ".." in re.split(r"[/\\]", name):
        return "points outside of it"
    if any(part_problem(part) for part in name.rstrip("/").split("/")) or info.orig_filename != name:
        return "has a name that no service writes"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if info.flag_bits & 0x1:
        return "is encrypted"
    # Another file may be as large as it likes: nobody opens it.
    if is_notebook(name) and info.file_size > 1 << 20 and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return f"unpacks to {info.file_size >> 20} MiB from next to nothing"
    return ""


def read_member(file: SubmissionFile) -> bytes:
    """Return the bytes of a notebook in a zip.

    Raises:
        Unreadable: the notebook is damaged or larger than the limit.
        Unavailable: the machine cannot read the zip, or somebody changed the zip since it was listed.
    """
    try:
        status = os.stat(file.path)
        archive = _opened(file.path, status.st_ino, status.st_size, status.st_mtime_ns)
        with archive.open(file.member) as member:
            content = member.read(MAX_BYTES + 1)
    except (OSError, KeyError) as error:
        why = getattr(error, "strerror", None) or error
        raise Unavailable(f"it cannot be read from the zip ({why}). Fix this, then run the command again.") from error
    except DAMAGED as error:
        # The student may have handed in a good file: a download can be damaged on its way.
        message = f"it cannot be read from the zip ({error}). Download the zip again."
        raise Unreadable(message, proven=False) from error
    if len(content) > MAX_BYTES:
        raise Unreadable(f"the notebook is larger than {MAX_BYTES >> 20} MiB. Clear its outputs and save it again.")
    return content


@lru_cache(1)
def _opened(path: Path, *version: int) -> zipfile.ZipFile:
    """Return an open zip. It stays open until another zip is opened, because opening reads the whole list of members.

    Args:
        version: inode, size and modification time of the file. A changed file has other values and is opened again.
    """
    return zipfile.ZipFile(path)
