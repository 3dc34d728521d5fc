"""The archive in a notebook's cell of self-checks: a .tar.bz2 file as text.

It contains the modules of the self-check and their data.

A zip would compress each of its files separately, which takes half as much space again. The
notebook contains a copy of the functions that read the archive. They import the modules that they
need inside, because after `from torch import *` the notebook's `int` is torch's.
"""

from __future__ import annotations

import bz2
import io
import tarfile
from base64 import b85encode
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType


def self_check_text(files: Mapping[str, str]) -> str:
    """Return the text of an archive that contains these files. The same files give the same text.

    Args:
        files: the text of each file, by its name.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in sorted(files.items()):
            member = tarfile.TarInfo(name)  # without a date and an owner
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return b85encode(bz2.compress(packed.getvalue())).decode()


def self_check_files(text: str) -> dict[str, str]:
    """Return the files of an archive: the modules of the self-check, and what it knows of each exercise."""
    import io
    import tarfile
    from base64 import b85decode

    with tarfile.open(fileobj=io.BytesIO(b85decode("".join(text.split()))), mode="r:bz2") as archive:
        return {member.name: file.read().decode() for member in archive if (file := archive.extractfile(member))}


def self_check_modules(files: Mapping[str, str], names: list[str]) -> list[ModuleType]:
    """Import modules from an archive, with all that they import there.

    An installed `grader` stays as it is, and so does PyTorch where the archive has a module that stands in for it.
    """
    import sys
    from importlib import import_module
    from importlib.abc import ExecutionLoader
    from importlib.util import spec_from_loader

    class Archive(ExecutionLoader):
        def file(self, name: str) -> str:
            return f"{name.replace('.', '/')}.py"

        def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
            file = self.file(name)
            found = [one for one in files if one == file or one.startswith(f"{file.removesuffix('.py')}/")]
            return spec_from_loader(name, self) if found else None

        def is_package(self, name: str) -> bool:
            return self.file(name) not in files

        def get_source(self, name: str) -> str:
            return files.get(self.file(name), "")

        def get_filename(self, name: str) -> str:
            return f"<self-check>/{self.file(name)}"

    ours = {name.partition("/")[0].removesuffix(".py") for name in files if name.endswith(".py")}

    def imported() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in ours]

    installed = {name: sys.modules.pop(name) for name in imported()}
    sys.meta_path.insert(0, Archive())
    try:
        return [import_module(name) for name in names]
    finally:
        del sys.meta_path[0]
        for name in imported():
            del sys.modules[name]
        sys.modules.update(installed)
